#include <dirent.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include <criterion/criterion.h>

#include "program.h"
#include "suite.h"

static int is_program(const struct dirent *entry)
{
	const char *dot = strrchr(entry->d_name, '.');

	return entry->d_name[0] != '.' && (dot == NULL || strcmp(dot, ".cu") == 0);
}

char **list_programs(const char *folder)
{
	struct dirent **entries;
	int count = scandir(text("%s/tests/sim/%s", TEST_ROOT, folder), &entries, is_program, alphasort);
	char **names;

	cr_assert(count > 0, "no programs in %s", folder);
	names = calloc((size_t)count + 1, sizeof *names);
	cr_assert(names != NULL, "out of memory");
	for (int i = 0; i < count; i++)
		names[i] = strndup(entries[i]->d_name, strcspn(entries[i]->d_name, "."));
	return names;
}
