/* What does not fit is refused, with the limit and what was asked; what is the default fits everywhere. */
#include "chapter_run.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void expect_refused(const char *program, const char *options, const char *first, const char *second)
{
	struct chapter_run run = run_chapter(program, NULL, options);
	cr_expect_eq(run.status, 3, "%s: exit %d", options, run.status);
	cr_expect(
		strstr(run.err, first) && strstr(run.err, second), "%s: '%s' lacks '%s' or '%s'", options, run.err,
		first, second);
	cr_expect_null(run.json, "%s: printed a result", options);
	const char *newline = strchr(run.err, '\n');
	cr_expect(newline && newline[1] == '\0', "%s: not one line: %s", options, run.err);
	free_chapter_run(&run);
}

Test(limits, shared_memory)
{
	/* K, V and S: 4 * 512 * (2 * 64 + 64) bytes */
	expect_refused(FA1, "--kernel fa1_paper --seq 1024 --dim 64 --tile-k 512", "393,216 bytes", "232,448");
	expect_refused(
		FA1, "--kernel fa1_paper --seq 1024 --dim 64 --tile-k 512 --gpu rtx4090", "393,216 bytes", "101,376");
	expect_refused(FA1, "--kernel fa1_row --tile-k 512", "262,144 bytes", "232,448");
	expect_refused(FA2, "--kernel fa2_row --tile-k 512", "262,144 bytes", "232,448");
	expect_refused(FA2, "--kernel fa2_row --tile-k 65536 --dim 128", "67,108,864 bytes", "232,448");
}

Test(limits, threads_and_heads)
{
	expect_refused(FA1, "--kernel fa1_row --tile-q 257", "--tile-q 257", "256");
	expect_refused(FA2, "--kernel fa2_row --tile-q 257", "--tile-q 257", "256");
	expect_refused(FA2, "--kernel fa2_split_q --heads 65536 --seq 1 --dim 1", "heads", "65535");
}

/* Without --kernel the ones that fit run, the others are listed as skipped with their limit. */
Test(limits, what_does_not_fit_is_skipped)
{
	struct chapter_run run = run_chapter(FA2, NULL, "--seq 65 --tile-k 512");
	cr_assert_eq(run.status, 0, "%s", run.err);
	const cJSON *skipped = cJSON_GetObjectItem(kernel_named(&run, "fa2_row"), "skipped");
	cr_assert(skipped && strstr(skipped->valuestring, "232,448"));
	cr_assert(cJSON_IsTrue(cJSON_GetObjectItem(kernel_named(&run, "fa2_split_q"), "verified")));
	free_chapter_run(&run);
	expect_refused(FA1, "--tile-q 300 --tile-k 600", "", "");
}

Test(limits, default_tiles_fit_every_gpu, .timeout = 120)
{
	static const char *const gpus[] = {"rtx4090", "a100", "h200"};
	static const int dims[] = {1, 32, 33, 64, 65, 96, 97, 128};
	static const char *const programs[] = {FA1, FA2};
	for (int p = 0; p < 2; p++)
		for (int g = 0; g < 3; g++)
			for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++) {
				struct chapter_run run = run_verified(
					programs[p], text("--seq 3 --dim %d --gpu %s", dims[d], gpus[g]));
				const cJSON *kernel = NULL;
				cJSON_ArrayForEach(kernel, cJSON_GetObjectItem(run.json, "kernels"))
				{
					const char *name = cJSON_GetObjectItem(kernel, "name")->valuestring;
					bool is_row = p == 0 || strcmp(name, "fa2_row") == 0;
					double limit = is_row ? 48 * 1024 : 99 * 1024;
					cr_expect_leq(
						number_at(kernel, "shared_bytes"), limit, "%s, d=%d", name, dims[d]);
				}
				free_chapter_run(&run);
			}
}

/* Twice the tokens: twice the memory here, four times the N x N part in chapter 01. */
Test(limits, memory_grows_linearly)
{
	static const struct {
		int program; /* 0: FA1, 1: FA2 */
		const char *kernel;
		int statistics; /* vectors of N */
	} kernels[] = {{0, "fa1_paper", 2}, {0, "fa1_row", 1},  {1, "fa2_row", 1},
	               {1, "fa2_tile", 1},  {1, "fa2_slab", 1}, {1, "fa2_split_q", 1}};
	for (int N = 32; N <= (thorough() ? 256 : 64); N *= 2) {
		char *options = text("--seq %d --dim 32 --heads 2", N);
		struct chapter_run runs[] = {run_verified(FA1, options), run_verified(FA2, options)};
		struct chapter_run naive = run_verified(NAIVE, options);
		for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++)
			cr_expect_eq(
				number_at(kernel_named(&runs[kernels[k].program], kernels[k].kernel), "peak_bytes"),
				4 * 2 * N * (4 * 32 + kernels[k].statistics), "%s, N=%d", kernels[k].kernel, N);
		cr_expect_eq(
			number_at(kernel_named(&naive, "naive"), "peak_bytes"), 4 * 2 * (4 * N * 32 + 2 * N * N));
		free_chapter_run(&runs[0]);
		free_chapter_run(&runs[1]);
		free_chapter_run(&naive);
	}
}

/* The committed table of make ptxas: registers where the text promises registers. */
static int table_value(const char *table, const char *arch, const char *kernel, int D, int column)
{
	char *start = text("\n%s\t%s\t%d\t", arch, kernel, D);
	const char *row = strstr(table, start);
	int values[5] = {0};
	cr_assert_not_null(row, "no row for %s D=%d on %s: make ptxas", kernel, D, arch);
	cr_assert_eq(
		sscanf(row + strlen(start), "%d\t%d\t%d\t%d\t%d", &values[0], &values[1], &values[2], &values[3],
	               &values[4]),
		5);
	return values[column];
}

Test(limits, registers_as_the_text_says)
{
	static const char *const archs[] = {"sm_80", "sm_90"};
	static const char *const in_registers[] = {"fa2_tile", "fa2_slab", "fa2_split_q"};
	enum { REGISTERS, STACK, SPILL_STORES, SPILL_LOADS };
	char *fa1 = read_text(TEST_ROOT "/gpu/compiled/04_fa1.ptxas.tsv"),
	     *fa2 = read_text(TEST_ROOT "/gpu/compiled/05_fa2.ptxas.tsv");
	cr_assert(fa1 && fa2);
	for (int a = 0; a < 2; a++) {
		for (int D = 32; D <= 128; D += 32) {
			int stack = table_value(fa1, archs[a], "fa1_row", D, STACK);
			cr_expect(D == 128 ? stack > 0 : stack == 0, "fa1_row D=%d: %d bytes of stack", D, stack);
			cr_expect_eq(table_value(fa1, archs[a], "fa1_paper", D, STACK), 0);
			for (int k = 0; k < 3; k++) {
				cr_expect_eq(table_value(fa2, archs[a], in_registers[k], D, STACK), 0);
				cr_expect_eq(table_value(fa2, archs[a], in_registers[k], D, SPILL_STORES), 0);
			}
		}
	}
}
