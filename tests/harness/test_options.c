/* The command line: strict, and clear about what it wanted. */
#include "problem/options.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static const struct problem defaults = {.batch = 1, .heads = 1, .seq = 1024, .dim = 64, .seed = 1};

static int parse(struct options *options, struct error *error, const char *line)
{
	char *copy = strdup(line), *argv[64];
	int argc = 0;
	argv[argc++] = strdup("naive");
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[argc++] = word;
	argv[argc] = NULL;
	return options_parse(argc, argv, OPTIONS_ATTENTION | OPTIONS_COMMON, &defaults, options, error);
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
	cr_assert_eq(parse(&o, &error,
	                   "--batch 2 --heads=3 --seq 17 --dim 59 --causal --scale -2.5e-1 --seed "
	                   "18446744073709551615 --input one-hot --load d --save s --kernel naive --repeat 3 "
	                   "--warmup 0 --gpu h200 --json - --tsv f --quiet --color never"),
	             0, "%s", error.message);
	cr_assert(o.problem.batch == 2 && o.problem.heads == 3 && o.problem.seq == 17 && o.problem.dim == 59);
	cr_assert(o.problem.causal && o.problem.scale == -0.25f && o.problem.seed == UINT64_MAX);
	cr_assert(o.problem.input == INPUT_ONE_HOT && o.repeat == 3 && o.warmup == 0 && o.color == COLOR_NEVER &&
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
	expect_refused("--dim 129", "--dim: expected a whole number from 1 to 128", "129");
	expect_refused("--dim 999", "--dim", "128");
	expect_refused("--dim 0", "--dim", "128");
	expect_refused("--repeat 0", "--repeat", "0");
	expect_refused("--seed -1", "--seed", "-1");
	static const char *const numbers[] = {"nan", "inf", "-inf", "1e99", "x", "0.5s", "."};
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		char line[64];
		snprintf(line, sizeof line, "--scale %s", numbers[i]);
		expect_refused(line, "--scale: expected a finite number", numbers[i]);
	}
}

Test(options, unknown_and_abbreviated)
{
	expect_refused("--bogus", "--bogus: unknown option", "--help");
	expect_refused("--se 5", "--se: unknown option", "--");
	expect_refused("--head 2", "--head: unknown option", "--heads");
	expect_refused("--head=2", "--head", "--heads");
	expect_refused("--caus", "--caus: unknown option", "--causal");
	expect_refused("-n 5", "-n: unknown option", "");
	expect_refused("--causal=1", "--causal: takes no value", "");
	expect_refused("--seq", "--seq: expected a value N", "");
	expect_refused("extra", "extra: unexpected argument", "");
	expect_refused("--input fuzzy", "--input: expected random", "'fuzzy'");
	expect_refused("--color blue", "--color: expected auto", "'blue'");
	expect_refused("--load=", "--load: expected DIR", "");
}

Test(options, what_does_not_apply_is_refused)
{
	static const char *const other[] = {"--rows 4", "--tile-q 64",  "--m 3",
	                                    "--trace",  "--values 1,2", "--block 3"};
	for (size_t i = 0; i < sizeof other / sizeof other[0]; i++)
		expect_refused(other[i], "does not apply to this chapter", "");
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
}

/* The arguments that describe a problem give the same problem back. */
Test(options, a_problem_survives_the_command_line)
{
	struct options o, again;
	struct error error;
	cr_assert_eq(parse(&o, &error,
	                   "--heads 3 --seq 17 --dim 59 --causal --scale 0.3333333 --seed 9 --input ramp --load a/b"),
	             0);
	char storage[32][32], line[1024] = "";
	const char *arguments[32];
	size_t count = options_of_problem(&o.problem, OPTIONS_ATTENTION | OPTIONS_COMMON, storage, arguments, 32);
	for (size_t i = 0; i < count; i++) {
		strcat(line, arguments[i]);
		strcat(line, " ");
	}
	cr_assert_eq(parse(&again, &error, line), 0, "%s: %s", line, error.message);
	cr_assert(again.problem.heads == 3 && again.problem.seq == 17 && again.problem.dim == 59 &&
	          again.problem.causal);
	cr_assert(again.problem.scale == o.problem.scale && again.problem.seed == 9 &&
	          again.problem.input == INPUT_RAMP);
	cr_assert_str_eq(again.problem.load, "a/b");
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
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n"))
		cr_expect_leq(strlen(line), 80, "%s", line);
	free(text);
}
