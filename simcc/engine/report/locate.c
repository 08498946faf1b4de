/* Where an instruction comes from: addr2line, and names as the user writes them. */
#include <link.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "report/report.h"

static int find_base(struct dl_phdr_info *info, size_t size, void *base)
{
	(void)size;
	*(uintptr_t *)base = info->dlpi_addr; /* the program itself comes first */
	return 1;
}

/* Debug information names files in full; the tables as the user did. The same file should have one name; of two files
 * a/x.cu and x.cu, a/x.cu is the one whose whole name ends the path. */
static const char *as_the_user_calls_it(const char *path)
{
	const char *longest = "";
	for (const struct sim_site *site = __start_sim_sites; site < __stop_sim_sites; site++) {
		size_t length = strlen(site->file), whole = strlen(path);
		if (length > 0 && length < whole && path[whole - length - 1] == '/' &&
		    strcmp(path + whole - length, site->file) == 0 && length > strlen(longest))
			longest = site->file;
	}
	return *longest ? longest : path;
}

void hazard_locate_instruction(struct hazard *hazard, uintptr_t instruction)
{
	const struct sim_function *function = sim_function_holding((void *)instruction);
	if (function)
		hazard->signature = function->signature;
	char program[512];
	const ssize_t length = readlink("/proc/self/exe", program, sizeof program - 1);
	if (length <= 0)
		return;
	program[length] = '\0';
	uintptr_t base = 0;
	dl_iterate_phdr(find_base, &base);
	char command[640], line[400];
	/* Some instructions belong to no line, says clang: then the one before them does. */
	snprintf(
		command, sizeof command, "addr2line -e '%s' 0x%zx 0x%zx 0x%zx 0x%zx 2>/dev/null", program,
		(size_t)(instruction - base), (size_t)(instruction - base - 4), (size_t)(instruction - base - 12),
		(size_t)(instruction - base - 24));
	FILE *pipe;
	if (strchr(program, '\'') || !(pipe = popen(command, "r")))
		return;
	char *colon;
	while (hazard->line == 0 && fgets(line, sizeof line, pipe))
		if ((colon = strrchr(line, ':')) && atoi(colon + 1) > 0) {
			*colon = '\0';
			snprintf(hazard->file, sizeof hazard->file, "%.255s", as_the_user_calls_it(line));
			hazard->line = (unsigned)atoi(colon + 1);
		}
	pclose(pipe);
}

const char *space_name(enum sim_space space)
{
	return (const char *const[]){"global", "constant", "shared", "local"}[space];
}
