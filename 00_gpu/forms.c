#include "forms.h"

#include "gpu.h"

#include "support/number.h"

#include <stdio.h>

/* Nothing is asked for twice: what a kernel requests is its footprint. */
static struct closed_forms forms(uint64_t reads, uint64_t writes, uint64_t blocks, const char *formula)
{
	return (struct closed_forms){
		.models = {{MODEL_REQUESTED, reads, writes, formula}, {MODEL_FOOTPRINT, reads, writes, formula}},
		.blocks = blocks,
	};
}

static uint64_t elements(const struct problem *problem)
{
	return (uint64_t)problem->rows * problem->cols;
}

struct closed_forms place_forms(const struct problem *problem)
{
	return forms(0, 5 * elements(problem), ceil_div(elements(problem), THREADS_PER_BLOCK), "5RC");
}

struct closed_forms copy_forms(const struct problem *problem)
{
	uint64_t RC = elements(problem);
	return forms(RC, RC, ceil_div(RC, THREADS_PER_BLOCK), "2RC");
}

struct closed_forms float4_forms(const struct problem *problem)
{
	uint64_t RC = elements(problem);
	return forms(RC, RC, ceil_div(RC, 4 * THREADS_PER_BLOCK), "2RC");
}

struct closed_forms transpose_forms(const struct problem *problem)
{
	uint64_t RC = elements(problem);
	return forms(RC, RC, ceil_div(problem->rows, TILE_SIDE) * ceil_div(problem->cols, TILE_SIDE), "2RC");
}

struct closed_forms sum_forms(const struct problem *problem)
{
	struct closed_forms of = forms(elements(problem), problem->rows, problem->rows, "RC + R");
	of.flop = (double)elements(problem);
	return of;
}

bool places_fit(const struct problem *problem, char *reason, size_t size)
{
	if (ceil_div(elements(problem), THREADS_PER_BLOCK) <= MOST_PLACES)
		return true;
	snprintf(reason, size, "numbers its blocks in fp32, which holds whole numbers up to %d", MOST_PLACES);
	return false;
}

bool tiles_fit(const struct problem *problem, char *reason, size_t size)
{
	if (ceil_div(problem->rows, TILE_SIDE) <= MOST_TILE_ROWS)
		return true;
	snprintf(
		reason, size, "a grid has at most %d blocks in y: %d rows", MOST_TILE_ROWS,
		MOST_TILE_ROWS * TILE_SIDE);
	return false;
}
