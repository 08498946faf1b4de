/* Open this for C = A B in double precision: what the kernels are compared with, and by how much they may differ.
 *
 * k products are rounded once each and summed in k - 1 additions; an fp32 sum of k terms is off by at most k eps/2 of
 * the sum of their magnitudes, in any order, fused or not (Higham, Accuracy and Stability, 3.1; eps = 2^-23). So
 *
 *     tolerance(C_ij) = eps * (1 + k/2) * sum_p |a_ip b_pj|          for each element its own
 *
 * A class's soft-cap c rounds a few times more, relative to what it returns, and its tanh may be made of exponentials, which
 * leave roundings as large as c: eps (8 |C_ij| + 4 c) on top. Neither it nor a ReLU makes an error larger.
 *
 * The errors of ordinary sums are far smaller, they go with sqrt(k); a term that is missing or doubled is far larger.
 */
#include "tiled_matmul.h"

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"
#include "verify/tolerance.h"

#include <math.h>
#include <stdlib.h>

/* One row of C and of its tolerances, row p of B after row p of B: the order that memory likes. */
static void compute_row(
	const float *a, const float *b, size_t k, size_t n, struct class_variant variant, double *c,
	double *tolerance)
{
	for (size_t p = 0; p < k; p++)
		for (size_t j = 0; j < n; j++) {
			double product = (double)a[p] * (double)b[p * n + j];
			c[j] += product;
			tolerance[j] += fabs(product);
		}
	for (size_t j = 0; j < n; j++)
		tolerance[j] *= TOLERANCE_EPS * (1.0 + (double)k / 2.0);
	for (size_t j = 0; j < n && variant.kind == VARIANT_RELU; j++)
		c[j] = fmax(c[j], 0.0);
	for (size_t j = 0; j < n && variant.kind == VARIANT_SOFTCAP; j++) {
		c[j] = variant_cap(variant, c[j]);
		tolerance[j] += TOLERANCE_EPS * (8.0 * fabs(c[j]) + 4.0 * (double)variant.value);
	}
}

int matmul_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	const float *a = find_values(inputs, "A"), *b = find_values(inputs, "B");
	size_t m = problem->m, n = problem->n, k = problem->k;
	*expectations = (struct expectations){.all_rows = m, .row_count = m};

	bool sampled = rows_are_sampled((double)m * (double)n * (double)k, m);
	if (sampled)
		expectations->rows = sample_rows(problem->seed, 1, m, &expectations->row_count);
	double *c = calloc(expectations->row_count * n, sizeof *c);
	double *tolerances = calloc(expectations->row_count * n, sizeof *tolerances);
	expectations_own(expectations, c);
	expectations_own(expectations, tolerances);
	if ((sampled && !expectations->rows) || !c || !tolerances) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
	}
	for (size_t r = 0; r < expectations->row_count; r++)
		compute_row(
			a + (sampled ? expectations->rows[r] : r) * k, b, k, n, problem->variant, c + r * n,
			tolerances + r * n);
	expectations->items[expectations->count++] = (struct expectation){
		.tensor = "C",
		.row_count = expectations->row_count,
		.row_length = n,
		.rows = expectations->rows,
		.values = c,
		.tolerances = tolerances,
	};
	return 0;
}
