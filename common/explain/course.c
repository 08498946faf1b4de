#include "explain/course.h"

#include <ctype.h>
#include <libgen.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

static const char readme[] = "README.md";

/* As it stands in a link. */
static void write_path(FILE *out, const char *path)
{
	for (const char *c = path; *c; c++)
		fprintf(out, isalnum((unsigned char)*c) || strchr("/._-~", *c) ? "%c" : "%%%02X", (unsigned char)*c);
}

/* From a folder, which ends with a slash, to a file; both absolute. */
static void write_relative(FILE *out, const char *folder, const char *file)
{
	size_t shared = 0;
	for (size_t i = 0; folder[i] && folder[i] == file[i]; i++)
		if (folder[i] == '/')
			shared = i + 1;
	for (const char *c = folder + shared; *c; c++)
		if (*c == '/')
			fputs("../", out);
	write_path(out, file + shared);
}

void explain_course(struct json *json, const char *page)
{
	char file[PATH_MAX], given[PATH_MAX], folder[PATH_MAX + 1], *link = NULL;
	size_t bytes = 0;
	ssize_t length = readlink("/proc/self/exe", file, sizeof file - sizeof readme);
	file[length > 0 ? length : 0] = '\0';
	char *slash = strrchr(file, '/');
	if (!slash || strcmp(page, "-") == 0)
		return;
	memcpy(slash + 1, readme, sizeof readme);
	snprintf(given, sizeof given, "%s", page);
	if (access(file, R_OK) != 0 || !realpath(dirname(given), folder))
		return;
	if (strcmp(folder, "/") != 0)
		strcat(folder, "/");
	FILE *memory = open_memstream(&link, &bytes);
	if (memory)
		write_relative(memory, folder, file);
	if (memory && fclose(memory) == 0)
		json_string(json, "course", link);
	free(link);
}
