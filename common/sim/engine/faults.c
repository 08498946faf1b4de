/*
 * The last net under a kernel: signals. Every access of device code is checked before it happens, so what arrives
 * here is rare: a local array that overran its stack, a call through a wild pointer, a division by zero, __trap(),
 * and the clock's interruption of a loop that touches no memory.
 *
 * The handler itself does nothing but turn the interrupted thread to a landing place on a stack of its own, where
 * ordinary code can report and give the block up.
 */
#include <dlfcn.h>
#include <link.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <ucontext.h>
#include <unistd.h>

#include "run.h"

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

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr; /* the program itself comes first */
	return 1;
}

/* Debug information names files in full; the tables as the user did. The same file should have one name. */
static const char *as_the_user_calls_it(const char *path)
{
	for (const struct sim_site *site = __start_sim_sites; site < __stop_sim_sites; site++) {
		size_t length = strlen(site->file), whole = strlen(path);

		if (length > 0 && length < whole && path[whole - length - 1] == '/' &&
		    strcmp(path + whole - length, site->file) == 0)
			return site->file;
	}
	return path;
}

void hazard_locate_instruction(struct hazard *hazard, uintptr_t instruction)
{
	char program[512], command[640], line[400];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	const struct sim_function *function = sim_function_holding((void *)instruction);
	uintptr_t base = 0;
	char *colon;
	FILE *pipe;

	if (function != NULL)
		hazard->signature = function->signature;
	if (length <= 0)
		return;
	program[length] = '\0';
	dl_iterate_phdr(find_base, &base);
	/* Some instructions belong to no line, says clang: then the one before them does. */
	snprintf(command, sizeof command, "addr2line -e '%s' 0x%zx 0x%zx 0x%zx 0x%zx 2>/dev/null", program,
	         (size_t)(instruction - base), (size_t)(instruction - base - 4), (size_t)(instruction - base - 12),
	         (size_t)(instruction - base - 24));
	if (strchr(program, '\'') != NULL || (pipe = popen(command, "r")) == NULL)
		return;
	while (hazard->line == 0 && fgets(line, sizeof line, pipe) != NULL)
		if ((colon = strrchr(line, ':')) != NULL && atoi(colon + 1) > 0) {
			*colon = '\0';
			snprintf(hazard->file, sizeof hazard->file, "%.255s", as_the_user_calls_it(line));
			hazard->line = (unsigned)atoi(colon + 1);
		}
	pclose(pipe);
}

static __attribute__((noreturn)) void land(void)
{
	struct lane *lane = fault.lane;
	struct hazard hazard = hazard_at(lane, NULL, SIM_MEMCHECK, "fault");
	cudaError_t error = cudaErrorLaunchFailure;

	sim_lane = NULL;
	hazard_locate_instruction(&hazard, fault.instruction);
	switch (fault.signal) {
	case INTERRUPT:
		hazard.tool = SIM_SYNCCHECK;
		hazard.kind = "endless_loop";
		error = cudaErrorLaunchTimeout;
		snprintf(hazard.headline, sizeof hazard.headline, "No progress: an endless loop");
		snprintf(hazard.detail[0], sizeof hazard.detail[0],
		         "for %g s no thread has ended or passed a barrier (SIM_TIMEOUT sets the limit)",
		         sim_options()->timeout_s);
		break;
	case SIGFPE:
		hazard.kind = "division_by_zero";
		snprintf(hazard.headline, sizeof hazard.headline, "Integer division by zero");
		snprintf(hazard.detail[0], sizeof hazard.detail[0],
		         "or of the smallest integer by -1; a GPU goes on with an undefined result");
		break;
	case SIGILL:
	case SIGTRAP:
		hazard.kind = "trap";
		error = cudaErrorIllegalInstruction;
		snprintf(hazard.headline, sizeof hazard.headline, "Illegal instruction, or __trap()");
		break;
	default:
		if (fault.address - (lane->stack_first + STACK_BYTES) < GUARD_BYTES) {
			hazard.kind = "local_overrun";
			hazard.space = "local";
			error = cudaErrorIllegalAddress;
			snprintf(hazard.headline, sizeof hazard.headline, "A local array was overrun");
			snprintf(hazard.detail[0], sizeof hazard.detail[0],
			         "an index has left the thread's local memory");
		} else if (fault.address - lane->stack_first < STACK_RESERVE ||
		           lane->stack_first - fault.address < LARGEST_FRAME) {
			hazard.kind = "stack_overflow";
			hazard.space = "local";
			error = cudaErrorIllegalAddress;
			snprintf(hazard.headline, sizeof hazard.headline, "Stack overflow");
			snprintf(hazard.detail[0], sizeof hazard.detail[0],
			         "this thread needs more than %d KB of local memory",
			         (STACK_BYTES - STACK_RESERVE) / 1024);
			snprintf(hazard.detail[1], sizeof hazard.detail[1],
			         "or an index lies far before the start of a local array");
		} else {
			error = cudaErrorIllegalAddress;
			hazard.kind = "out_of_bounds";
			snprintf(hazard.headline, sizeof hazard.headline,
			         "Invalid access outside any memory of the thread");
			snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address %p", (void *)fault.address);
		}
	}
	fail_launch(lane->worker, &hazard, error);
}

static void handle(int signal, siginfo_t *info, void *data)
{
	ucontext_t *context = data;
	struct lane *lane = sim_lane;
	uintptr_t instruction = (uintptr_t)context->uc_mcontext.gregs[REG_RIP];

	if (signal == INTERRUPT) {
		/* Only in the kernel's own code is it safe to stop: not with a lock of the C library held. */
		if (lane == NULL || !lane->worker->timed_out || sim_function_holding((void *)instruction) == NULL)
			return;
	} else if (lane == NULL) { /* not a kernel's fault: as if we were not here */
		for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
			if (caught[i] == signal)
				sigaction(signal, &previous[i], NULL);
		return;
	}
	fault = (struct fault){signal, (uintptr_t)info->si_addr, instruction, lane};
	context->uc_mcontext.gregs[REG_RSP] =
		(greg_t)(((uintptr_t)lane->worker->landing_stack + LANDING_STACK - 64) & ~(uintptr_t)15) - 8;
	context->uc_mcontext.gregs[REG_RIP] = (greg_t)(uintptr_t)land;
}

void faults_install(void)
{
	struct sigaction action = {.sa_sigaction = handle,
	                           .sa_flags = SA_SIGINFO | SA_ONSTACK | SA_NODEFER | SA_RESTART};

	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
		sigaction(caught[i], &action, &previous[i]);
	sigaction(INTERRUPT, &action, NULL);
}

void faults_open_worker(struct worker *worker)
{
	stack_t stack = {.ss_size = SIGNAL_STACK};

	worker->signal_stack = malloc(SIGNAL_STACK);
	worker->landing_stack = malloc(LANDING_STACK);
	if (worker->signal_stack == NULL || worker->landing_stack == NULL)
		abort();
	stack.ss_sp = worker->signal_stack;
	sigaltstack(&stack, NULL);
}

void faults_interrupt(struct worker *worker)
{
	pthread_kill(worker->thread, INTERRUPT);
}
