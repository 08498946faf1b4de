#include "verify/check.h"

#include "support/number.h"

#include <math.h>
#include <stdlib.h>

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

/* What an element scores: NaN stays, and a row that fails makes all its elements fail. */
static double with_row(double ratio, double of_row)
{
	return of_row > 1.0 && of_row > ratio ? of_row : ratio;
}

/* |row - expected row| / bound, and in *power what zeros would score; 0 where no bound is given. */
static double row_ratio(const struct expectation *expectation, const float *actual, size_t r, double *power)
{
	double error = 0.0, expected = 0.0, bound = expectation->row_bounds ? expectation->row_bounds[r] : 0.0;
	size_t row = expectation->rows ? expectation->rows[r] : r, length = expectation->row_length;
	for (size_t c = 0; bound > 0.0 && c < length; c++) {
		double value = expectation->values[r * length + c];
		error += pow((double)actual[row * length + c] - value, 2.0);
		expected += value * value;
	}
	*power = bound > 0.0 ? sqrt(expected) / bound : 0.0;
	return bound > 0.0 ? sqrt(error) / bound : 0.0;
}

double check_element(const struct expectation *expectation, const float *actual, size_t r, size_t c)
{
	size_t row = expectation->rows ? expectation->rows[r] : r, length = expectation->row_length;
	double error = difference(actual[row * length + c], expectation->values[r * length + c]);
	double power, ratio = relative(error, check_tolerance(expectation, r, c));
	return with_row(ratio, row_ratio(expectation, actual, r, &power));
}

static int compare_numbers(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

/* Of the rows that are judged. Sorts them; without memory there is no median. */
static void summarize_powers(struct check *check, double *powers, size_t count)
{
	check->rows = count;
	if (!powers)
		return;
	qsort(powers, count, sizeof *powers, compare_numbers);
	while (check->rows_not_judged < count && !(powers[check->rows_not_judged] >= 1.0))
		check->rows_not_judged++;
	if (check->rows_not_judged == count)
		return;
	check->least_power = powers[check->rows_not_judged];
	check->median_power = powers[check->rows_not_judged + (count - check->rows_not_judged) / 2];
}

struct check check_tensor(const struct expectation *expectation, const float *actual)
{
	struct check check = {.tensor = expectation->tensor, .tolerance = expectation->tolerance, .max_abs = 0.0};
	size_t length = expectation->row_length;
	double *powers = calloc(expectation->row_count, sizeof *powers), worst = 0.0;
	for (size_t r = 0; r < expectation->row_count; r++) {
		size_t row = expectation->rows ? expectation->rows[r] : r;
		double row_power, of_row = row_ratio(expectation, actual, r, &row_power);
		for (size_t c = 0; c < length; c++) {
			double expected = expectation->values[r * length + c];
			double error = difference(actual[row * length + c], expected);
			double tolerance = check_tolerance(expectation, r, c);
			double power = relative(fabs(expected), tolerance);
			row_power = fmax(row_power, power);
			check.compared++;
			bool finite = isfinite(error);
			double ratio = with_row(relative(error, tolerance), of_row);
			bool worse = check.compared == 1 || !finite || isnan(ratio) || ratio > worst ||
			             (ratio == worst && ratio > 1.0 && error > check.max_abs);
			bool is_worst = worse && check.non_finite == 0;
			check.non_finite += !finite;
			if (is_worst) {
				check.tolerance = tolerance;
				check.worst_row = row;
				check.worst_column = c;
				worst = ratio;
				check.max_abs = finite ? error : (double)NAN;
			}
		}
		check.row_ratio = fmax(check.row_ratio, of_row);
		check.power = fmax(check.power, row_power);
		if (powers)
			powers[r] = row_power;
	}
	summarize_powers(&check, powers, expectation->row_count);
	free(powers);
	check.judged = check.power >= 1.0;
	/* Written so that NaN on either side fails. */
	check.passed = check.compared > 0 && check.non_finite == 0 && check.max_abs <= check.tolerance &&
	               check.row_ratio <= 1.0;
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
	return with_row(relative(check->max_abs, check->tolerance), check->row_ratio);
}

bool check_fails_by_row(const struct check *check)
{
	return check->row_ratio > 1.0 && check->max_abs <= check->tolerance;
}

bool check_is_worse(const struct check *a, const struct check *b)
{
	if (a->passed != b->passed)
		return !a->passed;
	const double of_a = check_ratio(a), of_b = check_ratio(b);
	return isnan(of_a) ? !isnan(of_b) : of_a > of_b;
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
	if (check_fails_by_row(check))
		fprintf(out, "  its row as a whole is off by %.3g times what roundings of random sign explain\n",
		        check->row_ratio);
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
