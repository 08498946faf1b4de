/* Where an output is wrong: tiles of each matrix, the first wrong element in reading order, what stands around it. */
#include "verify/error_map.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static double expected[8192];
static float actual[8192];

static struct error_map map_of(const size_t *shape, size_t rank, size_t row_length, size_t tile)
{
	size_t elements = shape_elements(shape, rank);
	struct expectation expectation = {
		.tensor = "O",
		.row_count = elements / row_length,
		.row_length = row_length,
		.values = expected,
		.tolerance = 0.5};
	struct check check = check_tensor(&expectation, actual);
	struct error_map map;
	cr_assert(error_map_make(&map, &check, &expectation, actual, shape, rank, tile));
	return map;
}

Test(error_map, right_is_right)
{
	const size_t shape[] = {2, 3, 20, 40};
	struct error_map map = map_of(shape, 4, 40, 8);
	cr_assert_eq(map.matrices, 6);
	cr_assert_eq(map.grid_rows, 3);
	cr_assert_eq(map.grid_columns, 3, "%zu", map.grid_columns);
	cr_expect(!map.wrong);
	for (size_t t = 0; t < error_map_tiles(&map); t++)
		cr_expect_eq(map.ratios[t], 0.0f);
	error_map_free(&map);
}

Test(error_map, first_in_reading_order)
{
	const size_t shape[] = {1, 2, 20, 40};
	actual[20 * 40 + 9 * 40 + 35] = 1.0f; /* head 1, row 9, column 35: before ... */
	actual[20 * 40 + 10 * 40 + 2] = 9.0f; /* ... row 10, column 2, which is worse and further left */
	struct error_map map = map_of(shape, 4, 40, 8);
	cr_assert(map.wrong);
	cr_expect_eq(map.first_wrong, 1 * 9 + 1 * 3 + 2);
	cr_expect_eq(map.first.row, 29);
	cr_expect_eq(map.first.column, 35);
	cr_expect_eq(map.around_worst.row, 30);
	cr_expect_eq(map.around_worst.column, 2);
	cr_expect_eq(map.ratios[9 + 3], 18.0f);
	cr_expect_eq(map.first.first_row, 27);
	cr_expect_eq(map.first.first_column, 32);
	cr_expect_eq(map.first.actual[2][3], 1.0);
	cr_expect(map.first.wrong[2][3] && !map.first.wrong[2][2]);
	error_map_free(&map);
}

Test(error_map, not_a_number_is_worst_and_stays)
{
	const size_t shape[] = {16, 16};
	actual[5] = NAN;
	actual[6] = 100.0f;
	struct error_map map = map_of(shape, 2, 16, 0);
	cr_assert(map.wrong);
	cr_expect(isnan(map.ratios[0]));
	cr_expect_eq(map.first.column, 5);
	cr_expect_eq(map.first.first_row, 0, "the window stays inside the matrix");
	error_map_free(&map);
}

Test(error_map, a_statistic_has_one_column)
{
	const size_t shape[] = {1, 2, 50};
	actual[50 + 40] = 2.0f;
	struct error_map map = map_of(shape, 3, 1, 16);
	cr_expect_eq(map.matrices, 2);
	cr_expect_eq(map.rows, 50);
	cr_expect_eq(map.columns, 1);
	cr_expect_eq(map.grid_rows, 4);
	cr_expect_eq(map.first_wrong, 4 + 2);
	error_map_free(&map);
}

Test(error_map, rows_that_were_not_checked)
{
	const size_t shape[] = {40, 10}, rows[] = {1, 20, 21};
	struct expectation expectation = {
		.tensor = "C", .row_count = 3, .row_length = 10, .rows = rows, .values = expected, .tolerance = 0.5};
	actual[21 * 10 + 3] = 1.0f;
	actual[30 * 10] = 7.0f; /* nobody looks there */
	struct check check = check_tensor(&expectation, actual);
	struct error_map map;
	cr_assert(error_map_make(&map, &check, &expectation, actual, shape, 2, 8));
	cr_expect_eq(map.ratios[1], -1.0f);
	cr_expect_eq(map.ratios[2], 2.0f);
	cr_expect_eq(map.ratios[3], -1.0f);
	cr_expect_eq(map.first_wrong, 2);
	cr_expect(isnan(map.first.expected[0][0]), "row 19 was not checked");
	cr_expect_eq(map.first.row, 21);
	error_map_free(&map);
}

Test(error_map, large_outputs_have_larger_tiles)
{
	const size_t shape[] = {4096, 1};
	struct error_map map = map_of(shape, 2, 1, 16);
	cr_expect_leq(map.grid_rows, 32);
	cr_expect_eq(map.grid_rows * map.tile_rows, 4096);
	error_map_free(&map);
}
