/*
 * Where an output is wrong: its error in tiles, the first tile that is, and what stands around an element. For the
 * page of --explain; the verdict is check.h's alone.
 */
#ifndef VERIFY_ERROR_MAP_H
#define VERIFY_ERROR_MAP_H

#include "verify/check.h"

enum { AROUND_ROWS = 5, AROUND_COLUMNS = 7 };

/* An element and its neighbors in its own matrix; `first_row`, `first_column` are the window's. */
struct neighbourhood {
	size_t row, column, first_row, first_column, rows, columns;
	double actual[AROUND_ROWS][AROUND_COLUMNS];
	double expected[AROUND_ROWS][AROUND_COLUMNS]; /* NaN in a row that was not checked */
	bool wrong[AROUND_ROWS][AROUND_COLUMNS];
};

struct error_map {
	const char *tensor;
	size_t shape[MAX_RANK], rank;
	size_t matrices, rows,
		columns; /* the tensor as matrices of its last two dimensions; a statistic has one column */
	size_t tile_rows, tile_columns, grid_rows, grid_columns; /* of one matrix */
	float *ratios;      /* [matrices, grid_rows, grid_columns] worst error / tolerance; NaN: not a number; -1: not
	                       checked */
	bool wrong;         /* some element is; then: */
	size_t first_wrong; /* index into ratios of the tile that holds the first wrong element in reading order */
	struct neighbourhood first, around_worst; /* around that element, and around the worst one */
	double worst_error, worst_tolerance;
};

/*
 * `check` is what check_tensor said of the same two. `tile` is the height of a tile, 0: chosen; tiles grow until no
 * more than a few thousand are left. The caller frees with error_map_free. False when there is no memory.
 */
bool error_map_make(
	struct error_map *map, const struct check *check, const struct expectation *expectation, const float *actual,
	const size_t *shape, size_t rank, size_t tile);

/* How many ratios there are. */
size_t error_map_tiles(const struct error_map *map);

void error_map_free(struct error_map *map);

#endif
