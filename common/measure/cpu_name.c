#include "measure/cpu_name.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

static void remove_all(char *text, const char *word)
{
	size_t length = strlen(word);
	for (char *found; (found = strstr(text, word));)
		memmove(found, found + length, strlen(found + length) + 1);
}

void cpu_name_shorten(char *name)
{
	static const char *const words[] = {"(R)", "(r)", "(TM)", "(tm)", " CPU", " Processor"};
	char *clock = strstr(name, " @ ");
	if (clock)
		*clock = '\0';
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++)
		remove_all(name, words[i]);
	for (char *twice; (twice = strstr(name, "  "));)
		memmove(twice, twice + 1, strlen(twice));
	size_t length = strlen(name);
	while (length && isspace((unsigned char)name[length - 1]))
		name[--length] = '\0';
}

void cpu_name_find(char *name, size_t size)
{
	char line[256];
	FILE *list = fopen("/proc/cpuinfo", "r");
	snprintf(name, size, "unknown CPU");
	while (list && fgets(line, sizeof line, list)) {
		char *colon = strchr(line, ':');
		if (strncmp(line, "model name", 10) != 0 || !colon)
			continue;
		cpu_name_shorten(colon + 1);
		snprintf(name, size, "%s", colon + 1 + strspn(colon + 1, " \t"));
		break;
	}
	if (list)
		fclose(list);
}
