/*
 * Chapter 03, shared by its kernels: the size of a tile, and how many tiles a matrix takes.
 */
#pragma once

#include "tiled_matmul.h"

constexpr int WARP = 32;
constexpr int TILE = MATMUL_TILE; // of C, of A and of B; a block has one thread per element

static_assert(TILE == WARP, "a warp is one row of a tile: its lanes are neighbors in memory");
static_assert(TILE * TILE <= 1024, "a block has at most 1024 threads");

inline int ceil_divide(int count, int size)
{
	return count / size + (count % size != 0);
}
