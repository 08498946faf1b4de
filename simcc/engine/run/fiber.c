/*
 * Switching stacks: save the registers a C function must preserve, swap the stack pointer, restore. About 3 ns on
 * x86-64; setjmp/longjmp takes four times as long and a barrier is one switch a thread. The floating-point control words are
 * not swapped: kernels do not change them.
 */
#include <string.h>

#include "run/fiber.h"

#if defined __x86_64__
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

#elif defined __aarch64__
__asm__(".text\n"
        ".globl sim_fiber_switch\n"
        ".type sim_fiber_switch, %function\n"
        "sim_fiber_switch:\n"
        "	sub sp, sp, #160\n"
        "	stp x19, x20, [sp]\n"
        "	stp x21, x22, [sp, #16]\n"
        "	stp x23, x24, [sp, #32]\n"
        "	stp x25, x26, [sp, #48]\n"
        "	stp x27, x28, [sp, #64]\n"
        "	stp x29, x30, [sp, #80]\n"
        "	stp d8, d9, [sp, #96]\n"
        "	stp d10, d11, [sp, #112]\n"
        "	stp d12, d13, [sp, #128]\n"
        "	stp d14, d15, [sp, #144]\n"
        "	mov x9, sp\n"
        "	str x9, [x0]\n"
        "	ldr x9, [x1]\n"
        "	mov sp, x9\n"
        "	ldp x19, x20, [sp]\n"
        "	ldp x21, x22, [sp, #16]\n"
        "	ldp x23, x24, [sp, #32]\n"
        "	ldp x25, x26, [sp, #48]\n"
        "	ldp x27, x28, [sp, #64]\n"
        "	ldp x29, x30, [sp, #80]\n"
        "	ldp d8, d9, [sp, #96]\n"
        "	ldp d10, d11, [sp, #112]\n"
        "	ldp d12, d13, [sp, #128]\n"
        "	ldp d14, d15, [sp, #144]\n"
        "	add sp, sp, #160\n"
        "	ret\n"
        ".size sim_fiber_switch, . - sim_fiber_switch\n");

void sim_fiber_prepare(struct sim_fiber *fiber, uintptr_t stack_top, void (*entry)(void))
{
	enum { SAVED = 160, LINK = 88 }; /* bytes of registers; where x30 is, to which the switch returns */
	char *top = (char *)((stack_top & ~(uintptr_t)15) - SAVED);

	memset(top, 0, SAVED);
	memcpy(top + LINK, &entry, sizeof entry);
	fiber->stack_pointer = top;
}

#else
#error "the simulated device is written for Linux on x86-64 and ARM64"
#endif
