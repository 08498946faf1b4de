/* Chapter 03: what each product moves, in closed forms. */
#include "lesson.h"
#include "tiled_matmul.h"

/*
 * Requested with tiles of C of so many rows and columns: A once for each column of tiles, B once for each row of them.
 * Footprint: each matrix once.
 */
static struct closed_forms forms(const struct problem *problem, uint64_t tile, const char *formula)
{
	uint64_t m = problem->m, n = problem->n, k = problem->k;
	uint64_t tile_rows = ceil_div(m, tile), tile_columns = ceil_div(n, tile);
	return (struct closed_forms){
		.models =
			{
				{MODEL_REQUESTED, m * k * tile_columns + k * n * tile_rows, m * n, formula},
				{MODEL_FOOTPRINT, m * k + k * n, m * n, "mk + kn + mn"},
			},
		.blocks = tile_rows * tile_columns,
		.flop = 2.0 * (double)m * (double)n * (double)k,
	};
}

/* For each element of C a row of A and a column of B; a block has a thread for each of its elements. */
struct closed_forms matmul_element_forms(const struct problem *problem)
{
	struct closed_forms of = forms(problem, 1, "2mnk + mn");
	of.blocks = forms(problem, MATMUL_TILE, "").blocks;
	return of;
}

struct closed_forms matmul_tiled_forms(const struct problem *problem)
{
	return forms(problem, MATMUL_TILE, "mk⌈n/32⌉ + kn⌈m/32⌉ + mn");
}

struct closed_forms matmul_registers_forms(const struct problem *problem)
{
	return forms(problem, MATMUL_REGISTER_TILE, "mk⌈n/128⌉ + kn⌈m/128⌉ + mn");
}
