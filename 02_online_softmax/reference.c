/* Open this for softmax in double precision: what the kernels are compared with, and by how much they may differ.
 *
 *     m_i = max_j x_ij   l_i = sum_j exp(x_ij - m_i)   y_ij = exp(x_ij - m_i) / l_i   (y V)_ic = sum_j y_ij v_jc
 *
 * A row of nothing but -inf has m = -inf, l = 0 and y = 0: nothing has no weight.
 *
 * The tolerance. The scores are given, so no dot product was rounded, and m is one of them: it has to be exact. With
 * eps = 2^-23, any order of summation keeps the others within
 *
 *     phi = 8      the exponential, the division, a merge's product: a few roundings each. x - m rounds relative to
 *                  its size t, which makes exp(-t) wrong by t/2 eps exp(-t): less than eps/5 of the largest weight
 *         + C/2    C positive terms summed, each addition off by eps/2 at most
 *
 *     tolerance(l_i)  = eps * l_i * phi
 *     tolerance(y_ij) = eps * max_j y_ij * phi     a row of its own each: a flat row beside a peaked one has weights
 *                                                  as small as the peaked one's errors may be
 *     tolerance(y V)  = sum_j (eps * phi * y_ij + 2^-126) |v_jc|         as in verify/tolerance.h, with S = 0
 *
 * A class's soft-cap rounds two numbers up to c a few times each: 8 c more in phi. With a sink, a whole row may be so
 * small that its quotients are below the smallest normal number, 2^-126, where fp32 has fewer digits: as much more is
 * allowed.
 */
#include "online_softmax.h"

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"
#include "verify/tolerance.h"

#include <math.h>
#include <stdlib.h>

double softmax_weight(double x, double m, struct class_variant variant)
{
	if (x == (double)-INFINITY)
		return 0.0;
	return exp(variant_cap(variant, x) - variant_cap(variant, m));
}

struct softmax_row softmax_reference(const float *x, size_t cols, struct class_variant variant, double *weights)
{
	bool sink = variant.kind == VARIANT_SINK;
	struct softmax_row row = {sink ? 0.0 : -INFINITY, 0.0};
	for (size_t j = 0; j < cols; j++)
		row.m = fmax(row.m, x[j]);
	if (sink)
		row.l = exp(-row.m);
	for (size_t j = 0; j < cols; j++) {
		weights[j] = softmax_weight(x[j], row.m, variant);
		row.l += weights[j];
	}
	for (size_t j = 0; j < cols && row.l > 0.0; j++)
		weights[j] /= row.l;
	return row;
}

/* Arrays [row_count, ...] of the reference and of its tolerances, in the order expectations_free frees them. */
struct outputs {
	double *y, *y_tolerance;   /* [rows, C] */
	double *yv, *yv_tolerance; /* [rows, d]; NULL without V */
	double *m;                 /* [rows] */
	double *l, *l_tolerance;   /* [rows] */
};

static bool allocate(struct outputs *out, size_t rows, size_t cols, size_t dim, struct expectations *expectations)
{
	double **arrays[] = {&out->y,           &out->y_tolerance, &out->m,           &out->l,
	                     &out->l_tolerance, &out->yv,          &out->yv_tolerance};
	size_t sizes[] = {rows * cols, rows * cols, rows, rows, rows, rows * dim, rows * dim};
	for (size_t i = 0; i < sizeof arrays / sizeof arrays[0]; i++) {
		if (sizes[i] == 0)
			continue;
		*arrays[i] = calloc(sizes[i], sizeof(double));
		expectations_own(expectations, *arrays[i]);
		if (!*arrays[i])
			return false;
	}
	return true;
}

static void compute_row(const float *x, const float *v, const struct problem *problem, size_t r, struct outputs *out)
{
	size_t cols = problem->cols, dim = problem->dim;
	double *y = out->y + r * cols, largest = 0.0;
	double cap = problem->variant.kind == VARIANT_SOFTCAP ? (double)problem->variant.value : 0.0;
	double phi = 8.0 + (double)cols / 2.0 + 8.0 * cap;
	double least = problem->variant.kind == VARIANT_SINK ? 0x1p-126 : 0.0;
	struct softmax_row row = softmax_reference(x, cols, problem->variant, y);
	out->m[r] = row.m;
	out->l[r] = row.l;
	out->l_tolerance[r] = TOLERANCE_EPS * row.l * phi;
	for (size_t j = 0; j < cols; j++)
		largest = fmax(largest, y[j]);
	for (size_t j = 0; j < cols; j++)
		out->y_tolerance[r * cols + j] = TOLERANCE_EPS * largest * phi + least;
	for (size_t j = 0; v && j < cols; j++)
		for (size_t c = 0; c < dim; c++) {
			double value = v[j * dim + c];
			out->yv[r * dim + c] += y[j] * value;
			out->yv_tolerance[r * dim + c] += tolerance_of_weight(phi, y[j]) * fabs(value);
		}
}

static void add(struct expectations *expectations, struct expectation expectation)
{
	expectation.row_count = expectations->row_count;
	expectation.rows = expectations->rows;
	expectations->items[expectations->count++] = expectation;
}

int softmax_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	const float *x = find_values(inputs, "x"), *v = find_values(inputs, "V");
	size_t cols = problem->cols, dim = v ? problem->dim : 0;
	if (scores_row(problem) >= problem->rows)
		return error_set(
			error, EXIT_USAGE, "--row: expected a whole number from 0 to %zu, got '%zu'",
			problem->rows - 1, problem->row);
	*expectations = (struct expectations){.all_rows = problem->rows, .row_count = problem->rows};

	double products = (double)problem->rows * (double)cols * (double)(dim ? dim : 1);
	bool sampled = rows_are_sampled(products, problem->rows);
	if (sampled)
		expectations->rows = sample_rows(problem->seed, 1, problem->rows, &expectations->row_count);
	struct outputs out = {.y = NULL};
	if ((sampled && !expectations->rows) || !allocate(&out, expectations->row_count, cols, dim, expectations)) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
	}

	for (size_t r = 0; r < expectations->row_count; r++)
		compute_row(x + (sampled ? expectations->rows[r] : r) * cols, v, problem, r, &out);

	add(expectations, (struct expectation){
				  .tensor = "y",
				  .shape = "RC",
				  .row_length = cols,
				  .values = out.y,
				  .tolerances = out.y_tolerance});
	add(expectations, (struct expectation){.tensor = "m", .row_length = 1, .values = out.m, .tolerance = 0.0});
	add(expectations,
	    (struct expectation){.tensor = "l", .row_length = 1, .values = out.l, .tolerances = out.l_tolerance});
	if (v)
		add(expectations, (struct expectation){
					  .tensor = "y",
					  .shape = "Rd",
					  .row_length = dim,
					  .values = out.yv,
					  .tolerances = out.yv_tolerance});
	return 0;
}
