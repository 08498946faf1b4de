#include "measure/recording.h"

#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

static const char marker[] = "HARNESS_RECORDING";

bool recording_active(void)
{
	return getenv(marker) != NULL;
}

/* What the user set stays; otherwise `file` in `directory`, and true. */
static bool set_path(const char *variable, const char *directory, const char *file, char path[PATH_MAX])
{
	if (getenv(variable))
		return false;
	snprintf(path, PATH_MAX, "%s/%s", directory, file);
	return setenv(variable, path, 1) == 0;
}

/* Signals that end a run. Ctrl-C reaches the child by itself, which belongs to the same terminal; these do not. */
static const int passed_on[] = {SIGTERM, SIGHUP};
enum { PASSED_ON = sizeof passed_on / sizeof passed_on[0] };
static volatile sig_atomic_t recorded; /* the child that gets them; 0 when there is none */

static void pass_on(int number)
{
	if (recorded)
		kill((pid_t)recorded, number);
}

/* Starts the child with the usual reaction to Ctrl-C, which this process leaves to it. */
static int start(char **argv, const sigset_t *mask, pid_t *child)
{
	char program[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	if (length <= 0)
		return ENOENT;
	program[length] = '\0';
	sigset_t interrupts;
	posix_spawnattr_t attributes;
	sigemptyset(&interrupts);
	sigaddset(&interrupts, SIGINT);
	sigaddset(&interrupts, SIGQUIT);
	posix_spawnattr_init(&attributes);
	posix_spawnattr_setsigdefault(&attributes, &interrupts);
	posix_spawnattr_setsigmask(&attributes, mask);
	posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETSIGMASK);
	int failed = posix_spawn(child, program, NULL, &attributes, argv, environ);
	posix_spawnattr_destroy(&attributes);
	return failed;
}

/* None of passed_on is lost: they wait until the child is there. One that this process ignores, it ignores too. */
static int start_with_signals(char **argv, struct sigaction before[PASSED_ON], pid_t *child)
{
	struct sigaction pass = {.sa_handler = pass_on};
	sigset_t held, mask;
	sigemptyset(&held);
	for (int i = 0; i < PASSED_ON; i++)
		sigaddset(&held, passed_on[i]);
	sigprocmask(SIG_BLOCK, &held, &mask);
	for (int i = 0; i < PASSED_ON; i++) {
		sigaction(passed_on[i], NULL, &before[i]);
		if (before[i].sa_handler != SIG_IGN)
			sigaction(passed_on[i], &pass, NULL);
	}
	int failed = start(argv, &mask, child);
	recorded = failed ? 0 : (sig_atomic_t)*child;
	sigprocmask(SIG_SETMASK, &mask, NULL);
	return failed;
}

static int run_child(char **argv, struct error *error)
{
	pid_t child;
	int status;
	struct sigaction ignore = {.sa_handler = SIG_IGN}, interrupt, quit, before[PASSED_ON];
	sigaction(SIGINT, &ignore, &interrupt);
	sigaction(SIGQUIT, &ignore, &quit);
	int failed = start_with_signals(argv, before, &child);
	while (!failed && waitpid(child, &status, 0) < 0)
		failed = errno == EINTR ? 0 : errno;
	recorded = 0;
	for (int i = 0; i < PASSED_ON; i++)
		sigaction(passed_on[i], &before[i], NULL);
	sigaction(SIGINT, &interrupt, NULL);
	sigaction(SIGQUIT, &quit, NULL);
	if (failed)
		return error_set(
			error, EXIT_ENVIRONMENT, "--explain: cannot run itself to record: %s", strerror(failed));
	if (WIFEXITED(status))
		return WEXITSTATUS(status);
	return error_set(
		error, EXIT_ENVIRONMENT, "--explain: the recorded run was ended by signal %d", WTERMSIG(status));
}

int recording_run(char **argv, bool trace, struct error *error)
{
	const char *base = getenv("TMPDIR");
	char directory[PATH_MAX - 32], trace_path[PATH_MAX], report_path[PATH_MAX];
	snprintf(directory, sizeof directory, "%s/recording-XXXXXX", base && *base ? base : "/tmp");
	if (!mkdtemp(directory))
		return error_set(
			error, EXIT_ENVIRONMENT, "--explain: %s: cannot be made: %s", directory, strerror(errno));
	bool own_trace = trace && set_path("SIM_TRACE", directory, "trace", trace_path);
	bool own_report = set_path("SIM_REPORT", directory, "report", report_path);
	setenv(marker, "1", 1);
	fflush(NULL);
	int status = run_child(argv, error);
	if (own_trace)
		unlink(trace_path);
	if (own_report)
		unlink(report_path);
	rmdir(directory);
	return status;
}

static char *read_file(const char *variable, size_t most_bytes, size_t *bytes)
{
	const char *path = getenv(variable);
	*bytes = 0;
	if (!path || strcmp(path, "-") == 0)
		return NULL;
	fflush(NULL); /* the device writes through a stream of this process */
	FILE *file = fopen(path, "r");
	if (!file)
		return NULL;
	char *text = NULL;
	if (fseek(file, 0, SEEK_END) == 0 && ftell(file) >= 0) {
		*bytes = (size_t)ftell(file);
		rewind(file);
		text = *bytes <= most_bytes ? malloc(*bytes + 1) : NULL;
		if (text)
			text[fread(text, 1, *bytes, file)] = '\0';
	}
	fclose(file);
	return text;
}

bool recording_traces(void)
{
	return getenv("SIM_TRACE") != NULL;
}

char *recording_trace(size_t most_bytes, size_t *bytes)
{
	return read_file("SIM_TRACE", most_bytes, bytes);
}

char *recording_report(size_t most_bytes, size_t *bytes)
{
	return read_file("SIM_REPORT", most_bytes, bytes);
}
