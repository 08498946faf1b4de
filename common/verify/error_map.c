#include "verify/error_map.h"

#include "support/number.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { USUAL_TILE = 16, MOST_TILES = 4096, MOST_TILES_ACROSS = 32 };

enum { NOT_CHECKED = -1 };

/* Which row of the expectation stands for row `row` of the tensor; NOT_CHECKED if none does. Rows are ascending. */
static ptrdiff_t find_row(const struct expectation *expectation, size_t row)
{
	if (!expectation->rows)
		return (ptrdiff_t)row;
	size_t low = 0, high = expectation->row_count;
	while (low < high) {
		size_t middle = (low + high) / 2;
		if (expectation->rows[middle] < row)
			low = middle + 1;
		else
			high = middle;
	}
	bool found = low < expectation->row_count && expectation->rows[low] == row;
	return found ? (ptrdiff_t)low : NOT_CHECKED;
}

/* Matrices of [rows, columns]. A statistic has a row of one element for each row of its output. */
static void measure(struct error_map *map, size_t row_length, size_t tile)
{
	size_t elements = shape_elements(map->shape, map->rank);
	size_t axis = row_length == 1 && map->shape[map->rank - 1] != 1 ? map->rank - 1 : map->rank - 2;
	map->columns = row_length;
	map->rows = map->rank == 1 && row_length > 1 ? 1 : map->rank == 1 ? map->shape[0] : map->shape[axis];
	map->matrices = elements / (map->rows * map->columns);
	map->tile_rows = tile ? tile : USUAL_TILE;
	map->tile_columns = row_length <= USUAL_TILE ? row_length : USUAL_TILE;
	while (ceil_div(map->rows, map->tile_rows) > MOST_TILES_ACROSS)
		map->tile_rows *= 2;
	while (ceil_div(map->columns, map->tile_columns) > MOST_TILES_ACROSS)
		map->tile_columns *= 2;
	for (;;) {
		map->grid_rows = ceil_div(map->rows, map->tile_rows);
		map->grid_columns = ceil_div(map->columns, map->tile_columns);
		bool one_tile = map->grid_rows == 1 && map->grid_columns == 1;
		if (one_tile || map->matrices * map->grid_rows * map->grid_columns <= MOST_TILES)
			return;
		map->tile_rows *= map->grid_rows > 1 ? 2 : 1;
		map->tile_columns *= map->grid_columns > 1 ? 2 : 1;
	}
}

static void look_around(
	const struct error_map *map, const struct expectation *expectation, const float *actual, size_t row,
	size_t column, struct neighbourhood *around)
{
	size_t matrix = row / map->rows * map->rows, in_matrix = row - matrix;
	size_t rows = map->rows < AROUND_ROWS ? map->rows : AROUND_ROWS;
	size_t columns = map->columns < AROUND_COLUMNS ? map->columns : AROUND_COLUMNS;
	size_t up = in_matrix < rows / 2 ? 0 : in_matrix - rows / 2;
	size_t left = column < columns / 2 ? 0 : column - columns / 2;
	up = up + rows > map->rows ? map->rows - rows : up;
	left = left + columns > map->columns ? map->columns - columns : left;
	*around = (struct neighbourhood){
		.row = row,
		.column = column,
		.first_row = matrix + up,
		.first_column = left,
		.rows = rows,
		.columns = columns};
	for (size_t r = 0; r < rows; r++) {
		ptrdiff_t found = find_row(expectation, matrix + up + r);
		for (size_t c = 0; c < columns; c++) {
			around->actual[r][c] = (double)actual[(matrix + up + r) * map->columns + left + c];
			around->expected[r][c] = (double)NAN;
			if (found == NOT_CHECKED)
				continue;
			size_t of = (size_t)found, column_of = left + c;
			around->expected[r][c] = expectation->values[of * map->columns + column_of];
			around->wrong[r][c] = !(check_element(expectation, actual, of, column_of) <= 1.0);
		}
	}
}

/* Every checked element into its tile. Rows are ascending: the first wrong one met is first in reading order. */
static void compare(struct error_map *map, const struct expectation *expectation, const float *actual)
{
	size_t length = expectation->row_length;
	for (size_t r = 0; r < expectation->row_count; r++) {
		size_t row = expectation->rows ? expectation->rows[r] : r;
		size_t tile_row = row / map->rows * map->grid_rows + row % map->rows / map->tile_rows;
		for (size_t c = 0; c < length; c++) {
			double ratio = check_element(expectation, actual, r, c);
			size_t tile = tile_row * map->grid_columns + c / map->tile_columns;
			float *worst = &map->ratios[tile];
			if (!(ratio <= (double)*worst) && !isnan(*worst)) /* NaN is worst, and stays */
				*worst = (float)ratio;
			if (ratio <= 1.0 || map->wrong)
				continue;
			map->wrong = true;
			map->first_wrong = tile;
			look_around(map, expectation, actual, row, c, &map->first);
		}
	}
}

bool error_map_make(
	struct error_map *map, const struct check *check, const struct expectation *expectation, const float *actual,
	const size_t *shape, size_t rank, size_t tile)
{
	*map = (struct error_map){
		.tensor = check->tensor,
		.rank = rank,
		.worst_error = check->max_abs,
		.worst_tolerance = check->tolerance};
	memcpy(map->shape, shape, rank * sizeof *shape);
	measure(map, expectation->row_length, tile);
	size_t tiles = error_map_tiles(map);
	if (!(map->ratios = malloc(tiles * sizeof *map->ratios)))
		return false;
	for (size_t t = 0; t < tiles; t++)
		map->ratios[t] = -1.0f;
	compare(map, expectation, actual);
	look_around(map, expectation, actual, check->worst_row, check->worst_column, &map->around_worst);
	return true;
}

size_t error_map_tiles(const struct error_map *map)
{
	return map->matrices * map->grid_rows * map->grid_columns;
}

void error_map_free(struct error_map *map)
{
	free(map->ratios);
	*map = (struct error_map){0};
}
