/*
 * Chapter 04: shared memory of a block, which chapter.c asks before it launches a kernel. No kernel is in this file.
 */
#include "launch.cuh"
#include "row.cuh"

extern "C" size_t fa1_paper_shared_bytes(int d, struct tile tile)
{
	return sizeof(float) * tile.Bc * (2 * (size_t)d + tile.Br);
}

extern "C" size_t fa1_row_shared_bytes(int d, struct tile tile)
{
	return row_shared_bytes(d, tile.Bc);
}

extern "C" size_t fa1_row_dynamic_shared_bytes(int d, struct tile tile)
{
	return sizeof(float) * 2 * d * (size_t)tile.Bc;
}
