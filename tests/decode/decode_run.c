#include "decode_run.h"

#include "problem/inputs.h"
#include "problem/load.h"
#include "program.h"
#include "worse.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

void save(const char *directory, const char *tensor, const float *values, const size_t *shape, size_t rank)
{
	struct error error;
	cr_assert_eq(save_tensor(directory, tensor, values, shape, rank, &error), 0, "%s", error.message);
}

struct npy output_of(const char *kernel, const char *options, const char *environment)
{
	const char *directory = text("%s/%s", scratch_directory(), kernel);
	char *line = text("--kernel %s --quiet --save %s %s", kernel, directory, options);
	struct outcome o = run_line(DECODE, line, LIST(environment), 60);
	struct npy O;
	struct error error;
	cr_assert_eq(o.status, 0, "%s: exit %d, %s", line, o.status, o.err);
	cr_assert_eq(npy_read(text("%s/o.npy", directory), false, &O, &error), 0, "%s", error.message);
	free_outcome(&o);
	return O;
}

void expect_same_bits(struct npy a, struct npy b, const char *what)
{
	size_t bytes = a.shape[0] * a.shape[1] * sizeof(float);
	cr_expect(
		a.shape[0] == b.shape[0] && a.shape[1] == b.shape[1] && memcmp(a.values, b.values, bytes) == 0,
		"%s: O differs", what);
	free(b.values);
}

/* ---- the last row of chapter 05 ---- */

enum { HEADS = 3, TOKENS = 97, DIM = 80 };

/*
 * The same numbers as heads for chapter 05, [1, HEADS or G, N, d], and as rows for chapter 08, [N, HEADS or G, d]; of Q only
 * the last row.
 */
static void save_both_ways(const char *heads, const char *rows, size_t kv_heads)
{
	static const char *const names[] = {"Q", "K", "V"};
	static float of_heads[HEADS * TOKENS * DIM], of_rows[HEADS * TOKENS * DIM];
	for (size_t t = 0; t < 3; t++) {
		size_t count = t == 0 ? HEADS : kv_heads, width = count * DIM;
		const size_t shape[] = {1, count, TOKENS, DIM}, other[] = {TOKENS, count, DIM};
		for (size_t e = 0; e < TOKENS * width; e++) {
			size_t head = e / DIM / TOKENS, row = e / DIM % TOKENS;
			of_heads[e] = of_rows[row * width + head * DIM + e % DIM] = input_normal(5, names[t], e);
		}
		save(heads, names[t], of_heads, shape, 4);
		if (t == 0)
			save(rows, names[t], of_rows + (TOKENS - 1) * width, other + 1, 2);
		else
			save(rows, names[t], of_rows, other, 3);
	}
}

void expect_last_row(const char *kernel_05, const char *kernel, size_t kv_heads, const char *options)
{
	char *heads = text("%s/heads", scratch_directory()), *rows = text("%s/rows", scratch_directory());
	save_both_ways(heads, rows, kv_heads);
	char *line = text("--quiet --kernel %s --causal --load %s --save %s/o %s", kernel_05, heads, heads, options);
	struct outcome o = run_line(FA2, line, NOTHING, 60);
	cr_assert_eq(o.status, 0, "%s: %s", line, o.err);
	struct npy fa2, step = output_of(kernel, text("--load %s --splits 7 --page 5 %s", rows, options), NULL);
	struct error error;
	cr_assert_eq(npy_read(text("%s/o/o.npy", heads), false, &fa2, &error), 0, "%s", error.message);
	double worst = 0.0;
	for (size_t e = 0; e < HEADS * DIM; e++) {
		size_t row = e / DIM * TOKENS + TOKENS - 1;
		worst = worse_of(worst, fabs((double)step.values[e] - (double)fa2.values[row * DIM + e % DIM]));
	}
	cr_expect(worst < 1e-6, "%s, %s: %g off", kernel, options, worst);
	free(step.values);
	free(fa2.values);
	free_outcome(&o);
}
