/*
 * Planted faults: one change to a chapter's source, built, and the program has to fail with it. What passes here with
 * a fault inside would pass in a classroom.
 *
 * `from` must occur exactly once in the source, so that a fault cannot silently stop being planted; and the same
 * options must pass without the fault.
 *
 * They run with SIM_ORDER=reverse: without racecheck a race is seen only where it changes a result.
 */
#include "chapter_run.h"
#include "program.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdlib.h>
#include <string.h>

enum chapter { CHAPTER_04, CHAPTER_05 };

static const struct {
	const char *directory, *name, *program;
} chapters[] = {{"04_fa1", "fa1", FA1}, {"05_fa2", "fa2", FA2}};

struct fault {
	char name[48];
	enum chapter chapter;
	char from[160], to[160];
	char options[120];
	char says[48]; /* in what it prints on stderr or stdout */
};

static struct fault faults[] = {
	/* ---- chapter 04 ---- */
	{"paper: no rescale of O", CHAPTER_04, "(first ? 0.0f : keep * O[c])", "(first ? 0.0f : O[c])",
         "--kernel fa1_paper --seq 200", "O is wrong"},
	{"paper: block max without correction", CHAPTER_04,
         "float from_old = l_old * expf(m_old - m_new), from_tile = expf(m_tile - m_new);",
         "float from_old = l_old, from_tile = 1.0f;", "--kernel fa1_paper --seq 200", "O is wrong"},
	{"paper: no block max", CHAPTER_04, "float largest = m_tile == -INFINITY ? 0.0f : m_tile;",
         "float largest = 0.0f;", "--kernel fa1_paper --seq 200 --input large-logits", "O is wrong"},
	{"paper: a fully masked row makes NaN", CHAPTER_04, "float largest = m_tile == -INFINITY ? 0.0f : m_tile;",
         "float largest = m_tile;", "--kernel fa1_paper --seq 130 --causal", "O is wrong"},
	{"paper: m starts at 0", CHAPTER_04, "float m_old = first ? -INFINITY : *m,",
         "float m_old = first ? 0.0f : *m,", "--kernel fa1_paper --seq 200 --input very-negative", "O is wrong"},
	{"paper: the last, ragged key is dropped", CHAPTER_04, "float s = j < visible ? scale * dot : -INFINITY;",
         "float s = j < visible && !(keys % 2 && j == keys - 1) ? scale * dot : -INFINITY;",
         "--kernel fa1_paper --seq 201", "O is wrong"},
	{"paper: causal off by one", CHAPTER_04, "first_row + r - first_key + 1 : keys;",
         "first_row + r - first_key + 2 : keys;", "--kernel fa1_paper --seq 100 --causal", "O is wrong"},
	{"paper: no barrier after loading", CHAPTER_04,
         "__syncthreads(); // without it a fast warp reads keys that are not there yet\n\n\t\tfor (int first_row",
         "for (int first_row", "--kernel fa1_paper --seq 200", "Race reported"},
	{"paper: one load too many", CHAPTER_04, "*S = V_tile + Bc * d;", "*S = V_tile + Bc * d + (Q[0] > 1e30f);",
         "--kernel fa1_paper --seq 64", "is not its closed form"},
	{"paper: l is read twice", CHAPTER_04, "float from_old = l_old *", "float from_old = (first ? 0.0f : *l) *",
         "--kernel fa1_paper --seq 200", "bytes of statistics"},
	{"row: no rescale of o", CHAPTER_04, "\t\to[c] *= correction;\n#pragma unroll", "#pragma unroll",
         "--kernel fa1_row --seq 200", "O is wrong"},
	{"row: m starts at 0", CHAPTER_04, "o[D] = {}, m = -INFINITY, l = 0.0f;", "o[D] = {}, m = 0.0f, l = 0.0f;",
         "--kernel fa1_row --seq 200 --input very-negative", "is wrong"},
	{"row: the ragged group of keys is dropped", CHAPTER_04, "for (int j = 0; j < keys; j += KEYS)",
         "for (int j = 0; j + KEYS <= keys; j += KEYS)", "--kernel fa1_row --seq 203", "is wrong"},
	{"row: causal off by one", CHAPTER_04, "min(keys, row - first_key + 1) : keys;",
         "min(keys, row - first_key + 2) : keys;", "--kernel fa1_row --seq 100 --causal", "is wrong"},
	{"dynamic: causal off by one", CHAPTER_04, "first_key + first + j > row;", "first_key + first + j > row + 1;",
         "--kernel fa1_row_dynamic --seq 100 --causal", "is wrong"},
	/* ---- chapter 05 ---- */
	{"fa2_row: not divided by l", CHAPTER_05, "o_row[c] = o[c] / l;", "o_row[c] = o[c];",
         "--kernel fa2_row --seq 100", "O is wrong"},
	{"fa2_row: diagonal tile not masked", CHAPTER_05, "bool masked = diagonal || padded > keys;",
         "bool masked = padded > keys;", "--kernel fa2_row --seq 128 --causal", "is wrong"},
	{"fa2_row: ragged tile not masked", CHAPTER_05, "bool masked = diagonal || padded > keys;",
         "bool masked = diagonal;", "--kernel fa2_row --seq 203", "is wrong"},
	{"fa2_row: one tile too few", CHAPTER_05, "return causal ? min(first_row + Br, N) : N;",
         "return causal ? min(first_row + 1, N) : N;", "--kernel fa2_row --seq 200 --tile-k 16 --causal", "is wrong"},
	{"fa2_row: nothing skipped", CHAPTER_05, "return causal ? min(first_row + Br, N) : N;",
         "return N + 0 * (causal + first_row + Br);", "--kernel fa2_row --seq 300 --causal",
         "is not its closed form"},
	{"fa2_row: padding read from HBM", CHAPTER_05, "tile[e] = row < rows && c < d ?", "tile[e] = row < rows ?",
         "--kernel fa2_row --seq 40 --dim 33", ""},
	{"fa2_row: no barrier before loading", CHAPTER_05,
         "__syncthreads(); // without it a fast warp overwrites the tile that a slow one still reads", ";",
         "--kernel fa2_row --seq 200", "Race reported"},
	{"split_q: no rescale of o", CHAPTER_05, "o[r][c] *= correction;", ";", "--kernel fa2_split_q --seq 200",
         "O is wrong"},
	{"split_q: no rescale of l", CHAPTER_05, "l[r] *= correction;", ";", "--kernel fa2_split_q --seq 200",
         "is wrong"},
	{"split_q: m starts at 0", CHAPTER_05, "m[r] = -INFINITY;", "m[r] = 0.0f;",
         "--kernel fa2_split_q --seq 200 --input very-negative", "is wrong"},
	{"split_q: max of one lane, not of the row", CHAPTER_05,
         "for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)\n\t\t\tm_new",
         "for (int lanes = 1; lanes < 1; lanes *= 2)\n\t\t\tm_new", "--kernel fa2_split_q --seq 200", "is wrong"},
	{"split_q: l of one lane, not of the row", CHAPTER_05,
         "for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)\n\t\t\tsum",
         "for (int lanes = 1; lanes < 1; lanes *= 2)\n\t\t\tsum", "--kernel fa2_split_q --seq 200", "is wrong"},
	{"split_q: causal off by one", CHAPTER_05, "(causal && key > row)", "(causal && key > row + 1)",
         "--kernel fa2_split_q --seq 100 --causal", "is wrong"},
	{"split_q: keys past the last count", CHAPTER_05, "if (key >= N || ", "if (",
         "--kernel fa2_split_q --seq 203", "is wrong"},
	{"split_q: no __syncwarp", CHAPTER_05,
         "__syncwarp(); // without it a lane reads weights of its row that another lane has not written yet", ";",
         "--kernel fa2_split_q --seq 200", "is wrong"},
	{"split_q: no barrier after loading", CHAPTER_05,
         "__syncthreads(); // without it a fast warp reads rows of Q, K and V that are not there yet", ";",
         "--kernel fa2_split_q --seq 200", "Race reported"},
	{"split_q: LSE in powers of 2", CHAPTER_05, "LSE[row] = m[r] * LN_2 + logf(sum);",
         "LSE[row] = m[r] + logf(sum);", "--kernel fa2_split_q --seq 64", "LSE is wrong"},
	{"split_q: scale forgotten", CHAPTER_05, "scale * LOG2_E", "LOG2_E + 0.0f * scale",
         "--kernel fa2_split_q --seq 64", "is wrong"},
};

/* Replaces the one place where `from` stands; the test fails if there is none, or more. */
static char *plant(const char *source, const struct fault *fault)
{
	const char *at = strstr(source, fault->from);
	cr_assert_not_null(at, "%s: the source has no '%s' any more", fault->name, fault->from);
	cr_assert_null(
		strstr(at + 1, fault->from), "%s: '%s' stands in more than one place", fault->name, fault->from);
	return text("%.*s%s%s", (int)(at - source), source, fault->to, at + strlen(fault->from));
}

/* Compiles the changed source and links it with the chapter's chapter.o and the harness, as the chapter's make does.
 * With `mode` --fast it is the plain twin of the program that was built before. */
static char *build_as(const struct fault *fault, const char *source, const char *mode)
{
	const char *directory = scratch_directory(), *chapter = chapters[fault->chapter].directory;
	char *objects = text("%s/build/%s/sim", TEST_ROOT, strrchr("/" TEST_CC, '/') + 1);
	char *program = text("%s/program%s", directory, *mode ? ".fast" : ""),
	     *changed = text("%s/changed.cu", directory);
	char *command = text(
		"CC='%s' CXX='%s' %s/simcc/simcc %s -O1 -w -I%s/%s %s %s/%s/chapter.o "
		"$(find %s/common -name '*.o') -lm -o %s",
		TEST_CC, TEST_CXX, TEST_ROOT, mode, TEST_ROOT, chapter, changed, objects, chapter, objects, program);
	write_text(changed, source);
	struct outcome outcome = run_program(LIST("/bin/sh", "-c", command), NOTHING, 120);
	cr_assert_eq(outcome.status, 0, "%s does not build: %s", fault->name, outcome.err);
	free_outcome(&outcome);
	return program;
}

static char *build(const struct fault *fault, const char *source)
{
	return build_as(fault, source, "");
}

ParameterizedTestParameters(faults, is_caught)
{
	return cr_make_param_array(struct fault, faults, sizeof faults / sizeof faults[0]);
}

ParameterizedTest(struct fault *fault, faults, is_caught, .timeout = 180)
{
	const char *chapter = chapters[fault->chapter].directory, *name = chapters[fault->chapter].name;
	char *source = read_text(text("%s/%s/%s.cu", TEST_ROOT, chapter, name));
	cr_assert_not_null(source);
	struct chapter_run run = run_verified(chapters[fault->chapter].program, fault->options);
	free_chapter_run(&run);

	run = run_chapter(build(fault, plant(source, fault)), "SIM_ORDER=reverse", fault->options);
	cr_expect_eq(
		run.status, 1, "'%s' passes with %s: exit %d, %s", fault->name, fault->options, run.status, run.err);
	char *printed = run.json ? cJSON_PrintUnformatted(run.json) : strdup("");
	cr_expect(
		strstr(run.err, fault->says) || strstr(printed, fault->says), "'%s' fails, but not with '%s': %s",
		fault->name, fault->says, run.err);
	free(printed);
	free_chapter_run(&run);
}

/* A printf in a kernel is a beginner's first tool. It is no part of the data, whoever reads that: a program with
 * --json - or --tsv -, the run that takes the times. */
Test(faults, what_a_kernel_prints_is_no_fault, .timeout = 180)
{
	const struct fault prints = {
		"a kernel prints",
		CHAPTER_04,
		"float m_old = first ? -INFINITY : *m,",
		"printf(\"seen %d\\n\", (int)threadIdx.x);\n\tfloat m_old = first ? -INFINITY : *m,",
		"--kernel fa1_paper --seq 2 --dim 2 --heads 1 --repeat 1",
		""};
	char *source = plant(read_text(text("%s/04_fa1/fa1.cu", TEST_ROOT)), &prints);
	char *program = build_as(&prints, source, "");
	build_as(&prints, source, "--fast");
	struct chapter_run run = run_chapter(program, NULL, prints.options);
	cr_expect_eq(run.status, 0, "%s", run.err);
	cr_assert_not_null(run.json, "what --json - wrote is no JSON");
	const cJSON *kernel = kernel_named(&run, "fa1_paper");
	cr_expect(cJSON_IsTrue(cJSON_GetObjectItem(kernel, "verified")));
	cr_expect(number_at(kernel, "time/median_ms") > 0, "the plain build was not timed");
	cr_expect(strstr(run.err, "seen 0\nseen 1\n"), "%s", run.err);
	cr_expect_null(strstr(run.err, "did not verify"), "%s", run.err);
	free_chapter_run(&run);

	char *command = text("%s %s --tsv - 2>/dev/null", program, prints.options);
	struct outcome o = run_program(LIST("/bin/sh", "-c", command), NOTHING, 60);
	cr_expect_eq(o.status, 0);
	cr_expect_null(strstr(o.out, "seen"), "%s", o.out);
	free_outcome(&o);
	o = run_program(LIST("/bin/sh", "-c", text("%s %s --quiet", program, prints.options)), NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "seen 0\nseen 1\n") && strstr(o.out, "verified"), "%s", o.out);
	free_outcome(&o);
}

/* What a failed run proposes next fails as well: the kernel and the mask are those that were wrong. */
Test(faults, the_small_case_proposed_shows_the_fault, .timeout = 180)
{
	const struct fault mask = {
		"causal off by one",
		CHAPTER_04,
		"first_row + r - first_key + 1 : keys;",
		"first_row + r - first_key + 2 : keys;",
		"--kernel fa1_paper --seq 64 --causal",
		""};
	char *program = build(&mask, plant(read_text(text("%s/04_fa1/fa1.cu", TEST_ROOT)), &mask));
	struct outcome o = run_program(LIST("/bin/sh", "-c", text("%s %s", program, mask.options)), NOTHING, 60);
	const char *next = strstr(o.out, "Next: a case small enough to follow by hand:\n  ./fa1 ");
	cr_expect_eq(o.status, 1);
	cr_assert_not_null(next, "%s", o.out);
	next = strstr(next, "./fa1 ") + 6;
	struct outcome again = run_program(
		LIST("/bin/sh", "-c", text("%s %.*s", program, (int)strcspn(next, "\n"), next)), NOTHING, 60);
	cr_expect_eq(again.status, 1, "%s%s", again.out, again.err);
	free_outcome(&again);
	free_outcome(&o);
}
