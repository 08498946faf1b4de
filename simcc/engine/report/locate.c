/* Where an instruction comes from: addr2line, and names as the user writes them. */
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
#include <unwind.h>

#include "report/output.h"

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
		if (length > 0 && (length == whole || (length < whole && path[whole - length - 1] == '/')) &&
		    strcmp(path + whole - length, site->file) == 0 && length > strlen(longest))
			longest = site->file;
	}
	if (*longest)
		return longest;
	if (strncmp(path, "./", 2) == 0)
		return path + 2;
	char here[256]; /* a C file, or a plain build: no tables */
	const size_t length = getcwd(here, sizeof here) ? strlen(here) : 0;
	return length > 1 && strncmp(path, here, length) == 0 && path[length] == '/' ? path + length + 1 : path;
}

/* The files of the engine, and headers that call it for the program: simcc's, and the C++ library's. */
static bool is_ours(const char *path)
{
	const size_t engine = sizeof __FILE__ - sizeof "report/locate.c";
	return strncmp(path, __FILE__, engine) == 0 || strstr(path, "/sim_cuda/") ||
	       strstr(path, "/cuda_runtime_api.h") || strstr(path, "/include/c++/");
}

/* Which of these instructions is the first that belongs to a line of the program's own: its number, and file and line
 * of the hazard are set; -1 if none. */
static int locate(struct hazard *hazard, const uintptr_t *instructions, size_t count)
{
	char command[1024], line[400];
	uintptr_t base = 0;
	dl_iterate_phdr(find_base, &base);
	int used = snprintf(command, sizeof command, "addr2line -iae /proc/%d/exe", (int)getpid());
	for (size_t i = 0; i < count; i++)
		used += snprintf(command + used, sizeof command - (size_t)used, " 0x%zx", instructions[i] - base);
	snprintf(command + used, sizeof command - (size_t)used, " 2>/dev/null");
	FILE *pipe = popen(command, "r");
	if (!pipe)
		return -1;
	char *colon;
	int at = -1; /* an instruction's address, then its lines: of what is inlined there first */
	while (hazard->line == 0 && fgets(line, sizeof line, pipe))
		if (strncmp(line, "0x", 2) == 0) {
			at++;
		} else if ((colon = strrchr(line, ':')) && atoi(colon + 1) > 0) {
			*colon = '\0';
			if (is_ours(line))
				continue;
			snprintf(hazard->file, sizeof hazard->file, "%.255s", as_the_user_calls_it(line));
			hazard->line = (unsigned)atoi(colon + 1);
		}
	pclose(pipe);
	return hazard->line == 0 ? -1 : at;
}

void hazard_locate_instruction(struct hazard *hazard, uintptr_t instruction)
{
	const struct sim_function *function = sim_function_holding((void *)instruction);
	if (function)
		hazard->signature = function->signature;
	/* Some instructions belong to no line, says clang: then the one before them does. */
	const uintptr_t before[] = {instruction, instruction - 4, instruction - 12, instruction - 24};
	locate(hazard, before, sizeof before / sizeof *before);
}

/* ---- calls of the host ---- */

static _Unwind_Reason_Code note_caller(struct _Unwind_Context *context, void *data)
{
	struct callers *callers = data;
	if (callers->count == MOST_CALLERS)
		return _URC_END_OF_STACK;
	callers->call[callers->count++] = _Unwind_GetIP(context) - 1; /* a call lies before where it returns to */
	return _URC_NO_REASON;
}

struct callers callers_of_this(void)
{
	struct callers callers = {.count = 0};
	_Unwind_Backtrace(note_caller, &callers);
	return callers;
}

void hazard_locate_call(struct hazard *hazard, const struct callers *callers)
{
	enum { REMEMBERED = 64 }; /* a call in a loop is located once */
	static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
	static struct {
		struct callers callers;
		char file[sizeof hazard->file];
		unsigned line;
		const char *signature;
	} known[REMEMBERED];
	static unsigned known_count;
	pthread_mutex_lock(&lock);
	unsigned i = 0;
	while (i < known_count && i < REMEMBERED && memcmp(&known[i].callers, callers, sizeof *callers) != 0)
		i++;
	if (i == known_count || i == REMEMBERED) {
		const int at = locate(hazard, callers->call, callers->count);
		const struct sim_function *function = at < 0 ? NULL : sim_function_holding((void *)callers->call[at]);
		i = known_count++ % REMEMBERED;
		known[i].callers = *callers;
		known[i].line = hazard->line;
		known[i].signature = function ? function->signature : "";
		memcpy(known[i].file, hazard->file, sizeof known[i].file);
	}
	memcpy(hazard->file, known[i].file, sizeof hazard->file);
	hazard->line = known[i].line;
	hazard->signature = known[i].signature;
	pthread_mutex_unlock(&lock);
}

const char *space_name(enum sim_space space)
{
	return (const char *const[]){"global", "constant", "shared", "local"}[space];
}
