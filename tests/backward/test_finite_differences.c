/* Chapter 06's kernels in fp32 against finite differences of the double-precision forward. */
#include "finite_differences.h"
#include "problem/load.h"
#include "program.h"
#include "worse.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>

static void save_inputs(const char *directory, const struct setting *s)
{
	const size_t shape[] = {s->inputs.batch, s->inputs.heads, s->inputs.seq, s->inputs.dim};
	struct error error;
	for (int t = 0; t < TENSORS; t++)
		cr_assert_eq(
			save_tensor(directory, tensor_names[t], s->tensors[t], shape, 4, &error), 0, "%s",
			error.message);
}

/* The largest difference of a saved gradient from `expected`. */
static double error_of(const char *path, const double *expected, size_t count)
{
	struct npy array;
	struct error error;
	double worst = 0.0;
	cr_assert_eq(npy_read(path, true, &array, &error), 0, "%s", error.message);
	cr_assert_eq(shape_elements(array.shape, array.rank), count, "%s", path);
	for (size_t i = 0; i < count; i++)
		worst = worse_of(worst, fabs((double)array.values[i] - expected[i]));
	free(array.values);
	return worst;
}

/*
 * What fp32 allows on this problem: the gradients themselves are off by some 2e-7 of the largest, the differences by less
 * than 1e-6.
 */
Test(finite_differences, of_every_kernel)
{
	static const char *const kernels[] = {"backward_naive", "backward_split", "backward_atomic"};
	static const char *const gradients[] = {"dq", "dk", "dv"};
	const char *directory = scratch_directory();
	for (int causal = 0; causal < 2; causal++) {
		struct setting s = set_up(1, 1, 17, 8, causal, 0.35355339f);
		save_inputs(directory, &s);
		for (int k = 0; k < 3; k++) {
			struct outcome o = run_line(
				TEST_BUILD "/chapters/backward",
				text("--load %s --save %s/%s --kernel %s --scale 0.35355339 %s --quiet", directory,
			             directory, kernels[k], kernels[k], causal ? "--causal" : ""),
				NOTHING, 60);
			cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
			free_outcome(&o);
		}
		double *difference = calloc(s.elements, sizeof *difference);
		for (int t = 0; t < 3; t++) {
			double size = 0.0;
			for (size_t i = 0; i < s.elements; i++) {
				difference[i] = finite_difference(&s, t, i);
				size = fmax(size, fabs(difference[i]));
			}
			for (int k = 0; k < 3; k++) {
				const char *path = text("%s/%s/%s.npy", directory, kernels[k], gradients[t]);
				double error = error_of(path, difference, s.elements) / size;
				cr_expect(
					error <= 2e-6, "%s, causal=%d: off by %g of the largest", path, causal,
					error);
			}
		}
		free(difference);
		tear_down(&s);
	}
}
