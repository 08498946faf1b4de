/* Chapter 06's kernels in fp32 against finite differences of the double-precision forward. */
#include "finite_differences.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdlib.h>

/*
 * What fp32 allows on this problem: the gradients themselves are off by some 2e-7 of the largest, the differences by less
 * than 1e-6.
 */
Test(finite_differences, of_every_kernel)
{
	static const char *const kernels[] = {"backward_naive", "backward_split", "backward_atomic"};
	static const char *const gradients[] = {"dq", "dk", "dv"};
	const char *in = scratch_directory();
	for (int causal = 0; causal < 2; causal++) {
		struct setting s = set_up(1, 1, 17, 8, causal, 0.35355339f);
		double *differences[3];
		for (int t = 0; t < 3; t++)
			differences[t] = finite_differences(&s, s.tensors[t], s.elements);
		save_inputs(in, &s);
		for (int k = 0; k < 3; k++) {
			const char *what = text("%s%s", kernels[k], causal ? " --causal" : ""),
				   *out = text("%s/out", in);
			char *said, *options = text("--scale 0.35355339 --quiet --kernel %s", what);
			int status = run_command(
				text("%s/chapters/backward --load %s --save %s %s", TEST_BUILD, in, out, options),
				&said);
			cr_assert_eq(status, 0, "%s", said);
			for (int t = 0; t < 3; t++)
				expect_gradient(out, gradients[t], differences[t], s.elements, 2e-6, what);
		}
		for (int t = 0; t < 3; t++)
			free(differences[t]);
		tear_down(&s);
	}
}
