#include "run/host_code.h"

#include "support/error.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
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

static void ended(const char *what)
{
	if (!guarded)
		return;
	fflush(stdout);
	say(what);
	_exit(EXIT_VERIFICATION);
}

#ifdef __GLIBC__
static void at_exit(int status, void *data)
{
	(void)data;
	if (status == 0) /* any other one has said why */
		ended("called exit(0) before there were results");
}
#endif

static void at_quick_exit_call(void)
{
	ended("called quick_exit() before there were results");
}

static void at_signal(int number)
{
	if (!guarded || !running) { /* a mistake in the harness is none of a kernel's */
		signal(number, SIG_DFL);
		return;
	}
	say(number == SIGSEGV  ? "crashed: segmentation fault (the host has no access to NULL and to device memory)"
	    : number == SIGBUS ? "crashed: bus error"
	    : number == SIGFPE ? "crashed: an integer was divided by zero"
	                       : "crashed: illegal instruction");
	_exit(EXIT_VERIFICATION);
}

void host_code_guard(const char *program)
{
	static const int caught[] = {SIGSEGV, SIGBUS, SIGFPE, SIGILL};
	struct sigaction action = {.sa_handler = at_signal, .sa_flags = SA_ONSTACK};
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
