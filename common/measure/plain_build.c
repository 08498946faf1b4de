#include "measure/plain_build.h"

#include <errno.h>
#include <limits.h>
#include <math.h>
#include <spawn.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { MAX_OUTPUT = 1 << 16 };

extern char **environ;

static bool find_program(char path[PATH_MAX])
{
	static const char suffix[] = ".fast";
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - sizeof suffix);
	if (length <= 0)
		return false;
	strcpy(path + length, suffix);
	return access(path, X_OK) == 0;
}

/* Ours without what would make it write over this run's reports. A list to be freed as one piece, NULL without memory. */
static char **reduced_environment(void)
{
	size_t count = 0, kept = 0;
	while (environ[count])
		count++;
	char **copy = calloc(count + 1, sizeof *copy);
	for (size_t i = 0; copy && i < count; i++)
		if (strncmp(environ[i], "SIM_REPORT=", 11) != 0 && strncmp(environ[i], "SIM_TRACE=", 10) != 0)
			copy[kept++] = environ[i];
	return copy;
}

/* Runs the program with its standard output in `output`. Its wait status is *status; returns 0, or an errno where it could
 * not be run. */
static int run_program(const char *path, char **arguments, char *output, size_t size, int *status)
{
	int ends[2];
	if (pipe(ends) != 0)
		return errno;
	posix_spawn_file_actions_t actions;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
	posix_spawn_file_actions_addclose(&actions, ends[0]);
	posix_spawn_file_actions_addclose(&actions, ends[1]);
	char **environment = reduced_environment();
	pid_t child;
	int failed = environment ? posix_spawn(&child, path, &actions, NULL, arguments, environment) : ENOMEM;
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	close(ends[1]);

	size_t used = 0;
	ssize_t got;
	while (!failed && used + 1 < size && (got = read(ends[0], output + used, size - 1 - used)) > 0)
		used += (size_t)got;
	output[used] = '\0';
	close(ends[0]);
	if (!failed && waitpid(child, status, 0) != child)
		failed = errno;
	return failed;
}

/* The number in the column of that name; NaN if there is none. Cells are separated by single tabs. */
static double find_number(const char *header, const char *row, const char *column)
{
	for (;;) {
		size_t name_length = strcspn(header, "\t\n"), cell_length = strcspn(row, "\t\n");
		if (name_length == strlen(column) && strncmp(header, column, name_length) == 0) {
			char *end;
			double value = strtod(row, &end);
			return end == row + cell_length && cell_length > 0 ? value : (double)NAN;
		}
		if (header[name_length] != '\t' || row[cell_length] != '\t')
			return (double)NAN;
		header += name_length + 1;
		row += cell_length + 1;
	}
}

bool plain_build_parse(char *tsv, struct time_summary *time)
{
	/* The header is the last line that starts with #, the row the line after it. */
	char *header = NULL, *row = tsv;
	while (row && *row == '#') {
		header = row + strspn(row, "# ");
		row = strchr(row, '\n');
		row = row ? row + 1 : NULL;
	}
	if (!header || !row)
		return false;
	double runs = find_number(header, row, "runs");
	*time = (struct time_summary){
		find_number(header, row, "median_ms"), find_number(header, row, "p10_ms"),
		find_number(header, row, "p90_ms"), runs >= 1.0 ? (size_t)runs : 0, "measured-cpu"};
	return isfinite(time->median_ms) && isfinite(time->p10_ms) && isfinite(time->p90_ms) && time->runs > 0;
}

bool plain_build_exists(void)
{
	char path[PATH_MAX];
	return find_program(path);
}

static int broken(struct error *error, const char *path, const char *what, const char *detail)
{
	const char *slash = strrchr(path, '/');
	return error_set(
		error, EXIT_ENVIRONMENT, "--time: %s, the plain build, %s%s: `make fast`", slash ? slash + 1 : path,
		what, detail);
}

/* Runs the plain build with all its arguments, and reads what it says. */
static int time_with(const char *path, char **arguments, char *output, struct time_summary *time, struct error *error)
{
	int status = 0, failed = run_program(path, arguments, output, MAX_OUTPUT, &status);
	char number[16];
	if (failed)
		return broken(error, path, "cannot be run: ", strerror(failed));
	if (WIFSIGNALED(status))
		return broken(error, path, "was ended by a signal: ", strsignal(WTERMSIG(status)));
	if (WEXITSTATUS(status) == EXIT_VERIFICATION)
		return EXIT_VERIFICATION;
	snprintf(number, sizeof number, "%d", WEXITSTATUS(status));
	if (WEXITSTATUS(status) != EXIT_ALL_VERIFIED)
		return broken(error, path, "ended with status ", number);
	return plain_build_parse(output, time) ? 0 : broken(error, path, "printed no times", "");
}

int plain_build_time(const char *const *arguments, struct time_summary *time, struct error *error)
{
	char path[PATH_MAX] = "NAME.fast";
	if (!find_program(path))
		return broken(error, path, "is not there", "");

	static char tsv[] = "--tsv", standard_output[] = "-", quiet[] = "--quiet";
	size_t given = 0, count = 0;
	while (arguments[given])
		given++;
	char **all = calloc(given + 5, sizeof *all), *output = malloc(MAX_OUTPUT);
	int status;
	if (all && output) {
		all[count++] = path;
		for (size_t i = 0; i < given; i++)
			all[count++] = (char *)(uintptr_t)arguments[i]; /* posix_spawn writes to none of them */
		all[count++] = tsv;
		all[count++] = standard_output;
		all[count++] = quiet;
		status = time_with(path, all, output, time, error);
	} else {
		status = error_set(error, EXIT_ENVIRONMENT, "out of memory for the plain build's arguments");
	}
	free(all);
	free(output);
	return status;
}
