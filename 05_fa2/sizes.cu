/*
 * Chapter 05: tiles, and shared memory of a block, which chapter.c asks before it launches a kernel. No kernel is in
 * this file.
 */
#include "launch.cuh"
#include "row.cuh"
#include "split_q.cuh"

extern "C" int fa2_row_keys_at_once(int d)
{
	return keys_at_once(d);
}

extern "C" size_t fa2_row_shared_bytes(int d, struct tile tile)
{
	return row_shared_bytes(d, tile.Bc);
}

extern "C" struct tile fa2_split_q_tile(int d)
{
	switch (round_up(d, WARP)) {
	case 32: return {split<32>::Br, split<32>::Bc};
	case 64: return {split<64>::Br, split<64>::Bc};
	case 96: return {split<96>::Br, split<96>::Bc};
	default: return {split<128>::Br, split<128>::Bc};
	}
}

extern "C" size_t fa2_split_q_shared_bytes(int d)
{
	switch (round_up(d, WARP)) {
	case 32: return sizeof(float) * split<32>::FLOATS;
	case 64: return sizeof(float) * split<64>::FLOATS;
	case 96: return sizeof(float) * split<96>::FLOATS;
	default: return sizeof(float) * split<128>::FLOATS;
	}
}
