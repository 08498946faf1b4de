/* Chapter 05: the tile of each kernel, and what it moves with it, in closed forms. */
#include "lesson.h"

struct tile fa2_row_tile(const struct problem *problem)
{
	return (struct tile){row_tile_queries(problem), row_tile_keys(problem)};
}

struct closed_forms fa2_row_forms(const struct problem *problem)
{
	struct tile tile = fa2_row_tile(problem);
	struct closed_forms forms = streamed_forms(problem, tile.Br, tile.Bc, true);
	forms.shared_bytes = fa2_row_shared_bytes((int)problem->dim, tile);
	return forms;
}

static struct closed_forms compiled_forms(const struct problem *problem, struct tile tile, size_t shared_bytes)
{
	struct closed_forms forms = streamed_forms(problem, tile.Br, tile.Bc, true);
	forms.shared_bytes = shared_bytes;
	return forms;
}

struct closed_forms fa2_tile_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return compiled_forms(problem, fa2_warp_tile(d), fa2_tile_shared_bytes(d));
}

struct closed_forms fa2_slab_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return compiled_forms(problem, fa2_warp_tile(d), fa2_slab_shared_bytes(d));
}

struct closed_forms fa2_split_q_forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	return compiled_forms(problem, fa2_split_q_tile(d), fa2_split_q_shared_bytes(d));
}
