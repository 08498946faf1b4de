#include <ftw.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <criterion/criterion.h>

#include "program.h"

int run_command(const char *command, char **said)
{
	fflush(NULL);
	FILE *pipe = popen(text("exec 2>&1 </dev/null; timeout -k 1 60 env %s", command), "r");
	size_t size = 0;
	*said = NULL;
	cr_assert(pipe, "cannot run %s", command);
	if (getdelim(said, &size, '\0', pipe) < 0)
		*said = text("%s", "");
	int status = pclose(pipe);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

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
