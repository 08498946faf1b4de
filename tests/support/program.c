#include <errno.h>
#include <fcntl.h>
#include <ftw.h>
#include <poll.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "program.h"

extern char **environ;

struct stream {
	int fd; /* -1 once closed */
	char *text;
	size_t length, capacity;
};

static double now(void)
{
	struct timespec time;

	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

static void append(struct stream *stream)
{
	ssize_t got;

	if (stream->length + 4096 > stream->capacity) {
		stream->capacity = 2 * stream->capacity + 8192;
		stream->text = realloc(stream->text, stream->capacity);
		cr_assert(stream->text != NULL, "out of memory");
	}
	got = read(stream->fd, stream->text + stream->length, stream->capacity - stream->length - 1);
	if (got > 0) {
		stream->length += (size_t)got;
	} else if (got == 0 || errno != EINTR) {
		close(stream->fd);
		stream->fd = -1;
	}
}

/* Only async-signal-safe calls would be right in a threaded process; a test has one thread. */
static void become(const char *directory, const char *const argv[], const char *const environment[], int out, int err)
{
	setpgid(0, 0);
	dup2(open("/dev/null", O_RDONLY), 0);
	dup2(out, 1);
	dup2(err, 2);
	for (size_t i = 0; environ[i] != NULL;) {
		char name[64];

		if (strncmp(environ[i], "SIM_", 4) == 0 && sscanf(environ[i], "%63[^=]", name) == 1)
			unsetenv(name);
		else
			i++;
	}
	for (size_t i = 0; environment[i] != NULL; i++)
		putenv((char *)environment[i]);
	if (directory != NULL && chdir(directory) != 0)
		_exit(126);
	execvp(argv[0], (char *const *)argv);
	dprintf(2, "cannot run %s: %s\n", argv[0], strerror(errno));
	_exit(127);
}

/* Reads both streams until they end or the time is up; false if it is up. */
static bool collect(struct stream streams[2], double deadline)
{
	while (streams[0].fd >= 0 || streams[1].fd >= 0) {
		struct pollfd polled[2] = {{streams[0].fd, POLLIN, 0}, {streams[1].fd, POLLIN, 0}};
		double left = deadline - now();

		if (left <= 0)
			return false;
		if (poll(polled, 2, (int)(left * 1000) + 1) <= 0)
			continue;
		for (int i = 0; i < 2; i++)
			if (streams[i].fd >= 0 && polled[i].revents != 0)
				append(&streams[i]);
	}
	return true;
}

static char *finish(struct stream *stream)
{
	if (stream->fd >= 0)
		close(stream->fd);
	if (stream->text == NULL)
		stream->text = calloc(1, 1);
	stream->text[stream->length] = '\0';
	return stream->text;
}

struct outcome run_program_in(
	const char *directory, const char *const argv[], const char *const environment[], double timeout_s)
{
	const double start = now();
	struct stream streams[2] = {{.fd = -1}, {.fd = -1}};
	struct outcome outcome = {.status = -1};
	int out[2], err[2], status = 0;
	bool in_time;
	pid_t child;

	cr_assert(pipe(out) == 0 && pipe(err) == 0, "no pipe");
	fflush(NULL);
	child = fork();
	cr_assert(child >= 0, "fork failed");
	if (child == 0) {
		close(out[0]);
		close(err[0]);
		become(directory, argv, environment, out[1], err[1]);
	}
	setpgid(child, child); /* whoever of the two is first */
	close(out[1]);
	close(err[1]);
	streams[0].fd = out[0];
	streams[1].fd = err[0];
	in_time = collect(streams, start + timeout_s);
	/* It may have closed its output and run on. */
	while (in_time && waitpid(child, &status, WNOHANG) == 0) {
		in_time = now() < start + timeout_s;
		usleep(200);
	}
	kill(-child, SIGKILL);
	if (!in_time)
		waitpid(child, &status, 0);
	outcome.out = finish(&streams[0]);
	outcome.err = finish(&streams[1]);
	outcome.seconds = now() - start;
	outcome.status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
	cr_assert(
		in_time, "%s %s: still running after %g s, killed. It said:\n%s%s", argv[0], argv[1] ? argv[1] : "",
		timeout_s, outcome.out, outcome.err);
	return outcome;
}

struct outcome run_program(const char *const argv[], const char *const environment[], double timeout_s)
{
	return run_program_in(NULL, argv, environment, timeout_s);
}

struct outcome run_line(const char *program, const char *line, const char *const environment[], double timeout_s)
{
	const char *argv[48] = {program};
	size_t count = 1;
	for (char *word = strtok(text("%s", line), " "); word; word = strtok(NULL, " ")) {
		cr_assert(count < 47, "%s %s: too many words", program, line);
		argv[count++] = word;
	}
	return run_program(argv, environment, timeout_s);
}

void free_outcome(struct outcome *outcome)
{
	free(outcome->out);
	free(outcome->err);
	outcome->out = outcome->err = NULL;
}

/* ---- files ---- */

static char scratch[512];
static pid_t scratch_owner;

static int remove_entry(const char *path, const struct stat *status, int flag, struct FTW *place)
{
	(void)status, (void)flag, (void)place;
	return remove(path);
}

static void remove_scratch(void)
{
	if (getpid() == scratch_owner) /* and not a forked child */
		nftw(scratch, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

const char *scratch_directory(void)
{
	if (scratch[0] == '\0') {
		snprintf(scratch, sizeof scratch, "%s/scratch-XXXXXX", TEST_BUILD);
		cr_assert(mkdtemp(scratch) != NULL, "cannot make a directory in %s", TEST_BUILD);
		scratch_owner = getpid();
		atexit(remove_scratch);
	}
	return scratch;
}

char *text(const char *format, ...)
{
	va_list arguments;
	char *result = NULL;

	va_start(arguments, format);
	cr_assert(vasprintf(&result, format, arguments) >= 0, "out of memory");
	va_end(arguments);
	return result;
}

void write_text(const char *path, const char *content)
{
	FILE *file = fopen(path, "w");

	cr_assert(file != NULL, "%s: cannot be written", path);
	fputs(content, file);
	cr_assert(fclose(file) == 0, "%s: cannot be written", path);
}

char *read_text(const char *path)
{
	FILE *file = fopen(path, "r");
	char *content;
	long size;

	if (file == NULL)
		return NULL;
	fseek(file, 0, SEEK_END);
	size = ftell(file);
	rewind(file);
	content = calloc(1, (size_t)size + 1);
	cr_assert(
		content != NULL && fread(content, 1, (size_t)size, file) == (size_t)size, "%s: cannot be read", path);
	fclose(file);
	return content;
}

void skip_test(const char *reason)
{
	fprintf(stderr, "skipped: %s\n", reason);
	fflush(stderr);
	cr_skip_test("%s", reason);
}

bool thorough(void)
{
	const char *set = getenv("LONG");
	return set != NULL && *set != '\0';
}

const char *without_racecheck(void)
{
	return thorough() ? "SIM_CHECK=memcheck,racecheck,initcheck,synccheck"
	                  : "SIM_CHECK=memcheck,initcheck,synccheck";
}
