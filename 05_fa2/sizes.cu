/*
 * Chapter 05: tiles, and shared memory of a block, which chapter.c asks before it launches a kernel. No kernel is in
 * this file.
 */
#include "launch.cuh"
#include "row.cuh"
#include "shape.cuh"

extern "C" int fa2_row_keys_at_once(int d)
{
	return keys_at_once(d);
}

extern "C" size_t fa2_row_shared_bytes(int d, struct tile tile)
{
	return row_shared_bytes(d, tile.Bc);
}

extern "C" struct tile fa2_warp_tile(int d)
{
	int Br = kernel_for(
		d, warp_shape<32>::WARP_ROWS, warp_shape<64>::WARP_ROWS, warp_shape<96>::WARP_ROWS,
		warp_shape<128>::WARP_ROWS);
	int Bc = kernel_for(d, warp_shape<32>::Bc, warp_shape<64>::Bc, warp_shape<96>::Bc, warp_shape<128>::Bc);
	return {Br, Bc};
}

extern "C" struct tile fa2_split_q_tile(int d)
{
	struct tile tile = fa2_warp_tile(d);
	return {WARPS * tile.Br, tile.Bc};
}

extern "C" size_t fa2_tile_shared_bytes(int d)
{
	return sizeof(float) *
	       kernel_for(d, plain_floats<32>(), plain_floats<64>(), plain_floats<96>(), plain_floats<128>());
}

extern "C" size_t fa2_slab_shared_bytes(int d)
{
	return sizeof(float) *
	       kernel_for(d, slab_floats<32, 1>(), slab_floats<64, 1>(), slab_floats<96, 1>(), slab_floats<128, 1>());
}

extern "C" size_t fa2_split_q_shared_bytes(int d)
{
	return sizeof(float) * kernel_for(
				       d, slab_floats<32, WARPS>(), slab_floats<64, WARPS>(),
				       slab_floats<96, WARPS>(), slab_floats<128, WARPS>());
}
