/*
 * Broken kernels, each beside its clean twin (the same file built with -DFIXED): memcheck, synccheck, endless loops
 * and mistakes with the API. What each must be reported as stands beside it in the source:
 *
 *     //! case NAME tool=T kind=A|B error=E thread=x,y,z|any block=x,y,z|any [array=A] [index=I] [space=S] [line=any]
 * [timeout] [severity=warning]
 *     //+ further keys
 *     //! says a piece of the message
 *     ... // BUG NAME       the line, or one of the lines, that must be named
 */
#include <ctype.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "program.h"
#include "report.h"
#include "suite.h"

enum { MAX_SAYS = 4, MAX_LINES = 4, MAX_CASES = 32 };

struct broken {
	const char *file; /* without .cu */
	char name[48], tool[16], kind[64], severity[16], error[80], call[48], thread[24], block[24], array[32],
		index[16], space[16];
	bool any_line, timeout;
	char *says[MAX_SAYS];
	size_t say_count;
	unsigned lines[MAX_LINES];
	size_t line_count;
};

static void take(char *to, size_t size, const char *line, const char *key)
{
	const char *at = strstr(line, text(" %s=", key));

	if (at != NULL)
		snprintf(to, size, "%.*s", (int)strcspn(at + strlen(key) + 2, " "), at + strlen(key) + 2);
}

static struct broken read_case(const char *file, const char *line)
{
	struct broken broken = {.file = file,
	                        .severity = "error",
	                        .any_line = strstr(line, " line=any") != NULL,
	                        .timeout = strstr(line, " timeout") != NULL};

	sscanf(line, "%47s", broken.name);
	take(broken.tool, sizeof broken.tool, line, "tool");
	take(broken.kind, sizeof broken.kind, line, "kind");
	take(broken.severity, sizeof broken.severity, line, "severity");
	take(broken.error, sizeof broken.error, line, "error");
	take(broken.call, sizeof broken.call, line, "call");
	take(broken.thread, sizeof broken.thread, line, "thread");
	take(broken.block, sizeof broken.block, line, "block");
	take(broken.array, sizeof broken.array, line, "array");
	take(broken.index, sizeof broken.index, line, "index");
	take(broken.space, sizeof broken.space, line, "space");
	return broken;
}

static struct broken *find_case(struct broken *cases, size_t count, const char *name)
{
	for (size_t i = 0; i < count; i++)
		if (strncmp(cases[i].name, name, strlen(cases[i].name)) == 0 &&
		    !isalnum((unsigned char)name[strlen(cases[i].name)]) && name[strlen(cases[i].name)] != '_')
			return &cases[i];
	cr_assert(0, "BUG %s: no such case", name);
	return NULL;
}

static size_t read_cases(const char *file, struct broken cases[MAX_CASES])
{
	char *rest = read_text(text("%s/tests/sim/broken/%s.cu", TEST_ROOT, file)), *again = strdup(rest), *line;
	char *announced = NULL;
	size_t count = 0;

	/* Two rounds: a function with its BUG may stand before the kernel of its case. */
	while ((line = strsep(&rest, "\n")) != NULL) {
		if (strncmp(line, "//! case ", 9) == 0) {
			cr_assert(count < MAX_CASES);
			announced = strdup(line + 9);
			cases[count++] = read_case(file, announced);
		} else if (strncmp(line, "//+ ", 4) == 0) {
			announced = text("%s %s", announced, line + 4);
			cases[count - 1] = read_case(file, announced);
		} else if (strncmp(line, "//! says ", 9) == 0) {
			cr_assert(count > 0 && cases[count - 1].say_count < MAX_SAYS);
			cases[count - 1].says[cases[count - 1].say_count++] = strdup(line + 9);
		}
	}
	for (size_t i = 0; i < count; i++)
		cr_assert(cases[i].tool[0] && cases[i].kind[0] && (cases[i].error[0] || cases[i].call[0]),
		          "%s.cu: case %s", file, cases[i].name);
	for (unsigned number = 1; (line = strsep(&again, "\n")) != NULL; number++) {
		const char *mark = strstr(line, "// BUG ");

		if (mark != NULL && line[0] != '/') {
			struct broken *broken = find_case(cases, count, mark + 7);

			cr_assert(broken->line_count < MAX_LINES);
			broken->lines[broken->line_count++] = number;
		}
	}
	for (size_t i = 0; i < count; i++)
		cr_assert(cases[i].line_count > 0 || cases[i].any_line || cases[i].call[0], "%s.cu: no line for %s",
		          file, cases[i].name);
	return count;
}

/* ---- one run ---- */

struct way {
	const char *threads, *order;
};

static struct outcome run_case(const char *build, const struct broken *broken, const char *suffix, struct way way,
                               const char *report)
{
	return run_program(LIST(text("%s/broken/%s%s", build, broken->file, suffix), broken->name),
	                   LIST(text("SIM_REPORT=%s", report), text("SIM_THREADS=%s", way.threads),
	                        text("SIM_ORDER=%s", way.order),
	                        /* What is tested here; a broken kernel may well be broken in other ways too. */
	                        suffix[0] == '\0' ? "SIM_CHECK=memcheck,synccheck"
	                                          : "SIM_CHECK=memcheck,racecheck,initcheck,synccheck",
	                        broken->timeout && suffix[0] == '\0' ? "SIM_TIMEOUT=0.5" : "SIM_TIMEOUT=20"),
	                   30);
}

/* "a|b" */
static bool is_one_of(const char *word, const char *alternatives)
{
	const size_t length = strlen(word);

	for (const char *at = alternatives; *at != '\0'; at += strspn(at, "|")) {
		if (strcspn(at, "|") == length && strncmp(at, word, length) == 0)
			return true;
		at += strcspn(at, "|");
	}
	return false;
}

static const char *value_after(const char *output, const char *label)
{
	const char *at = strstr(output, label);

	return at == NULL ? "" : text("%.*s", (int)strcspn(at + strlen(label), "\n"), at + strlen(label));
}

/* What the program printed: a fault is heard of by the call that waits for the device and stays until the reset; the
 * device works again after it. */
static void expect_errors(const char *what, const struct broken *broken, const char *output)
{
	static const char *const labels[] = {"waits: ", "call after it: "};

	if (broken->error[0] != '\0' && broken->call[0] == '\0')
		cr_expect_str_eq(value_after(output, "last error: "), "cudaSuccess", "%s: heard of too early", what);
	for (size_t i = 0; i < 2 && broken->error[0] != '\0'; i++)
		cr_expect(is_one_of(value_after(output, labels[i]), broken->error), "%s: %s%s", what, labels[i],
		          value_after(output, labels[i]));
	if (broken->call[0] != '\0') {
		cr_expect_str_eq(value_after(output, "call: "), broken->call, "%s printed %s", what, output);
		cr_expect_str_eq(value_after(output, "last error: "), broken->call, "%s printed %s", what, output);
		cr_expect_str_eq(value_after(output, "call after it: "), "cudaSuccess", "%s printed %s", what,
		                 output);
	}
	cr_expect_str_eq(value_after(output, "reset: "), "cudaSuccess", "%s: cudaDeviceReset failed", what);
	cr_expect_str_eq(value_after(output, "after reset: "), "cudaSuccess", "%s: still broken after the reset",
	                 what);
	cr_expect(strstr(output, "works again") != NULL, "%s: the device is of no use after the reset: %s", what,
	          output);
}

static bool names_line(const struct broken *broken, unsigned line)
{
	for (size_t i = 0; i < broken->line_count; i++)
		if (broken->lines[i] == line)
			return true;
	return broken->any_line;
}

static void expect_record(const char *what, const struct broken *broken, const char *path, bool exact)
{
	struct report report = read_report(path);
	const struct hazard *hazard = report.hazards;
	uint64_t in_launches = 0;

	cr_assert(report.hazard_count == 1, "%s: %zu hazard records", what, report.hazard_count);
	cr_expect_str_eq(hazard->tool, broken->tool, "%s: tool %s", what, hazard->tool);
	cr_expect(is_one_of(hazard->kind, broken->kind), "%s: kind %s, expected %s", what, hazard->kind,
	          broken->kind);
	cr_expect_str_eq(hazard->severity, broken->severity, "%s: severity %s", what, hazard->severity);
	if (broken->error[0] != '\0') {
		const size_t length = strlen(text("%s.cu", broken->file)), named = strlen(hazard->file);

		cr_expect_str_eq(hazard->kernel, broken->name, "%s: kernel %s", what, hazard->kernel);
		cr_expect(named >= length && strcmp(hazard->file + named - length, text("%s.cu", broken->file)) == 0,
		          "%s: file %s", what, hazard->file);
		cr_expect(names_line(broken, hazard->line), "%s: line %u, expected %u", what, hazard->line,
		          broken->lines[0]);
		for (size_t i = 0; i < report.launch_count; i++)
			if (strcmp(report.launches[i].kernel, broken->name) == 0)
				in_launches += report.launches[i].hazards;
		cr_expect(in_launches > 0, "%s: its launch record counts no hazard", what);
	}
	if (broken->space[0] != '\0')
		cr_expect_str_eq(hazard->space, broken->space, "%s: space %s", what, hazard->space);
	if (broken->array[0] != '\0')
		cr_expect_str_eq(hazard->array, broken->array, "%s: array %s", what, hazard->array);
	if (exact && broken->index[0] != '\0')
		cr_expect(hazard->has_index && hazard->index == atoi(broken->index), "%s: index %ld", what,
		          (long)hazard->index);
	free_report(&report);
}

static const char *triple(const char *text_or_any)
{
	return strcmp(text_or_any, "any") == 0 ? NULL : text("(%s)", text_or_any);
}

static bool is_error(const struct broken *broken)
{
	return strcmp(broken->severity, "error") == 0;
}

static void expect_message(const char *what, const struct broken *broken, const char *message, bool exact)
{
	for (size_t i = 0; i < broken->say_count; i++)
		cr_expect(strstr(message, broken->says[i]) != NULL, "%s: no '%s' in\n%s", what, broken->says[i],
		          message);
	cr_expect((strstr(message, "========= ERROR SUMMARY: 1 error\n") != NULL) == is_error(broken),
	          "%s: its summary in\n%s", what, message);
	if (broken->error[0] == '\0')
		return;
	if (exact && triple(broken->thread) != NULL)
		cr_expect(strstr(message, text("by thread %s in block ", triple(broken->thread))) != NULL,
		          "%s: thread in\n%s", what, message);
	if (exact && triple(broken->block) != NULL)
		cr_expect(strstr(message, text(" in block %s\n", triple(broken->block))) != NULL, "%s: block in\n%s",
		          what, message);
	cr_expect(strstr(message, "by thread (") != NULL, "%s: no thread in\n%s", what, message);
	if (!broken->any_line) {
		bool named = false;

		for (size_t i = 0; i < broken->line_count; i++)
			named |= strstr(message, text("%s.cu:%u\n", broken->file, broken->lines[i])) != NULL;
		cr_expect(named, "%s: line %u not named in\n%s", what, broken->lines[0], message);
		cr_expect(strstr(message, "// BUG") != NULL, "%s: the source line is not shown in\n%s", what,
		          message);
	}
}

static void check_broken(const char *build, const struct broken *broken, struct way way, bool exact)
{
	const char *what = text("%s, SIM_THREADS=%s SIM_ORDER=%s", broken->name, way.threads, way.order);
	const char *report = text("%s/report.json", scratch_directory());
	struct outcome run = run_case(build, broken, "", way, report);

	cr_expect(run.status == is_error(broken), "%s: exit status %d\n%s", what, run.status, run.err);
	expect_message(what, broken, run.err, exact);
	expect_errors(what, broken, run.out);
	expect_record(what, broken, report, exact);
	free_outcome(&run);
}

static void check_fixed(const char *build, const struct broken *broken, struct way way)
{
	const char *what = text("%s, fixed, SIM_THREADS=%s SIM_ORDER=%s", broken->name, way.threads, way.order);
	const char *path = text("%s/report.json", scratch_directory());
	struct outcome run = run_case(build, broken, ".fixed", way, path);
	struct report report = read_report(path);

	cr_expect(run.status == 0, "%s: exit status %d", what, run.status);
	cr_expect_str_empty(run.err, "%s: not silent:\n%s", what, run.err);
	cr_expect(strstr(run.out, "cudaError") == NULL && strstr(run.out, "works again") != NULL, "%s printed %s",
	          what, run.out);
	for (size_t i = 0; i < report.hazard_count; i++) /* "info": blocks write the same value, on purpose */
		cr_expect_str_eq(report.hazards[i].severity, "info", "%s: a hazard record", what);
	cr_expect(report.launch_count > 0, "%s: no launch", what);
	free_report(&report);
	free_outcome(&run);
}

static const struct way forward = {"1", "forward"};
static const struct way other_ways[] = {{"2", "reverse"}, {"1", "shuffle:3"}, {"2", "shuffle:5"}};

static void check_file(const char *file, size_t at_least)
{
	struct broken cases[MAX_CASES];
	size_t count = read_cases(file, cases);

	cr_expect(count >= at_least, "%s.cu: only %zu cases", file, count);
	for (size_t i = 0; i < count; i++) {
		check_broken(TEST_BUILD, &cases[i], forward, true);
		check_fixed(TEST_BUILD, &cases[i], forward);
		/* Always reported, whatever the order, even if by another thread. */
		for (size_t w = 0; w < sizeof other_ways / sizeof other_ways[0]; w++) {
			check_broken(TEST_BUILD, &cases[i], other_ways[w], false);
			check_fixed(TEST_BUILD, &cases[i], other_ways[w]);
		}
		if (TEST_OTHER_BUILD[0] != '\0') {
			check_broken(TEST_OTHER_BUILD, &cases[i], forward, true);
			check_fixed(TEST_OTHER_BUILD, &cases[i], forward);
		}
	}
}

Test(broken, global_memory)
{
	check_file("global", 15);
}

Test(broken, shared_and_local_memory)
{
	check_file("shared", 9);
}

Test(broken, barriers_and_masks)
{
	check_file("barriers", 16);
}

Test(broken, endless_loops_and_traps)
{
	check_file("endless", 9);
}

Test(broken, mistakes_with_the_api)
{
	check_file("api", 7);
}

Test(broken, the_other_compiler)
{
	if (TEST_OTHER_BUILD[0] == '\0')
		skip_test("gcc and clang are not both installed: broken kernels were tried with one of them only");
}

/* A template's signature may be longer than the message: then its name says enough. */
Test(broken, long_signatures)
{
	static const char *const kernels[][3] = {
		/* template and parameters, template arguments, what is printed */
		{"template <int A>\n__global__ void wide(int *y)", "<8>", "void wide<8>(int*)"},
		{"template <int A, int B, class T>\n__global__ void multiply(T *y, const T *, const T *, T, T, T)",
	         "<8, 16, int>", "multiply<8, 16, int>"},
		{"template <class A, class B, class C>\n__global__ void multiply(int *y, A, B, C)",
	         "<unsigned long long, unsigned long long, long long>", "multiply"},
	};
	static const char *const arguments[] = {"y", "y, y, y, 1, 2, 3", "y, 1, 2, 3"};

	for (size_t i = 0; i < 3; i++) {
		const char *directory = scratch_directory(), *name = i == 0 ? "wide" : "multiply";
		struct outcome run;
		char *at;

		write_text(text("%s/long.cu", directory),
		           text("#include <cuda_runtime.h>\n%s\n{\n\ty[1000] = 1;\n}\nint main()\n{\n\tint *y;\n"
		                "\tcudaMalloc(&y, 64);\n\t%s%s<<<1, 1>>>(%s);\n}\n",
		                kernels[i][0], name, kernels[i][1], arguments[i]));
		run = run_program_in(directory, LIST(TEST_ROOT "/common/sim/simcc", "long.cu", "-o", "long"),
		                     LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 60);
		cr_assert(run.status == 0, "%s", run.err);
		run = run_program_in(directory, LIST("./long"), NOTHING, 30);
		at = strstr(run.err, "=========     at ");
		cr_assert(run.status == 1 && at != NULL, "%s", run.err);
		at[strcspn(at, "\n")] = '\0';
		cr_expect_str_eq(at, text("=========     at %s in long.cu:5", kernels[i][2]), "%s", at);
		cr_expect(strlen(at) <= 80);
		free_outcome(&run);
	}
}
