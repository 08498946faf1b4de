/*
 * The last net under a kernel: signals. Every access of device code is checked before it happens, so what arrives
 * here is rare: a local array that overran its stack, a call through a wild pointer, a division by zero, __trap(),
 * and the clock's interruption of a loop that touches no memory.
 *
 * The handler itself does nothing but turn the interrupted thread to a landing place on a stack of its own, where
 * ordinary code can report and give the block up.
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "run/worker.h"

enum { INTERRUPT = SIGURG, SIGNAL_STACK = 64 * 1024, LANDING_STACK = 256 * 1024 };
/* Below a stack: a local array so large that its other end is what was touched first. */
enum { LARGEST_FRAME = 1 << 30 };

static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGTRAP};
static struct sigaction previous[sizeof caught / sizeof caught[0]];

struct fault {
	int signal;
	uintptr_t address, instruction;
	struct lane *lane;
};

static __thread struct fault fault;

static void describe_division(struct hazard *hazard)
{
	hazard->kind = "division_by_zero";
	snprintf(hazard->headline, sizeof hazard->headline, "Integer division by zero");
	snprintf(
		hazard->detail[0], sizeof hazard->detail[0],
		"or of the smallest integer by -1; a GPU goes on with an undefined result");
}

/* In front of a division that cannot be done. */
void sim_division_by_zero(const struct sim_site *site) __attribute__((noreturn));
void sim_division_by_zero(const struct sim_site *site)
{
	struct lane *lane = sim_lane;
	const struct actor actor = actor_of(lane);
	struct hazard hazard = hazard_of(&actor, site, SIM_MEMCHECK, "fault", cudaErrorLaunchFailure);
	describe_division(&hazard);
	fail_launch(lane->worker, &hazard);
}

/* A function that has no room for its variables, and their bytes. */
static __thread struct {
	const struct sim_function *volatile function;
	volatile size_t bytes;
} overflow;

void faults_overflow(const struct sim_function *function, size_t bytes)
{
	overflow.bytes = bytes;
	overflow.function = function;
	__builtin_trap();
}

static __attribute__((noreturn)) void stop_overflow(struct lane *lane)
{
	const struct sim_function *function = overflow.function;
	const struct actor actor = actor_of(lane);
	const struct sim_site *call = lane->entered ? sim_call_site : NULL;
	const size_t depth = (size_t)(lane->local.frame - lane->local.frames);
	overflow.function = NULL;
	sim_lane = NULL;
	const struct hazard hazard =
		stack_overflow(&actor, function, overflow.bytes, depth, call, room_of(&lane->local));
	fail_launch(lane->worker, &hazard);
}

static __attribute__((noreturn)) void land(void)
{
	struct lane *lane = fault.lane;
	if (overflow.function)
		stop_overflow(lane);
	const struct actor actor = actor_of(lane);
	struct hazard hazard = hazard_of(&actor, NULL, SIM_MEMCHECK, "fault", cudaErrorLaunchFailure);
	sim_lane = NULL;
	hazard_locate_instruction(&hazard, fault.instruction);
	switch (fault.signal) {
	case INTERRUPT:
		hazard.tool = SIM_SYNCCHECK;
		hazard.kind = "endless_loop";
		hazard.error = cudaErrorLaunchTimeout;
		snprintf(hazard.headline, sizeof hazard.headline, "No progress: an endless loop");
		snprintf(
			hazard.detail[0], sizeof hazard.detail[0],
			"for %g s no thread has ended or passed a barrier (SIM_TIMEOUT sets the limit)",
			sim_options()->timeout_s);
		break;
	case SIGFPE: describe_division(&hazard); break;
	case SIGILL:
	case SIGTRAP:
		hazard.kind = "trap";
		hazard.error = cudaErrorIllegalInstruction;
		snprintf(hazard.headline, sizeof hazard.headline, "Illegal instruction, or __trap()");
		break;
	default:
		if (fault.address - (lane->local.first + STACK_BYTES) < lane->worker->guard_bytes) {
			hazard.kind = "local_overrun";
			hazard.space = "local";
			hazard.error = cudaErrorIllegalAddress;
			snprintf(hazard.headline, sizeof hazard.headline, "A local array was overrun");
			snprintf(
				hazard.detail[0], sizeof hazard.detail[0],
				"an index has left the thread's local memory");
		} else if (
			fault.address - lane->local.first < lane->local.limit - lane->local.first ||
			lane->local.first - fault.address < LARGEST_FRAME) {
			hazard.kind = "stack_overflow";
			hazard.space = "local";
			hazard.error = cudaErrorIllegalAddress;
			snprintf(hazard.headline, sizeof hazard.headline, "Stack overflow");
			if (sim_is_counting() && !lane->entered && hazard.signature) { /* where its kernel begins */
				const size_t bytes = lane->local.first + STACK_BYTES - fault.address;
				describe_large_frame(&hazard, hazard.signature, bytes, room_of(&lane->local));
				break;
			}
			snprintf(
				hazard.detail[0], sizeof hazard.detail[0],
				"this thread needs more than %zu KB of local memory", room_of(&lane->local) / 1024);
			snprintf(
				hazard.detail[1], sizeof hazard.detail[1],
				"or an index lies far before the start of a local array");
		} else {
			hazard.error = cudaErrorIllegalAddress;
			hazard.kind = "out_of_bounds";
			snprintf(
				hazard.headline, sizeof hazard.headline,
				"Invalid access outside any memory of the thread");
			snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address %p", (void *)fault.address);
		}
	}
	fail_launch(lane->worker, &hazard);
}

static uintptr_t instruction_of(const ucontext_t *context)
{
#ifdef __x86_64__
	return (uintptr_t)context->uc_mcontext.gregs[REG_RIP];
#else
	return context->uc_mcontext.pc;
#endif
}

/* The interrupted thread goes on in land(), as if called, on the stack that ends there. */
static void go_to_land(ucontext_t *context, uintptr_t stack_end)
{
#ifdef __x86_64__
	context->uc_mcontext.gregs[REG_RSP] = (greg_t)stack_end - 8;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)land;
#else
	context->uc_mcontext.sp = stack_end;
	context->uc_mcontext.pc = (uintptr_t)land;
#endif
}

static void handle(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	struct lane *lane = sim_lane;
	const uintptr_t instruction = instruction_of(context);
	if (signal == INTERRUPT) {
		/* Only in the kernel's own code is it safe to stop: not with a lock of the C library held. */
		if (!lane || !lane->worker->timed_out || !sim_function_holding((void *)instruction))
			return;
	} else if (!lane) { /* not a kernel's fault: as if we were not here */
		for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
			if (caught[i] == signal)
				sigaction(signal, &previous[i], NULL);
		return;
	}
	fault = (struct fault){signal, (uintptr_t)info->si_addr, instruction, lane};
	go_to_land(context, ((uintptr_t)lane->worker->landing_stack + LANDING_STACK - 64) & ~(uintptr_t)15);
}

void faults_install(void)
{
	struct sigaction action = {
		.sa_sigaction = handle, .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
		sigaction(caught[i], &action, &previous[i]);
	sigaction(INTERRUPT, &action, NULL);
}

void faults_open_worker(struct worker *worker)
{
	stack_t stack = {.ss_size = SIGNAL_STACK};
	worker->signal_stack = need(malloc(SIGNAL_STACK));
	worker->landing_stack = need(malloc(LANDING_STACK));
	stack.ss_sp = worker->signal_stack;
	sigaltstack(&stack, NULL);
	/* Others are the program's: its handlers run in its own threads, which can also hold them. */
	sigset_t others;
	sigfillset(&others);
	sigdelset(&others, INTERRUPT);
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
		sigdelset(&others, caught[i]);
	pthread_sigmask(SIG_BLOCK, &others, NULL);
}

void faults_interrupt(struct worker *worker)
{
	pthread_kill(worker->thread, INTERRUPT);
}
