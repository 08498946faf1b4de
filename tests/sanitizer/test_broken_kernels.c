/*
 * The sanitizer on kernels as people write them: tests/broken_kernels/NAME.cu holds one planted bug and, built with
 * -DFIXED, none; those in correct/ are right as they stand. The first must be reported whatever the order and the
 * number of CPU threads, the others must be silent. Each file says itself what is expected:
 *
 *     // EXPECT tool kind|kind error|warning [noline]
 *     // ORDERS all        all 8 shuffles instead of 3
 *     // SLOW              ends by its timeout: two ways only
 *     // CHECK list        SIM_CHECK instead of the four tools (and leakcheck for correct/)
 *     ... // BUG           a line that must be named; with OTHER lines, both sides must be marked ones
 *     ... // ALSO          a line that further findings may name; any other line is a false alarm
 */
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"
#include "report.h"

#define FOUR_TOOLS "memcheck,racecheck,initcheck,synccheck"

enum { MAX_MARKS = 16 };

struct marks {
	unsigned lines[MAX_MARKS];
	size_t count;
};

struct kernel {
	const char *path, *name; /* name: without folder and .cu */
	char tool[16], kinds[64], severities[32], check[64];
	bool no_line, all_orders, slow;
	struct marks bug, other, also;
};

/* ---- what the sources say ---- */

static void add_mark(struct marks *marks, unsigned line)
{
	cr_assert(marks->count < MAX_MARKS);
	marks->lines[marks->count++] = line;
}

static bool has_mark(const struct marks *marks, unsigned line)
{
	for (size_t i = 0; i < marks->count; i++)
		if (marks->lines[i] == line)
			return true;
	return false;
}

static struct kernel read_kernel(const char *path)
{
	char *rest = read_text(path), *line, *name = strdup(strrchr(path, '/') + 1), flag[16] = "";
	struct kernel kernel = {.path = path, .name = name, .check = FOUR_TOOLS};

	name[strlen(name) - 3] = '\0';
	for (unsigned number = 1; (line = strsep(&rest, "\n")) != NULL; number++) {
		if (sscanf(line, "// EXPECT %15s %63s %31s %15s", kernel.tool, kernel.kinds, kernel.severities,
		           flag) >= 3)
			kernel.no_line = strcmp(flag, "noline") == 0;
		kernel.all_orders |= strcmp(line, "// ORDERS all") == 0;
		kernel.slow |= strcmp(line, "// SLOW") == 0;
		sscanf(line, "// CHECK %63s", kernel.check);
		if (strncmp(line, "//", 2) == 0)
			continue;
		if (strstr(line, "// BUG") != NULL)
			add_mark(&kernel.bug, number);
		if (strstr(line, "// OTHER") != NULL)
			add_mark(&kernel.other, number);
		if (strstr(line, "// ALSO") != NULL)
			add_mark(&kernel.also, number);
	}
	return kernel;
}

static size_t read_kernels(const char *folder, const char *prefix, struct kernel **kernels)
{
	glob_t found;

	cr_assert(glob(text("%s/tests/broken_kernels/%s%s*.cu", TEST_ROOT, folder, prefix), 0, NULL, &found) == 0);
	*kernels = calloc(found.gl_pathc, sizeof **kernels);
	for (size_t i = 0; i < found.gl_pathc; i++)
		(*kernels)[i] = read_kernel(found.gl_pathv[i]);
	return found.gl_pathc;
}

/* ---- running ---- */

struct way {
	const char *order, *threads;
};

static const struct way ways[] = {
	{"forward", "1"},   {"forward", "2"},   {"reverse", "2"},   {"shuffle:1", "1"},
	{"shuffle:2", "2"}, {"shuffle:3", "1"}, {"shuffle:4", "2"}, {"shuffle:5", "1"},
	{"shuffle:6", "2"}, {"shuffle:7", "1"}, {"shuffle:8", "2"}, {"reverse", "1"},
};

static size_t way_count(const struct kernel *kernel)
{
	return kernel->slow ? 2 : kernel->all_orders ? sizeof ways / sizeof ways[0] : 6;
}

struct result {
	struct outcome run;
	struct report report;
};

static struct result run_kernel(const char *program, struct way way, const char *check)
{
	const char *path = text("%s/report.json", scratch_directory());
	struct result result;

	remove(path);
	result.run =
		run_program(LIST(text("%s/broken_kernels/%s", TEST_BUILD, program)),
	                    LIST(text("SIM_REPORT=%s", path), text("SIM_ORDER=%s", way.order),
	                         text("SIM_THREADS=%s", way.threads), text("SIM_CHECK=%s", check), "SIM_TIMEOUT=2"),
	                    30);
	result.report = read_report(path);
	return result;
}

static void free_result(struct result *result)
{
	free_outcome(&result->run);
	free_report(&result->report);
}

static bool is_one_of(const char *word, const char *alternatives)
{
	const size_t length = strlen(word);

	for (const char *at = alternatives; *at != '\0'; at += strspn(at, "|")) {
		if (strcspn(at, "|") == length && strncmp(at, word, length) == 0)
			return true;
		at += strcspn(at, "|");
	}
	return strcmp(alternatives, "any") == 0;
}

static bool is_side(const struct kernel *kernel, unsigned line)
{
	return has_mark(&kernel->bug, line) || has_mark(&kernel->other, line);
}

static bool is_expected(const struct kernel *kernel, const struct hazard *hazard)
{
	if (strcmp(hazard->tool, kernel->tool) != 0 || !is_one_of(hazard->kind, kernel->kinds) ||
	    !is_one_of(hazard->severity, kernel->severities))
		return false;
	if (kernel->no_line)
		return true;
	if (!is_side(kernel, hazard->line))
		return false;
	/* Which of two racing sides comes first is a question of order. */
	return kernel->other.count == 0 ? has_mark(&kernel->bug, hazard->line)
	                                : !hazard->has_other || is_side(kernel, hazard->other_line);
}

static bool is_noise(const struct kernel *kernel, const struct hazard *hazard)
{
	return strcmp(hazard->severity, "info") != 0 && !kernel->no_line && !is_side(kernel, hazard->line) &&
	       !has_mark(&kernel->also, hazard->line);
}

static const char *describe(const struct hazard *hazard)
{
	return text("%s %s %s line %u, other line %u", hazard->tool, hazard->kind, hazard->severity, hazard->line,
	            hazard->has_other ? hazard->other_line : 0);
}

/* ---- the verdicts ---- */

struct sums {
	size_t kernels, caught, missed, alarms;
};

/* "first thread (0,1,0), then thread (0,1,0)": a race is between two. */
static bool names_one_thread_twice(const char *message)
{
	for (const char *at = message; (at = strstr(at, "first thread (")) != NULL; at++) {
		char first[32], second[32];

		if (sscanf(at, "first thread %31[(0-9,)] then thread %31[(0-9,)]", first, second) == 2 &&
		    strncmp(first, second, strlen(second)) == 0)
			return true;
	}
	return false;
}

static bool is_caught(const struct kernel *kernel, struct way way)
{
	struct result result = run_kernel(kernel->name, way, kernel->check);
	const char *what = text("%s, %s, %s threads", kernel->name, way.order, way.threads);
	const bool is_warning = strcmp(kernel->severities, "warning") == 0;
	bool caught = false;

	for (size_t i = 0; i < result.report.hazard_count; i++)
		caught |= is_expected(kernel, &result.report.hazards[i]);
	cr_expect(caught, "%s: missed; status %d, %zu hazards (%s)\n%s", what, result.run.status,
	          result.report.hazard_count,
	          result.report.hazard_count > 0 ? describe(&result.report.hazards[0]) : "none", result.run.err);
	cr_expect(result.run.status == (is_warning ? 0 : 1), "%s: status %d\n%s", what, result.run.status,
	          result.run.err);
	cr_expect(strstr(result.run.err, is_warning ? "========= Warning" : "========= ERROR SUMMARY") != NULL,
	          "%s: not printed:\n%s", what, result.run.err);
	cr_expect(!names_one_thread_twice(result.run.err), "%s: a race of one thread:\n%s", what, result.run.err);
	for (size_t i = 0; i < result.report.hazard_count; i++)
		cr_expect(!is_noise(kernel, &result.report.hazards[i]), "%s: %s beside it", what,
		          describe(&result.report.hazards[i]));
	free_result(&result);
	return caught;
}

static bool is_silent(const char *program, struct way way, const char *check)
{
	struct result result = run_kernel(program, way, check);
	bool silent = result.run.status == 0 && result.run.err[0] == '\0';

	for (size_t i = 0; i < result.report.hazard_count; i++)
		silent &= strcmp(result.report.hazards[i].severity, "info") == 0;
	cr_expect(silent, "%s, %s, %s threads: false alarm; status %d\n%s", program, way.order, way.threads,
	          result.run.status, result.run.err);
	free_result(&result);
	return silent;
}

static void add_row(const char *name, struct sums sums)
{
	printf("table: %-10s %3zu kernels %3zu caught %3zu missed %3zu false alarms\n", name, sums.kernels,
	       sums.caught, sums.missed, sums.alarms);
	fflush(stdout);
}

static void check_broken(const char *prefix, const char *name, size_t at_least)
{
	struct kernel *kernels;
	struct sums sums = {.kernels = read_kernels("", prefix, &kernels)};

	for (size_t k = 0; k < sums.kernels; k++) {
		const struct kernel *kernel = &kernels[k];
		bool caught = true, silent = true;

		cr_assert(kernel->tool[0] != '\0' && (kernel->bug.count > 0 || kernel->no_line),
		          "%s: nothing is expected", kernel->name);
		for (size_t w = 0; w < way_count(kernel); w++) {
			caught &= is_caught(kernel, ways[w]);
			silent &= is_silent(text("%s.fixed", kernel->name), ways[w], kernel->check);
		}
		sums.caught += caught;
		sums.missed += !caught;
		sums.alarms += !silent;
	}
	add_row(name, sums);
	cr_expect(sums.kernels >= at_least, "only %zu kernels for %s", sums.kernels, name);
	free(kernels);
}

Test(broken_kernels, races)
{
	check_broken("race_", "racecheck", 46);
}

Test(broken_kernels, reads_of_what_nobody_wrote)
{
	check_broken("init_", "initcheck", 16);
}

Test(broken_kernels, wrong_addresses)
{
	check_broken("mem_", "memcheck", 20);
}

Test(broken_kernels, wrong_barriers)
{
	check_broken("sync_", "synccheck", 20);
}

Test(broken_kernels, correct_ones_are_silent)
{
	struct kernel *kernels;
	struct sums sums = {.kernels = read_kernels("correct/", "", &kernels)};

	for (size_t k = 0; k < sums.kernels; k++) {
		bool silent = true;

		for (size_t w = 0; w < sizeof ways / sizeof ways[0]; w++)
			silent &= is_silent(text("correct/%s", kernels[k].name), ways[w], FOUR_TOOLS ",leakcheck");
		sums.alarms += !silent;
	}
	add_row("correct", sums);
	cr_expect(sums.kernels >= 42, "only %zu correct kernels", sums.kernels);
	free(kernels);
}
