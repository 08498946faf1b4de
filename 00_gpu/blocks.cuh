/*
 * Chapter 00, shared by its kernels: how many threads a block has, and how many blocks a matrix takes.
 */
#pragma once

#include "gpu.h"

constexpr int THREADS = THREADS_PER_BLOCK; // of a block
constexpr int WARP = 32;                   // threads that execute an instruction together
constexpr int WARPS = THREADS / WARP;      // of a block
constexpr int TILE = TILE_SIDE;            // rows and columns of the part of a matrix that one block transposes

static_assert(THREADS % WARP == 0, "a block is made of whole warps");
static_assert((THREADS & (THREADS - 1)) == 0, "the tree of a sum halves the number of threads until one is left");
static_assert(TILE == WARP, "a row of a tile is a warp: its lanes are neighbors in memory");

// Rounded up: the last block may have threads without an element.
inline unsigned blocks_for(size_t count, size_t each)
{
	return (unsigned)((count + each - 1) / each);
}
