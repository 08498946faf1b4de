#include "expect.h"

#include "gpu.h"

#include "support/number.h"
#include "verify/tolerance.h"

#include <math.h>
#include <stdlib.h>

static const double most_elements = 0x1p26;
enum { LONGEST_RUNNING_SUM = 1 << 16, WARP_LANES = 32 };

/* ---- room ---- */

/* Rows to compare, of `all`: of an output that has a row of x in each of its rows, or a column. */
struct drawn {
	size_t all, count;
	size_t *rows; /* NULL: all */
};

static bool draw(const struct problem *problem, size_t all, struct expectations *expectations, struct drawn *drawn)
{
	*drawn = (struct drawn){all, all, NULL};
	if ((double)problem->rows * (double)problem->cols <= most_elements || all <= SAMPLED_ROWS)
		return true;
	drawn->rows = sample_rows(problem->seed, 1, all, &drawn->count);
	expectations_own(expectations, drawn->rows);
	return drawn->rows != NULL;
}

/* An output that has to be exact; NULL without memory. */
static struct expectation *expect_exactly(
	const char *tensor, const char *shape, const struct drawn *drawn, size_t length,
	struct expectations *expectations)
{
	double *values = calloc(drawn->count * length, sizeof *values);
	expectations_own(expectations, values);
	if (!values)
		return NULL;
	struct expectation *item = &expectations->items[expectations->count++];
	*item = (struct expectation){
		.tensor = tensor,
		.shape = shape,
		.row_count = drawn->count,
		.row_length = length,
		.rows = drawn->rows,
		.values = values};
	return item;
}

static size_t row_of(const struct expectation *item, size_t r)
{
	return item->rows ? item->rows[r] : r;
}

/* ---- places ---- */

typedef size_t place_function(size_t element, size_t elements);

static size_t grid_of(size_t element, size_t elements)
{
	(void)element;
	return ceil_div(elements, THREADS_PER_BLOCK);
}

static size_t block_of(size_t element, size_t elements)
{
	(void)elements;
	return element / THREADS_PER_BLOCK;
}

static size_t thread_of(size_t element, size_t elements)
{
	(void)elements;
	return element % THREADS_PER_BLOCK;
}

static size_t warp_of(size_t element, size_t elements)
{
	return thread_of(element, elements) / WARP_LANES;
}

static size_t lane_of(size_t element, size_t elements)
{
	return thread_of(element, elements) % WARP_LANES;
}

static bool expect_places(const struct problem *problem, const struct drawn *rows, struct expectations *expectations)
{
	static const struct {
		const char *tensor;
		place_function *place;
	} places[] = {
		{"grid", grid_of}, {"block", block_of}, {"thread", thread_of}, {"warp", warp_of}, {"lane", lane_of}};
	size_t C = problem->cols, count = problem->rows * C;
	for (size_t p = 0; p < sizeof places / sizeof places[0]; p++) {
		struct expectation *item = expect_exactly(places[p].tensor, "RC", rows, C, expectations);
		if (!item)
			return false;
		double *values = (double *)item->values;
		for (size_t t = 0; t < item->row_count * C; t++)
			values[t] = (double)places[p].place(row_of(item, t / C) * C + t % C, count);
	}
	return true;
}

/* ---- copies, transposes, sums ---- */

static bool expect_copies(
	const struct problem *problem, const float *x, const struct drawn *rows, const struct drawn *columns,
	struct expectations *expectations)
{
	size_t R = problem->rows, C = problem->cols;
	struct expectation *copy = expect_exactly("y", "RC", rows, C, expectations);
	struct expectation *transpose = copy ? expect_exactly("y", "CR", columns, R, expectations) : NULL;
	if (!transpose)
		return false;
	double *values = (double *)copy->values;
	for (size_t t = 0; t < copy->row_count * C; t++)
		values[t] = (double)x[row_of(copy, t / C) * C + t % C];
	values = (double *)transpose->values;
	for (size_t t = 0; t < transpose->row_count * R; t++)
		values[t] = (double)x[t % R * C + row_of(transpose, t / R)];
	return true;
}

/* Adds up a row in the order of the kernels; *sizes becomes the sum of the magnitudes of all results on the way. */
static double sum_of(const float *row, size_t cols, double *sizes)
{
	double partial[THREADS_PER_BLOCK] = {0.0};
	*sizes = 0.0;
	for (size_t j = 0; j < cols; j++)
		*sizes += fabs(partial[j % THREADS_PER_BLOCK] += (double)row[j]);
	for (size_t half = THREADS_PER_BLOCK / 2; half > 0; half /= 2)
		for (size_t t = 0; t < half; t++)
			*sizes += fabs(partial[t] += partial[t + half]);
	return partial[0];
}

static double running_sizes(const float *row, size_t cols)
{
	double sum = 0.0, sizes = 0.0;
	for (size_t j = 0; j < cols; j++)
		sizes += fabs(sum += (double)row[j]);
	return sizes;
}

static bool expect_sums(
	const struct problem *problem, const float *x, const struct drawn *rows, struct expectations *expectations)
{
	struct expectation *item = expect_exactly("y", "R", rows, 1, expectations);
	double *tolerances = item ? calloc(item->row_count, sizeof *tolerances) : NULL;
	expectations_own(expectations, tolerances);
	if (!tolerances)
		return false;
	item->tolerances = tolerances;
	for (size_t r = 0; r < item->row_count; r++) {
		const float *row = x + row_of(item, r) * problem->cols;
		double sizes;
		((double *)item->values)[r] = sum_of(row, problem->cols, &sizes);
		if (problem->cols <= LONGEST_RUNNING_SUM)
			sizes = fmax(sizes, running_sizes(row, problem->cols));
		tolerances[r] = TOLERANCE_EPS / 2.0 * sizes;
	}
	return true;
}

/* Of a kernel without inputs only the places are looked at. */
static bool expect_all(const struct problem *problem, const float *x, struct expectations *expectations)
{
	struct drawn rows, columns;
	return draw(problem, problem->rows, expectations, &rows) &&
	       draw(problem, problem->cols, expectations, &columns) && expect_places(problem, &rows, expectations) &&
	       (!x || (expect_copies(problem, x, &rows, &columns, expectations) &&
	               expect_sums(problem, x, &rows, expectations)));
}

int places_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	*expectations = (struct expectations){.all_rows = problem->rows};
	if (!expect_all(problem, find_values(inputs, "x"), expectations)) {
		expectations_free(expectations);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
	}
	expectations->row_count = expectations->items[0].row_count;
	return 0;
}
