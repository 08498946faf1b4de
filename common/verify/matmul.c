#include "verify/matmul.h"

#include "verify/tolerance.h"

#include <math.h>
#include <stdlib.h>

double matmul_tolerance_factor(size_t k)
{
	return 1.0 + (double)k / 2.0;
}

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
		tolerance[j] *= TOLERANCE_EPS * matmul_tolerance_factor(k);
	for (size_t j = 0; j < n && variant.kind == VARIANT_RELU; j++)
		c[j] = fmax(c[j], 0.0);
	for (size_t j = 0; j < n && variant.kind == VARIANT_SOFTCAP; j++) {
		c[j] = variant_cap(variant, c[j]);
		tolerance[j] += 8.0 * TOLERANCE_EPS * fabs(c[j]);
	}
}

int matmul_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	const float *a = find_values(inputs, "A"), *b = find_values(inputs, "B");
	size_t m = problem->m, n = problem->n, k = problem->k;
	*expectations = (struct expectations){.all_rows = m, .row_count = m};

	bool sampled = (double)m * (double)n * (double)k > MOST_PRODUCTS && m > SAMPLED_ROWS;
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
