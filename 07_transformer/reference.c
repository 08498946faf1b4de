/* Open this for RMSNorm, RoPE, a projection and SwiGLU in double precision: what the kernels are compared with.
 *
 * With eps = 2^-23 and eta = 2^-126 (verify/tolerance.h) an element may be off by
 *
 *     normed      eps (8 + C/2) |y|                the sum of C squares; a root halves its error
 *     rotated     4 eps (|a cos| + |b sin|)        three roundings
 *     projected   eps (2 + C/2) (|residual| + sum |w x|)
 *     gated       16 eps |y| + eta |up| (1 + |gate|)   exp, a sum, a quotient, a product; 1 / exp may be flushed
 *     O           as chapters 04 and 05
 *
 * and eta besides.
 */
#include "transformer.h"

#include "problem/tensor.h"
#include "support/error.h"
#include "verify/expectations.h"
#include "verify/grouped_attention.h"
#include "verify/tolerance.h"

#include <math.h>
#include <stdlib.h>

/* Room for an output of so many rows, handed to the expectations; NULL without memory. */
static struct expectation *expect_rows(
	struct expectations *expectations, const char *tensor, size_t rows, size_t length, double **tolerances)
{
	double *values = calloc(rows * length, sizeof *values);
	*tolerances = calloc(rows * length, sizeof **tolerances);
	expectations_own(expectations, values);
	expectations_own(expectations, *tolerances);
	if (!values || !*tolerances)
		return NULL;
	struct expectation *item = &expectations->items[expectations->count++];
	*item = (struct expectation){
		.tensor = tensor,
		.row_count = rows,
		.row_length = length,
		.values = values,
		.tolerances = *tolerances};
	return item;
}

static bool expect_normed(
	const struct problem *problem, const float *x, const float *weight, struct expectations *expectations)
{
	size_t C = problem->heads * problem->dim, rows = problem->seq * problem->heads, d = problem->dim;
	double *tolerances;
	struct expectation *item = expect_rows(expectations, "normed", rows, d, &tolerances);
	if (!item)
		return false;
	double *y = (double *)item->values;
	for (size_t i = 0; i < problem->seq; i++) {
		double squares = 0.0;
		for (size_t c = 0; c < C; c++)
			squares += (double)x[i * C + c] * (double)x[i * C + c];
		for (size_t c = 0; c < C; c++) {
			y[i * C + c] = (double)weight[c] * (double)x[i * C + c] /
			               sqrt(squares / (double)C + (double)EPSILON);
			tolerances[i * C + c] =
				TOLERANCE_EPS * (8.0 + (double)C / 2.0) * fabs(y[i * C + c]) + TOLERANCE_ETA;
		}
	}
	return true;
}

static bool expect_rotated(
	const struct problem *problem, const float *x, const float *angles, struct expectations *expectations)
{
	size_t d = problem->dim, rows = problem->seq * problem->heads;
	double *tolerances;
	struct expectation *item = expect_rows(expectations, "rotated", rows, d, &tolerances);
	if (!item)
		return false;
	double *y = (double *)item->values;
	for (size_t row = 0; row < rows; row++) {
		const float *from = x + row * d, *angle = angles + row / problem->heads * d;
		for (size_t c = 0; c < d; c++) {
			bool second = c % 2, alone = c + 1 == d && !second;
			double own = (double)from[c] * (alone ? 1.0 : (double)angle[c / 2 * 2]), other = 0.0;
			if (!alone)
				other = (double)from[second ? c - 1 : c + 1] * (double)angle[c / 2 * 2 + 1];
			y[row * d + c] = second ? own + other : own - other;
			tolerances[row * d + c] =
				alone ? 0.0 : 4.0 * TOLERANCE_EPS * (fabs(own) + fabs(other)) + TOLERANCE_ETA;
		}
	}
	return true;
}

static bool expect_gated(
	const struct problem *problem, const float *gate, const float *up, struct expectations *expectations)
{
	size_t d = problem->dim, rows = problem->seq * problem->heads;
	double *tolerances;
	struct expectation *item = expect_rows(expectations, "gated", rows, d, &tolerances);
	if (!item)
		return false;
	double *y = (double *)item->values;
	for (size_t i = 0; i < rows * d; i++) {
		y[i] = (double)up[i] * (double)gate[i] / (1.0 + exp(-(double)gate[i]));
		tolerances[i] = 16.0 * TOLERANCE_EPS * fabs(y[i]) +
		                TOLERANCE_ETA * (1.0 + fabs((double)up[i]) * (1.0 + fabs((double)gate[i])));
	}
	return true;
}

/* The rows of an output to compare, of `all`: NULL and all of them, or some drawn with the seed where it would take long. */
static bool draw_rows(
	const struct problem *problem, double products, size_t all, struct expectations *expectations, size_t **rows,
	size_t *count)
{
	*rows = NULL;
	*count = all;
	if (!rows_are_sampled(products, all))
		return true;
	*rows = sample_rows(problem->seed, 1, all, count);
	expectations_own(expectations, *rows);
	return *rows != NULL;
}

/* A row of [N, H, d] is a head of a token: d rows of W. */
static bool expect_projected(
	const struct problem *problem, const float *x, const float *W, const float *residual,
	struct expectations *expectations)
{
	size_t d = problem->dim, C = problem->heads * d, count, *rows;
	double products = (double)problem->seq * (double)C * (double)C, *tolerances;
	if (!draw_rows(problem, products, problem->seq * problem->heads, expectations, &rows, &count))
		return false;
	struct expectation *item = expect_rows(expectations, "projected", count, d, &tolerances);
	if (!item)
		return false;
	item->rows = rows;
	double *y = (double *)item->values;
	for (size_t r = 0; r < count * d; r++) {
		size_t at = (rows ? rows[r / d] : r / d) * d + r % d, output = at % C;
		double sum = (double)residual[at], magnitude = fabs(sum);
		for (size_t c = 0; c < C; c++) {
			double product = (double)W[output * C + c] * (double)x[at / C * C + c];
			sum += product;
			magnitude += fabs(product);
		}
		y[r] = sum;
		tolerances[r] = TOLERANCE_EPS * (2.0 + (double)C / 2.0) * magnitude + TOLERANCE_ETA;
	}
	return true;
}

static bool expect_attention(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations)
{
	size_t count, *rows;
	double products =
		(double)problem->heads * (double)problem->seq * (double)problem->keys * (double)problem->dim;
	return draw_rows(problem, products, problem->seq * problem->heads, expectations, &rows, &count) &&
	       grouped_attention_expect(problem, inputs, rows, count, expectations);
}

static bool expect_all(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations)
{
	const float *x = find_values(inputs, "x"), *weight = find_values(inputs, "weight");
	const float *angles = find_values(inputs, "angles"), *W = find_values(inputs, "W");
	const float *gate = find_values(inputs, "gate");
	return (!weight || expect_normed(problem, x, weight, expectations)) &&
	       (!angles || expect_rotated(problem, x, angles, expectations)) &&
	       (!W || expect_projected(problem, x, W, find_values(inputs, "residual"), expectations)) &&
	       (!gate || expect_gated(problem, gate, find_values(inputs, "up"), expectations)) &&
	       (!find_values(inputs, "Q") || expect_attention(problem, inputs, expectations));
}

int transformer_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	*expectations = (struct expectations){.all_rows = problem->seq * problem->heads};
	if (problem->keys < problem->seq)
		return error_set(
			error, EXIT_USAGE, "--keys: expected at least as many as queries (%zu), got %zu",
			problem->seq, problem->keys);
	if (!heads_are_grouped(problem, error))
		return error->exit_code;
	if (!expect_all(problem, inputs, expectations)) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
	}
	expectations->row_count = expectations->all_rows;
	for (size_t i = 0; i < expectations->count; i++)
		if (expectations->items[i].row_count < expectations->row_count)
			expectations->row_count = expectations->items[i].row_count;
	return 0;
}
