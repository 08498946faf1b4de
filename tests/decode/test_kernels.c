/*
 * The four kernels of chapter 08 through its program: right on every shape and input, what they ask for equal to closed
 * forms worked out here, the same to the bit wherever pages lie, equal to chapter 05 within the tolerance, and a freed page
 * found by the device.
 */
#include "chapter_run.h"
#include "decode_run.h"
#include "page.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char *const kinds[] = {"random", "large-logits", "very-negative", "constant", "one-hot", "ramp"};

struct shape {
	uint64_t n, H, G, d, S, p;
};

static const struct shape shapes[] = {
	/* one token; more splits than tokens, and more than a warp has lanes */
	{1, 1, 1, 1, 1, 1},
	{1, 9, 3, 64, 44, 16},
	{2, 2, 1, 8, 70, 1},
	{31, 3, 3, 40, 33, 7},
	/* groups of 1, 3, 8, 32; nothing divides anything */
	{33, 4, 4, 59, 5, 3},
	{97, 9, 3, 80, 7, 5},
	{113, 8, 1, 80, 13, 16},
	{65, 32, 1, 20, 3, 10},
	{128, 16, 2, 32, 4, 32},
	{200, 6, 2, 111, 9, 1},
	{257, 2, 2, 128, 64, 100},
	{63, 3, 1, 96, 2, 1000},
	/* the table's example */
	{1024, 9, 3, 64, 44, 16},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static char *options_of(const struct shape *s, const char *more)
{
	return text(
		"--seq %d --heads %d --kv-heads %d --dim %d --splits %d --page %d %s", (int)s->n, (int)s->H,
		(int)s->G, (int)s->d, (int)s->S, (int)s->p, more);
}

/* Entries that the splits of a head of keys read, counted key by key. */
static uint64_t words_read(const struct shape *s)
{
	uint64_t words = 0;
	for (uint64_t split = 0; split < s->S; split++)
		for (uint64_t key = split * s->n / s->S; key < (split + 1) * s->n / s->S; key++)
			words += key == split * s->n / s->S || key % s->p == 0;
	return words;
}

static void expect_counts(const char *options, const struct shape *s, const struct chapter_run *run)
{
	uint64_t Hd = s->H * s->d, cache = s->n * s->G * s->d;
	const cJSON *naive = kernel_named(run, "decode_naive"), *grouped = kernel_named(run, "decode_grouped");
	expect_elements(options, naive, "Q", Hd, 0);
	expect_elements(options, naive, "K", s->n * Hd, 0);
	expect_elements(options, naive, "V", s->n * Hd, 0);
	expect_elements(options, naive, "O", 0, Hd);
	expect_elements(options, grouped, "Q", Hd, 0);
	expect_elements(options, grouped, "K", cache, 0);
	expect_elements(options, grouped, "V", cache, 0);
	expect_elements(options, grouped, "O", 0, Hd);
	static const char *const split[] = {"decode_split", "decode_paged"};
	for (int paged = 0; paged < 2; paged++) {
		const cJSON *kernel = kernel_named(run, split[paged]);
		expect_elements(options, kernel, "Q", s->S * Hd, 0);
		expect_elements(options, kernel, paged ? "K pages" : "K", cache, 0);
		expect_elements(options, kernel, paged ? "V pages" : "V", cache, 0);
		expect_elements(options, kernel, "O of splits", s->S * Hd, s->S * Hd);
		expect_elements(options, kernel, "m of splits", s->S * s->H, s->S * s->H);
		expect_elements(options, kernel, "l of splits", s->S * s->H, s->S * s->H);
		expect_elements(options, kernel, "O", 0, Hd);
		expect_elements(options, kernel, "table", paged ? s->G * words_read(s) : 0, 0);
	}
}

Test(kernels, every_shape, .timeout = 120)
{
	for (size_t i = 0; i < SHAPES; i++) {
		char *options = options_of(&shapes[i], text("--input %s", kinds[i % 6]));
		struct chapter_run run = run_verified(DECODE, options);
		expect_counts(options, &shapes[i], &run);
		free_chapter_run(&run);
	}
}

/* The other way round: each kind of input meets shapes of all sorts. */
Test(kernels, every_input, .timeout = 120)
{
	static const struct shape few[] = {{33, 6, 2, 8, 3, 5}, {3, 8, 1, 40, 5, 1}, {100, 3, 3, 64, 40, 16}};
	for (size_t k = 0; k < 6; k++)
		for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
			char *options = options_of(&few[i], text("--input %s --seed %zu", kinds[k], 2 + k));
			struct chapter_run run = run_verified(DECODE, options);
			expect_counts(options, &few[i], &run);
			free_chapter_run(&run);
		}
}

/* Thorough: every n with every d. */
Test(kernels, every_length_with_every_width, .timeout = 600)
{
	static const uint64_t lengths[] = {1, 2, 17, 29, 31, 32, 33, 63, 64, 65, 97, 113, 128, 200, 257};
	static const uint64_t dims[] = {1, 8, 32, 40, 59, 64, 80, 96, 111, 128},
			      groups[][2] = {{1, 1}, {3, 1}, {8, 1}};
	only_when_thorough();
	for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
		for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++) {
			const uint64_t *heads = groups[(n + d) % 3];
			struct shape s = {lengths[n],          heads[0], heads[1], dims[d], 1 + (7 * n + d) % 50,
			                  1 + (n + 5 * d) % 40};
			char *options = options_of(&s, text("--input %s", kinds[(n + 2 * d) % 6]));
			struct chapter_run run = run_one_of_many(DECODE, options);
			expect_counts(options, &s, &run);
			free_chapter_run(&run);
		}
}

Test(kernels, clean_in_every_check_and_order, .timeout = 120)
{
	static const char *const orders[] = {"reverse", "shuffle:1", "shuffle:2", "forward"};
	static const struct shape few[] = {{70, 6, 2, 8, 5, 3}, {3, 8, 1, 33, 7, 1}, {97, 3, 3, 40, 2, 16}};
	for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
		for (size_t order = 0; order < (thorough() ? 4 : 2); order++) {
			char *line = options_of(&few[i], "--quiet");
			struct outcome o = run_line(
				DECODE, line, LIST("SIM_CHECK=all", text("SIM_ORDER=%s", orders[order])), 60);
			cr_expect_eq(o.status, 0, "%s, %s: exit %d\n%s", line, orders[order], o.status, o.err);
			cr_expect_str_empty(o.err, "%s, %s: %s", line, orders[order], o.err);
			free_outcome(&o);
		}
}

/* ---- the same numbers ---- */

/* Pages of every size, in the order that the seed draws, with the inputs of that seed. */
Test(kernels, pages_change_no_bit, .timeout = 120)
{
	static const int sizes[] = {1, 3, 16, 32, 33, 200, 5000};
	for (int seed = 1; seed <= 2; seed++) {
		const char *problem = text("--seq 200 --heads 6 --kv-heads 2 --dim 40 --splits 7 --seed %d", seed);
		struct npy split = output_of("decode_split", problem, NULL);
		for (size_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
			const char *options = text("%s --page %d", problem, sizes[i]);
			expect_same_bits(split, output_of("decode_paged", options, NULL), options);
		}
		expect_same_bits(
			split, output_of("decode_split", problem, "SIM_ORDER=shuffle:3"), "order of threads");
		free(split.values);
	}
}

/* Heads that share a block read the same numbers in the same order; one split is the whole. */
Test(kernels, one_split_is_the_whole, .timeout = 60)
{
	const char *problem = "--seq 113 --heads 8 --kv-heads 2 --dim 59 --splits 1";
	struct npy naive = output_of("decode_naive", problem, NULL);
	expect_same_bits(naive, output_of("decode_grouped", problem, NULL), "grouped");
	expect_same_bits(naive, output_of("decode_split", problem, NULL), "one split");
	free(naive.values);
}

/* ---- the last row of chapter 05 ---- */

Test(kernels, one_step_is_the_last_row_of_chapter_05, .timeout = 60)
{
	static const char *const kernels[] = {"decode_naive", "decode_grouped", "decode_split", "decode_paged"};
	for (size_t k = 0; k < 4; k++)
		expect_last_row("fa2_row", kernels[k], 3, "");
}

/* ---- pages that are not there ---- */

Test(kernels, a_freed_page_is_found, .timeout = 60)
{
	struct outcome whole = run_program(LIST(TEST_BUILD "/decode/pages", "whole"), NOTHING, 30);
	cr_expect_eq(whole.status, 0, "exit %d, %s", whole.status, whole.err);
	cr_expect_str_empty(whole.err, "%s", whole.err);
	struct outcome freed = run_program(LIST(TEST_BUILD "/decode/pages", "freed"), NOTHING, 30);
	cr_expect_neq(freed.status, 0, "a freed page passes: %s", freed.out);
	cr_expect(strstr(freed.err, "Invalid __global__ read") && strstr(freed.err, "freed"), "%s", freed.err);
	cr_expect(strstr(freed.err, "paged.cu"), "%s", freed.err);
	free_outcome(&whole);
	free_outcome(&freed);
}

/* ---- the command line ---- */

Test(kernels, a_screen)
{
	struct outcome o =
		run_line(DECODE, "--seq 100 --heads 4 --kv-heads 2 --dim 8 --splits 5 --verbose", NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "10 of 132 SMs have work"), "%s", o.out);
	expect_page(o.out);
	free_outcome(&o);
}

/* n and S, and how many blocks there are; what is asked for grows by Q and the partials of each split. */
Test(kernels, the_sweep_splits, .timeout = 120)
{
	struct outcome o = run_line(DECODE, "--sweep --kernel decode_split", LIST("SIM_CHECK=none"), 100);
	cr_assert_eq(o.status, 0, "%s", o.err);
	char *columns = strstr(o.out, "# seq\tdim\theads\tkv_heads\tsplits\tpage\tkernel\t");
	cr_assert_not_null(columns, "%s", o.out);
	char *rows = strchr(columns, '\n') + 1, *row;
	static const int splits[] = {1, 4, 16, 44, 88, 176};
	size_t i = 0;
	for (; (row = strsep(&rows, "\n")) && *row; i++) {
		int n = 256 << 2 * (i / 6), S = splits[i % 6];
		const char *begins = text("%d\t64\t9\t3\t%d\t16\tdecode_split\tyes\t", n, S);
		const char *reads =
			text("\t%d\t%d\t", 4 * (2 * n * 192 + S * 576 + S * 9 * 66), 4 * (S * 9 * 66 + 576));
		cr_expect(strncmp(row, begins, strlen(begins)) == 0, "%s: no %s", row, begins);
		cr_expect(strstr(row, reads), "%s: no %s", row, reads);
	}
	cr_expect_eq(i, 18, "%zu rows", i);
	free_outcome(&o);
}

#define USAGE(says, ...) expect_refusal_of(LIST(DECODE, __VA_ARGS__), 2, says)
#define LIMIT(says, ...) expect_refusal_of(LIST(DECODE, __VA_ARGS__), 3, says)

Test(kernels, unusable_shapes)
{
	USAGE("--kv-heads: expected a divisor of the 9 heads, got 2", "--heads", "9", "--kv-heads", "2");
	USAGE("--kv-heads: expected a divisor of the 2 heads, got 4", "--heads", "2", "--kv-heads", "4");
	USAGE("--splits", "--splits", "0");
	USAGE("--splits", "--splits", "65536");
	USAGE("--page", "--page", "0");
	USAGE("--dim", "--dim", "129", "--seq", "1");
	USAGE("--splits: not with --sweep", "--sweep", "--splits", "5");
	USAGE("--causal", "--causal", "--seq", "5");
	USAGE("--kernel: expected one of decode_naive, decode_grouped", "--kernel", "merge");
	LIMIT("33 heads share one of keys", "--heads", "33", "--kv-heads", "1", "--kernel", "decode_grouped");
}
