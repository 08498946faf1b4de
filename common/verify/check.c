#include "verify/check.h"

#include "support/number.h"

#include <math.h>

/* An expected infinity (the maximum of an empty row) is met by the same infinity only. */
static double difference(double actual, double expected)
{
	return isinf(expected) && actual == expected ? 0.0 : fabs(actual - expected);
}

/* error / tolerance; where no error is allowed, any error is infinitely too large. */
static double relative(double error, double tolerance)
{
	return error == 0.0 && tolerance >= 0.0 ? 0.0 : error / tolerance;
}

double check_tolerance(const struct expectation *expectation, size_t r, size_t c)
{
	return expectation->tolerances ? expectation->tolerances[r * expectation->row_length + c]
	                               : expectation->tolerance;
}

double check_element(const struct expectation *expectation, const float *actual, size_t r, size_t c)
{
	size_t row = expectation->rows ? expectation->rows[r] : r, length = expectation->row_length;
	double error = difference(actual[row * length + c], expectation->values[r * length + c]);
	return relative(error, check_tolerance(expectation, r, c));
}

struct check check_tensor(const struct expectation *expectation, const float *actual)
{
	struct check check = {.tensor = expectation->tensor, .tolerance = expectation->tolerance, .max_abs = 0.0};
	size_t length = expectation->row_length;
	for (size_t r = 0; r < expectation->row_count; r++) {
		size_t row = expectation->rows ? expectation->rows[r] : r;
		for (size_t c = 0; c < length; c++) {
			double expected = expectation->values[r * length + c];
			double error = difference(actual[row * length + c], expected);
			double tolerance = check_tolerance(expectation, r, c);
			double power = relative(fabs(expected), tolerance);
			if (power > check.power)
				check.power = power;
			check.compared++;
			bool finite = isfinite(error);
			double ratio = relative(error, tolerance);
			bool worse = check.compared == 1 || !finite || isnan(ratio) || ratio > check_ratio(&check);
			bool is_worst = worse && check.non_finite == 0;
			check.non_finite += !finite;
			if (is_worst) {
				check.tolerance = tolerance;
				check.worst_row = row;
				check.worst_column = c;
				check.max_abs = finite ? error : (double)NAN;
			}
		}
	}
	check.judged = check.power >= 1.0;
	/* Written so that NaN on either side fails. */
	check.passed = check.compared > 0 && check.non_finite == 0 && check.max_abs <= check.tolerance;
	return check;
}

void check_coordinates(
	size_t row, size_t column, size_t row_length, const size_t *shape, size_t rank, size_t coordinates[MAX_RANK])
{
	size_t rest = row * row_length + column;
	for (size_t axis = rank; axis-- > 0; rest /= shape[axis])
		coordinates[axis] = rest % shape[axis];
}

double check_ratio(const struct check *check)
{
	return relative(check->max_abs, check->tolerance);
}

bool check_is_worse(const struct check *a, const struct check *b)
{
	if (a->passed != b->passed)
		return !a->passed;
	return !(check_ratio(a) <= check_ratio(b));
}

static size_t find_row(const struct expectation *expectation, size_t row)
{
	size_t r = 0;
	while (expectation->rows && expectation->rows[r] != row)
		r++;
	return expectation->rows ? r : row;
}

void check_print_worst(
	FILE *out, const struct check *check, const struct expectation *expectation, const float *actual,
	const size_t *shape, size_t rank)
{
	enum { AROUND = 3 };
	size_t at[MAX_RANK], length = expectation->row_length, row = check->worst_row, column = check->worst_column;
	const double *expected = expectation->values + find_row(expectation, row) * length;
	check_coordinates(row, column, length, shape, rank, at);

	fprintf(out, "  %s[", check->tensor);
	for (size_t axis = 0; axis < rank; axis++)
		fprintf(out, "%s%zu", axis ? "," : "", at[axis]);
	fprintf(out, "] is %.9g, expected %.9g (error %.3g, tolerance %.3g)\n",
	        without_nan_sign(actual[row * length + column]), expected[column], check->max_abs, check->tolerance);
	if (check->non_finite)
		fprintf(out, "  %zu of %zu elements are NaN or Inf\n", check->non_finite, check->compared);

	size_t first = column > AROUND ? column - AROUND : 0;
	size_t end = column + AROUND + 1 < length ? column + AROUND + 1 : length;
	if (end - first < 2)
		return;
	fprintf(out, "  around it  %14s  %14s  %10s\n", "got", "expected", "error");
	for (size_t c = first; c < end; c++) {
		double got = without_nan_sign(actual[row * length + c]);
		fprintf(out, "%11s%zu  %14.7g  %14.7g  %10.3g\n", c == column ? "> " : "  ", c, got, expected[c],
		        difference(got, expected[c]));
	}
}
