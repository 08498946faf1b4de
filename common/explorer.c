#include "explorer.h"

#include "problem/options.h"

#include <errno.h>
#include <limits.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

enum { WORDS_SIZE = 300 };

/* This program, and a tool of explorer/: beside its chapter, or where the course was when this file was compiled. */
struct place {
	char program[PATH_MAX], tool[PATH_MAX + 32];
};

static bool is_beside(const char *file, const char *name, struct place *place)
{
	const char *slash = strrchr(file, '/');
	snprintf(place->tool, sizeof place->tool, "%.*s/../explorer/%s", (int)(slash ? slash - file : 0), file, name);
	return slash && access(place->tool, X_OK) == 0;
}

static bool find(const char *name, struct place *place)
{
	ssize_t length = readlink("/proc/self/exe", place->program, sizeof place->program - 1);
	place->program[length > 0 ? length : 0] = '\0';
	return is_beside(place->program, name, place) || is_beside(__FILE__, name, place);
}

int explorer_explain(const char *page, char **argv, struct error *error)
{
	struct place place;
	size_t count = 0;
	while (argv[count])
		count++;
	if (!find("explain", &place))
		return error_set(
			error, EXIT_ENVIRONMENT,
			"--explain: %.300s: expected the course's explorer/explain, found none", place.tool);
	char **command = calloc(count + 4, sizeof *command);
	if (command) {
		command[0] = "python3";
		command[1] = place.tool;
		command[2] = (char *)page;
		command[3] = place.program;
		memcpy(command + 4, argv + 1, (count - 1) * sizeof *command);
		execvp(command[0], command);
		free(command);
	}
	return error_set(error, EXIT_ENVIRONMENT, "--explain: python3 cannot be started: %s", strerror(errno));
}

const char *explorer_room(void)
{
	return getenv("EXPLORER_ROOM");
}

/* "--seq 8 --causal --window 3": the chapter's small case, and what the run does to scores. */
static void small_words(const struct run_result *result, char *words, size_t size)
{
	char storage[PROBLEM_ARGUMENTS][32];
	const char *arguments[PROBLEM_ARGUMENTS];
	const struct options *options = result->options;
	uint64_t given = options->given & result->chapter->options & (OPTIONS_MODIFIERS | OPTION_BIT(OPTION_CAUSAL));
	size_t count = options_of_problem(options, &result->problem, given, storage, arguments);
	size_t used = (size_t)snprintf(words, size, "%s", result->chapter->small);
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(words + used, size - used, " %s", arguments[i]);
}

bool explorer_small_case(const struct run_result *result, const struct kernel_result *failed)
{
	char storage[PROBLEM_ARGUMENTS][32], words[WORDS_SIZE];
	const char *command[PROBLEM_ARGUMENTS + 8];
	struct place place;
	pid_t child;
	int status;
	if (device_hazards() > 0 || cudaDeviceSynchronize() != cudaSuccess || !find("small_case", &place))
		return false;
	small_words(result, words, sizeof words);
	const char *const first[] = {"python3",
	                             place.tool,
	                             place.program,
	                             failed->kernel->name,
	                             result->options->gpu ? result->options->gpu : "",
	                             words};
	memcpy(command, first, sizeof first);
	size_t count = sizeof first / sizeof *first;
	count += options_of_problem(
		result->options, &result->problem, result->chapter->options, storage, command + count);
	command[count] = NULL;
	fflush(stdout);
	if (posix_spawnp(&child, command[0], NULL, NULL, (char *const *)command, environ) != 0)
		return false;
	while (waitpid(child, &status, 0) < 0)
		if (errno != EINTR)
			return false;
	return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}
