#include "run/host_code.h"

#include "support/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

static const char *guarded, *running;

/* Also from a signal's handler: no stdio, no memory. */
static void say(const char *what)
{
	const char *const parts[] = {guarded, ": ", running ? running : "", running ? ": its host code " : "",
	                             what,    "\n"};
	char line[300] = "";
	for (size_t i = 0; i < sizeof parts / sizeof parts[0]; i++)
		strncat(line, parts[i], sizeof line - 1 - strlen(line));
	if (write(STDERR_FILENO, line, strlen(line)) < 0)
		return; /* the exit status says it */
}

static void ended(const char *call)
{
	char what[80];
	if (!guarded)
		return;
	fflush(stdout);
	snprintf(what, sizeof what, "called %s before there were results", call);
	say(what);
	_exit(EXIT_VERIFICATION);
}

/* The last byte is what others see. One that is not 0 says itself that there are no results. */
static void ended_with(const char *function, int status)
{
	char call[40];
	if ((status & 0xff) != 0)
		return;
	snprintf(call, sizeof call, "%s(%d)", function, status);
	ended(call);
}

#ifdef __GLIBC__
static void at_exit(int status, void *data)
{
	(void)data;
	ended_with("exit", status);
}
#endif

/* In the place of the C library's, which tells nobody. */
void _exit(int status)
{
	ended_with("_exit", status);
	for (;;)
		syscall(SYS_exit_group, status);
}

void _Exit(int status)
{
	_exit(status);
}

static void at_quick_exit_call(void)
{
	ended("quick_exit()");
}

static void at_signal(int number)
{
	if (!guarded || !running) { /* a mistake in the harness is none of a kernel's */
		signal(number, SIG_DFL);
		return;
	}
	say(number == SIGSEGV   ? "crashed: segmentation fault"
	    : number == SIGBUS  ? "crashed: bus error"
	    : number == SIGABRT ? "called abort()"
	    : number == SIGFPE  ? "crashed: an integer was divided by zero"
	                        : "crashed: illegal instruction");
	_exit(EXIT_VERIFICATION);
}

void host_code_guard(const char *program)
{
	static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL, SIGABRT};
	struct sigaction action = {.sa_handler = at_signal, .sa_flags = SA_ONSTACK};
	static char of_signals[64 * 1024]; /* a stack of its own: that of endless recursion is full */
	const stack_t stack = {.ss_sp = of_signals, .ss_size = sizeof of_signals};
	sigaltstack(&stack, NULL);
	guarded = program;
	sigemptyset(&action.sa_mask);
	for (size_t i = 0; i < sizeof caught / sizeof caught[0]; i++)
		sigaction(caught[i], &action, NULL);
#ifdef __GLIBC__
	on_exit(at_exit, NULL);
#endif
	at_quick_exit(at_quick_exit_call);
}

void host_code_of(const char *kernel)
{
	running = kernel;
}

void host_code_unguard(void)
{
	guarded = NULL;
}
