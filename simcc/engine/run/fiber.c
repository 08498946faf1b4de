/*
 * Switching stacks on x86-64: save the six registers a C function must preserve, swap the stack pointer,
 * restore. About 3 ns; setjmp/longjmp takes four times as long and a barrier is one switch a thread.
 * The floating-point control words are not swapped: kernels do not change them.
 */
#include "run/fiber.h"

#ifndef __x86_64__
#error "the simulated device is written for x86-64 Linux"
#endif

__asm__(".text\n"
        ".globl sim_fiber_switch\n"
        ".type sim_fiber_switch, @function\n"
        "sim_fiber_switch:\n"
        "	pushq %rbp\n"
        "	pushq %rbx\n"
        "	pushq %r12\n"
        "	pushq %r13\n"
        "	pushq %r14\n"
        "	pushq %r15\n"
        "	movq %rsp, (%rdi)\n"
        "	movq (%rsi), %rsp\n"
        "	popq %r15\n"
        "	popq %r14\n"
        "	popq %r13\n"
        "	popq %r12\n"
        "	popq %rbx\n"
        "	popq %rbp\n"
        "	ret\n"
        ".size sim_fiber_switch, . - sim_fiber_switch\n");

void sim_fiber_prepare(struct sim_fiber *fiber, uintptr_t stack_top, void (*entry)(void))
{
	/* A function expects its stack pointer to be 8 past a multiple of 16, as after a call. */
	uint64_t *top = (uint64_t *)((stack_top & ~(uintptr_t)15) - 16);

	top[1] = 0; /* where entry's return address would be: entry never returns */
	top[0] = (uint64_t)entry;
	for (int i = 1; i <= 6; i++)
		top[-i] = 0;
	fiber->stack_pointer = top - 6;
}
