/* The command line: strict, and clear about what it wanted. */
#include "gpus.h"
#include "problem/dimensions.h"
#include "problem/options.h"
#include "problem/sweep.h"
#include "support/nearest.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct problem defaults = {.batch = 1, .heads = 1, .seq = 1024, .dim = 64, .seed = 1};

/* What parse takes; a test has a process of its own, and may take more. */
static uint64_t taken = OPTIONS_ATTENTION | OPTIONS_COMMON;

static int parse(struct options *options, struct error *error, const char *line)
{
	char *copy = strdup(line), *argv[64];
	int argc = 0;
	argv[argc++] = strdup("naive");
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return options_parse(argc, argv, taken, &defaults, options, error);
}

static void expect_refused(const char *line, const char *part, const char *more)
{
	struct options options;
	struct error error = {0};
	cr_expect_eq(parse(&options, &error, line), EXIT_USAGE, "'%s' was accepted", line);
	cr_expect(strstr(error.message, part) && strstr(error.message, more), "'%s' said: %s", line, error.message);
	cr_expect(!strchr(error.message, '\n'));
}

Test(options, defaults_stand)
{
	struct options o;
	struct error error;
	cr_assert_eq(parse(&o, &error, ""), 0);
	cr_assert(o.problem.seq == 1024 && o.problem.dim == 64 && !o.problem.causal && o.given == 0);
	cr_assert_eq(o.problem.scale, 0.125f);
	cr_assert_null(o.kernel);
	cr_assert(o.repeat == 0 && o.warmup == 1 && o.color == COLOR_AUTO);
}

Test(options, all_of_a_problem)
{
	struct options o;
	struct error error;
	cr_assert_eq(
		parse(&o, &error,
	              "--batch 2 --heads=3 --seq 17 --dim 59 --causal --scale -2.5e-1 --seed "
	              "18446744073709551615 --input one-hot --load d --save s --kernel naive --repeat 3 "
	              "--warmup 0 --gpu h200 --json - --tsv f --quiet --color never"),
		0, "%s", error.message);
	cr_assert(o.problem.batch == 2 && o.problem.heads == 3 && o.problem.seq == 17 && o.problem.dim == 59);
	cr_assert(o.problem.causal && o.problem.scale == -0.25f && o.problem.seed == UINT64_MAX);
	cr_assert(
		o.problem.input == INPUT_ONE_HOT && o.repeat == 3 && o.warmup == 0 && o.color == COLOR_NEVER &&
		o.quiet);
	cr_assert_str_eq(o.problem.load, "d");
	cr_assert_str_eq(o.json, "-");
	cr_assert(o.given & OPTION_BIT(OPTION_SEQ));
}

Test(options, a_later_option_wins)
{
	struct options o;
	struct error error;
	cr_assert_eq(parse(&o, &error, "--seq 5 --seq 7"), 0);
	cr_assert_eq(o.problem.seq, 7);
}

Test(options, bad_numbers)
{
	static const char *const bad[] = {"0",  "-1",   "abc",     "12x", "1.5", "99999999999999999999",
	                                  "+4", "0x10", "16777217"};
	for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
		char line[64];
		snprintf(line, sizeof line, "--seq %s", bad[i]);
		expect_refused(line, "--seq: expected a whole number from 1 to 16777216", bad[i]);
	}
	expect_refused("--seq=", "--seq: expected", "''");
	expect_refused("--seq \t1", "--seq: expected", "'?1'");
	expect_refused("--scale \t0.5", "--scale: expected", "'?0.5'");
	expect_refused("--seed -1", "--seed", "-1");
	static const char *const numbers[] = {"nan",  "inf",   "-inf", "1e99", "x",   "0.5s",    ".",
	                                      "0x10", "0x1p3", "1e",   "1e+",  "--1", "infinity"};
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		char line[64];
		snprintf(line, sizeof line, "--scale %s", numbers[i]);
		expect_refused(line, "--scale: expected a finite number", numbers[i]);
	}
}

Test(options, good_numbers)
{
	static const struct {
		const char *text;
		float value;
	} good[] = {{"0.5", 0.5f}, {"-2", -2.0f}, {"+1.", 1.0f}, {".25", 0.25f}, {"1e-3", 1e-3f}, {"0010E+0", 10.0f}};
	for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
		char line[64];
		struct options options;
		struct error error = {0};
		snprintf(line, sizeof line, "--scale %s", good[i].text);
		cr_expect_eq(parse(&options, &error, line), 0, "%s", error.message);
		cr_expect_eq(options.problem.scale, good[i].value, "%s", line);
	}
}

Test(options, unknown_and_abbreviated)
{
	expect_refused("--bogus", "--bogus: unknown option, expected one that --help lists", "");
	expect_refused("--se 5", "--se: unknown option", "--");
	expect_refused("--head 2", "--head: unknown option", "--heads");
	expect_refused("--head=2", "--head", "--heads");
	expect_refused("--caus", "--caus: unknown option", "--causal");
	expect_refused("-n 5", "-n: unknown option", "");
	expect_refused("--causal -ab 5", "-ab: unknown option", "--help");
	expect_refused("-", "-: unexpected argument", "");
	for (int c = 1; c < 256; c++) /* no character is an option, whatever its code; no line is broken */
		if (!strchr(" -", c)) {
			char shown = c < ' ' || c == 0x7f ? '?' : (char)c;
			expect_refused(
				(char[]){'-', (char)c, '\0'}, (char[]){'-', shown, ':', '\0'}, " unknown option");
		}
	expect_refused("--causal=1", "--causal: takes no value", "");
	expect_refused("--seq", "--seq: expected a value N", "");
	expect_refused("extra", "extra: unexpected argument", "");
	expect_refused("--input fuzzy", "--input: expected one of random, ", "'fuzzy'");
	expect_refused("--color blue", "--color: expected one of auto, always, never", "'blue'");
	expect_refused("--load=", "--load: expected DIR", "");
}

Test(options, a_near_option_is_suggested)
{
	static const char *const near[][2] = {
		{"--sequence=5", "--sequence: unknown option, did you mean --seq?"},
		{"--SEQ 5", "--SEQ: unknown option, did you mean --seq?"},
		{"-seq 5", "-seq: unknown option, did you mean --seq?"},
		{"--head-dim 5", "--head-dim: unknown option, did you mean --dim?"},
		{"--casual", "--casual: unknown option, did you mean --causal?"},
		{"--tim", "--tim: unknown option, did you mean --time?"},
		{"--input logits", "got 'logits'; did you mean large-logits?"},
		{"--color allways", "got 'allways'; did you mean always?"},
	};
	for (size_t i = 0; i < sizeof near / sizeof near[0]; i++)
		expect_refused(near[i][0], near[i][1], "");
	/* What is near nothing, and what another chapter takes and this one does not, gets no suggestion. */
	expect_refused("--row 5", "--row: does not apply", "");
	expect_refused("--ro 5", "--ro: unknown option, expected one that --help lists", "");
	char *long_word = malloc(5000);
	memset(long_word, 'q', 4999);
	long_word[4999] = '\0';
	memcpy(long_word, "--", 2);
	expect_refused(long_word, ": unknown option", "");
}

Test(options, the_nearest_word)
{
	const char *const words[] = {"matmul_naive", "matmul_tiled", "matmul_padded", "fa2_row", "h100", "h200", "m"};
	const size_t count = sizeof words / sizeof words[0];
	char said[NEAREST_TEXT_SIZE];
	cr_expect_str_eq(nearest_word("tiled", words, count), "matmul_tiled");
	cr_expect_str_eq(nearest_word("matmul_pading", words, count), "matmul_padded");
	cr_expect_str_eq(nearest_word("row", words, count), "fa2_row");
	cr_expect_str_eq(nearest_word("H200", words, count), "h200");
	cr_expect_str_eq(nearest_word("h010", words, count), "h100", "two letters exchanged are one mistake");
	cr_expect_str_eq(nearest_word("h300", words, count), "h100", "of two as near the first");
	cr_expect_null(nearest_word("", words, count));
	cr_expect_null(nearest_word("n", words, count), "another letter is another word");
	cr_expect_null(nearest_word("ul", words, count), "two letters are part of much");
	cr_expect_null(nearest_word("b200x9", words, 4));
	cr_expect_null(nearest_word("x", words, 0));
	cr_expect_str_eq(nearest_text("fa2_rwo", words, count, said), "; did you mean fa2_row?");
	cr_expect_str_eq(nearest_text("bogus", words, count, said), "");
}

static void expect_taken(const char *line)
{
	struct options options;
	struct error error = {0};
	cr_expect_eq(parse(&options, &error, line), 0, "'%s' said: %s", line, error.message);
}

/* The least and the most of each option that counts: they are taken, one less and one more are not. */
Test(options, each_limit_from_both_sides)
{
	static const struct {
		const char *name;
		long long least, most;
	} counts[] = {{"batch", 1, 1 << 20},  {"heads", 1, 1 << 20},  {"kv-heads", 1, 1 << 20},
	              {"seq", 1, 1 << 24},    {"keys", 1, 1 << 24},   {"splits", 1, 65535},
	              {"page", 1, 1 << 24},   {"rows", 1, 1 << 28},   {"cols", 1, 1 << 28},
	              {"m", 1, 1 << 20},      {"n", 1, 1 << 20},      {"k", 1, 1 << 20},
	              {"dim", 1, 128},        {"tile-q", 1, 1024},    {"tile-k", 1, 65536},
	              {"window", 1, 1 << 24}, {"block", 1, 1 << 28},  {"row", 0, 1 << 28},
	              {"repeat", 1, 1 << 20}, {"warmup", 0, 1 << 20}, {"prompt x --tokens", 1, 1 << 20}};
	taken = OPTION_BIT(OPTIONS) - 1;
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		for (int side = 0; side < 2; side++) {
			long long limit = side ? counts[i].most : counts[i].least;
			char line[80];
			snprintf(line, sizeof line, "--%s %lld", counts[i].name, limit);
			expect_taken(line);
			snprintf(line, sizeof line, "--%s %lld", counts[i].name, side ? limit + 1 : limit - 1);
			expect_refused(line, "expected a whole number from ", "");
		}
	expect_taken("--dropout 0");
	expect_taken("--dropout 0.999");
}

/* A file, too, may have each extent from the least to the most, and none beside them. Kills: a limit that is off by one
 * where a file fixes a dimension, a dimension in another's place, one that is fixed twice. */
Test(options, each_limit_of_a_file)
{
	for (size_t i = 0; i < DIMENSIONS; i++) {
		const struct dimension *of = &dimensions[i];
		if (of->letter[1] || dimension_of_letter(of->letter[0]) != of)
			continue; /* no letter of a shape, or another one's */
		const size_t extents[] = {of->least - 1, of->least, of->most, of->most + 1};
		for (size_t j = of->least == 0; j < 4; j++) {
			struct problem problem = {0};
			struct error error;
			uint64_t fixed = 0;
			const bool fits = j == 1 || j == 2;
			cr_expect_eq(
				dimension_fix("f", of->letter[0], extents[j], &problem, &fixed, &error),
				fits ? 0 : EXIT_USAGE, "%s of %zu", of->name, extents[j]);
			cr_expect_eq(dimension_value(of, &problem), extents[j], "%s", of->name);
			cr_expect_eq(
				dimension_fix("f", of->letter[0], extents[j] - 1, &problem, &fixed, &error),
				EXIT_USAGE, "%s is fixed already", of->name);
		}
	}
}

/* All are at most 64, and so many tokens as --seq may have; cases/09_variants.tsv has the rest. */
Test(options, limits_of_lengths)
{
	char line[200] = "--lengths 1";
	taken |= OPTION_BIT(OPTION_LENGTHS);
	for (int i = 1; i < 64; i++)
		strcat(line, ",1");
	expect_taken(line);
	expect_refused(strcat(line, ",1"), "--lengths: expected 1 to 64 whole numbers above 0", "");
	expect_taken("--lengths 16777215,1");
	expect_refused("--lengths 16777215,2", "whose sum is at most 16777216", "");
	expect_taken("--lengths 3,4 --seq 7 --batch 1");
	expect_refused("--lengths 3,4 --seq 6", "--seq: expected 7, the sum of --lengths, got 6", "");
}

Test(options, what_does_not_go_together)
{
	expect_refused("--json - --tsv -", "--json -, --tsv -", "standard output");
	expect_refused("--tsv - --explain -", "--tsv -, --explain -", "standard output");
	expect_refused("--sweep --seq 5", "--seq: not with --sweep", "");
	expect_refused("--sweep --json x", "--json: not with --sweep", "");
	expect_refused("--sweep --explain x", "--explain: not with --sweep", "");
	expect_refused("--sweep --save x", "--save: not with --sweep", "");
	expect_refused("--sweep --load x", "--load: not with --sweep", "");
	expect_refused("--json x --explain x", "--json, --explain: x: each needs a file of its own", "");
	expect_refused("--tsv x --explain x", "--tsv, --explain: x: each needs a file of its own", "");
	expect_refused("--json - --explain /dev/stdout", "--json -, --explain -", "standard output");
	expect_refused("--json /dev/fd/1 --tsv /proc/self/fd/1", "--json -, --tsv -", "standard output");
	taken = OPTION_BIT(OPTIONS) - 1;
	static const char *const sizes[] = {"lengths 3,4", "seq 5", "keys 5",     "splits 5", "cols 5", "m 5",
	                                    "n 5",         "k 5",   "values 1,2", "row 0",    "trace"};
	static const char *const with_prompt[] = {"tokens 5", "model x", "temperature 0", "top-p 1", "count-all"};
	for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
		char line[80];
		snprintf(line, sizeof line, "--sweep --%s", sizes[i]);
		expect_refused(line, ": not with --sweep, which chooses the sizes", strtok(strdup(sizes[i]), " "));
	}
	for (size_t i = 0; i < sizeof with_prompt / sizeof with_prompt[0]; i++) {
		char line[80];
		snprintf(line, sizeof line, "--%s", with_prompt[i]);
		expect_refused(line, ": needs --prompt", "");
	}
	expect_refused("--prompt x --explain y", "--explain: not with --prompt", "");
	expect_refused("--prompt x --sweep --explain y", "--explain: not with --sweep, nor with --prompt", "");
}

/* A value of each option of a problem that is none's default; a new option gets its line here. */
static const char *const problem_values[PROBLEM_OPTIONS] = {
	[OPTION_BATCH] = "--batch=2",
	[OPTION_HEADS] = "--heads=3",
	[OPTION_SEQ] = "--seq=17",
	[OPTION_DIM] = "--dim=59",
	[OPTION_CAUSAL] = "--causal",
	[OPTION_SCALE] = "--scale=0.3333333",
	[OPTION_TILE_Q] = "--tile-q=33",
	[OPTION_TILE_K] = "--tile-k=16",
	[OPTION_ROWS] = "--rows=9",
	[OPTION_COLS] = "--cols=7",
	[OPTION_BLOCK] = "--block=3",
	[OPTION_VALUES] = "--values=-1,2",
	[OPTION_ROW] = "--row=0",
	[OPTION_TRACE] = "--trace",
	[OPTION_M] = "--m=6",
	[OPTION_N] = "--n=8",
	[OPTION_K] = "--k=10",
	[OPTION_KV_HEADS] = "--kv-heads=1",
	[OPTION_KEYS] = "--keys=71",
	[OPTION_SPLITS] = "--splits=5",
	[OPTION_PAGE] = "--page=6",
	[OPTION_WINDOW] = "--window=4",
	[OPTION_SOFTCAP] = "--softcap=30.1234567",
	[OPTION_ALIBI] = "--alibi",
	[OPTION_SINK] = "--sink",
	[OPTION_DROPOUT] = "--dropout=0.123456789",
	[OPTION_LENGTHS] = "--lengths=3,14",
	[OPTION_SEED] = "--seed=18446744073709551615",
	[OPTION_INPUT] = "--input=ramp",
	[OPTION_LOAD] = "--load=a/b",
};

static void parse_set(uint64_t set, int argc, const char *const *more, struct options *options)
{
	const uint64_t all = OPTION_BIT(OPTIONS) - 1;
	char *argv[2 * PROBLEM_ARGUMENTS] = {strdup("program")};
	int count = 1;
	for (int i = 0; i < PROBLEM_OPTIONS; i++)
		if (set & OPTION_BIT(i))
			argv[count++] = strdup(problem_values[i]);
	for (int i = 0; i < argc; i++)
		argv[count++] = strdup(more[i]);
	argv[count] = NULL;
	struct error error;
	cr_assert_eq(options_parse(count, argv, all, &defaults, options, &error), 0, "%s", error.message);
}

/* Parsed, written, parsed again: nothing that was given is lost, and the second writing is the first. */
static void expect_survives(uint64_t set)
{
	const uint64_t all = OPTION_BIT(OPTIONS) - 1;
	struct options once, again;
	char first[PROBLEM_ARGUMENTS][32], second[PROBLEM_ARGUMENTS][32];
	const char *written[PROBLEM_ARGUMENTS], *rewritten[PROBLEM_ARGUMENTS];
	if (set & OPTION_BIT(OPTION_LENGTHS))
		set &= ~OPTION_BIT(OPTION_BATCH); /* which --lengths lists */
	parse_set(set, 0, NULL, &once);
	size_t count = options_of_problem(&once, &once.problem, all, first, written);
	parse_set(0, (int)count, written, &again);
	cr_expect_eq(
		set & ~again.given, 0, "of %#llx the options %#llx are not passed on", (unsigned long long)set,
		(unsigned long long)(set & ~again.given));
	cr_assert_eq(options_of_problem(&again, &again.problem, all, second, rewritten), count);
	for (size_t i = 0; i < count; i++)
		cr_expect_str_eq(written[i], rewritten[i]);
	cr_expect(once.problem.scale == again.problem.scale && once.problem.seed == again.problem.seed);
	/* Kills: fewer digits than an fp32 has, with which the plain build would time another problem. */
	cr_expect(
		once.problem.softcap == again.problem.softcap && once.problem.dropout == again.problem.dropout,
		"%.9g and %.9g became %.9g and %.9g", once.problem.softcap, once.problem.dropout,
		again.problem.softcap, again.problem.dropout);
}

/* The arguments that describe a problem give the same problem back: one option, two, three, all but one, all. */
Test(options, a_problem_survives_the_command_line)
{
	const uint64_t all = OPTION_BIT(PROBLEM_OPTIONS) - 1;
	for (int i = 0; i < PROBLEM_OPTIONS; i++) {
		cr_assert(problem_values[i], "option %d is new: give it a value above", i);
		expect_survives(all & ~OPTION_BIT(i));
		for (int j = i; j < PROBLEM_OPTIONS; j++)
			for (int k = j; k < PROBLEM_OPTIONS; k++)
				expect_survives(OPTION_BIT(i) | OPTION_BIT(j) | OPTION_BIT(k));
	}
	expect_survives(all);
}

/* Two runs are the same where each option asked about has the same value. Kills: a type whose values are not compared. */
Test(options, two_runs_agree_or_not)
{
	static const char *const pairs[][2] = {
		{"--causal", ""},
		{"--seq 5", "--seq 6"},
		{"--seed 5", "--seed 6"},
		{"--scale 0.5", "--scale 0.25"},
		{"--softcap 2", "--softcap 3"},
		{"--dropout 0.5", "--dropout 0.25"},
		{"--input ramp", "--input random"},
		{"--lengths 3,5", "--lengths 5,3"},
		{"--lengths 3,5", "--lengths 3,5,1"},
		{"--kernel naive", "--kernel other"},
		{"--kernel naive", ""},
	};
	taken = OPTION_BIT(OPTIONS) - 1;
	for (size_t i = 0; i < sizeof pairs / sizeof pairs[0]; i++) {
		struct options one, other;
		struct error error = {0};
		cr_assert_eq(parse(&one, &error, pairs[i][0]), 0, "%s", error.message);
		cr_assert_eq(parse(&other, &error, pairs[i][1]), 0, "%s", error.message);
		cr_expect(options_agree(&one, &one, one.given), "%s", pairs[i][0]);
		cr_expect_not(options_agree(&one, &other, one.given), "%s and %s", pairs[i][0], pairs[i][1]);
		cr_expect_not(options_agree(&other, &one, one.given), "%s and %s", pairs[i][1], pairs[i][0]);
		cr_expect(options_agree(&one, &other, 0));
	}
}

/* A step of a sweep is another problem than the one the options gave. */
Test(options, a_step_of_a_sweep_is_passed_on)
{
	struct options o;
	char storage[PROBLEM_ARGUMENTS][32];
	const char *arguments[PROBLEM_ARGUMENTS];
	parse_set(OPTION_BIT(OPTION_DIM), 0, NULL, &o);
	struct problem step = o.problem;
	step.seq = 4096;
	size_t count = options_of_problem(&o, &step, OPTIONS_ATTENTION, storage, arguments);
	parse_set(0, (int)count, arguments, &o);
	cr_assert(o.problem.seq == 4096 && o.problem.dim == 59 && !(o.given & OPTION_BIT(OPTION_ROWS)));
}

Test(options, help_lists_what_applies)
{
	char *text = NULL;
	size_t size = 0;
	FILE *out = open_memstream(&text, &size);
	options_print_help(out, OPTIONS_ATTENTION | OPTIONS_COMMON, &defaults);
	fclose(out);
	cr_assert(strstr(text, "--seq N") && strstr(text, "(default 1024)") && strstr(text, "--version"));
	cr_assert_null(strstr(text, "--rows"));
	cr_assert(strstr(text, ", 1 to 128 (default 64)"));
	for (const struct gpu *gpu = gpu_table; gpu->name; gpu++)
		cr_expect(strstr(strstr(text, "--gpu"), gpu->name), "%s", gpu->name);
	for (int kind = 0; kind < INPUT_KINDS; kind++)
		cr_expect(strstr(strstr(text, "--input"), input_kind_names[kind]), "%s", input_kind_names[kind]);
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		cr_expect_leq(strlen(line), 80, "%s", line);
	free(text);
}

static size_t seq(const struct problem *problem)
{
	return problem->seq;
}

static size_t cols(const struct problem *problem)
{
	return problem->cols;
}

static size_t elements(const struct problem *problem)
{
	return problem->rows * problem->cols;
}

static size_t products(const struct problem *problem)
{
	return problem->m == problem->n && problem->n == problem->k ? problem->m : 0;
}

/* What --sweep and the bench go through, on the simulated device and on a GPU: each size twice the one before. */
Test(options, sizes_of_a_sweep)
{
	static const struct {
		bool (*sweep)(size_t, bool, struct problem *);
		size_t (*size)(const struct problem *);
		bool simulated;
		size_t first, last;
	} sweeps[] = {
		{sweep_attention, seq, true, 32, 256},
		{sweep_attention, seq, false, 128, 16384},
		{sweep_backward, seq, true, 16, 128},
		{sweep_backward, seq, false, 64, 16384},
		{sweep_softmax, cols, true, 256, 4096},
		{sweep_softmax, cols, false, 256, 65536},
		{sweep_columns, cols, true, 1, 64},
		{sweep_columns, elements, true, 256, 16384},
		{sweep_columns, elements, false, 1 << 20, 1 << 26},
		{sweep_matmul, products, false, 256, 4096},
	};
	struct problem problem = {.seq = 0};
	for (size_t i = 0; i < sizeof sweeps / sizeof sweeps[0]; i++) {
		size_t step = 0;
		for (size_t size = sweeps[i].first; size <= sweeps[i].last; size *= 2, step++)
			cr_expect(
				sweeps[i].sweep(step, sweeps[i].simulated, &problem) &&
					sweeps[i].size(&problem) == size,
				"sweep %zu, step %zu", i, step);
		cr_expect_not(sweeps[i].sweep(step, sweeps[i].simulated, &problem), "sweep %zu", i);
	}
	static const size_t of_tiles[] = {32, 64, 96, 128, 192};
	for (size_t step = 0; step < 5; step++)
		cr_expect(sweep_matmul(step, true, &problem) && products(&problem) == of_tiles[step]);
	cr_expect_not(sweep_matmul(5, true, &problem));
}
