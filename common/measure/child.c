#include "measure/child.h"

#include <fcntl.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

extern char **environ;

bool child_program(const char *suffix, char path[PATH_MAX])
{
	ssize_t length = readlink("/proc/self/exe", path, PATH_MAX - strlen(suffix) - 1);
	if (length <= 0)
		return false;
	strcpy(path + length, suffix);
	return access(path, X_OK) == 0;
}

char **child_environment(void)
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

static double now_s(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

static double seconds_of(struct timeval time)
{
	return (double)time.tv_sec + 1e-6 * (double)time.tv_usec;
}

double child_cpu_seconds(const char *path, char *const *arguments, double most_s)
{
	static const struct timespec nap = {0, 2 * 1000 * 1000};
	char **environment = child_environment();
	posix_spawn_file_actions_t actions;
	pid_t child;
	if (!environment)
		return 0.0;
	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDOUT_FILENO, "/dev/null", O_WRONLY, 0);
	posix_spawn_file_actions_addopen(&actions, STDERR_FILENO, "/dev/null", O_WRONLY, 0);
	struct rusage used = {0};
	double begin = now_s();
	int failed = posix_spawn(&child, path, &actions, NULL, arguments, environment);
	posix_spawn_file_actions_destroy(&actions);
	free(environment);
	if (failed)
		return 0.0;
	while (wait4(child, NULL, WNOHANG, &used) == 0) {
		if (now_s() - begin > most_s)
			kill(child, SIGKILL); /* the next wait has it */
		nanosleep(&nap, NULL);
	}
	return seconds_of(used.ru_utime) + seconds_of(used.ru_stime);
}
