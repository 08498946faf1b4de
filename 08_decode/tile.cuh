/*
 * What the kernels of this chapter share: a warp processes one head of queries, the block loads tiles of 32 keys for its
 * warps, and in a tile each lane first computes the score of one key, then updates its columns of the output.
 */
#pragma once

#include "decode.h"

#include <math.h>

constexpr int WARP = 32;
constexpr unsigned EVERY_LANE = 0xffffffff;
constexpr int TILE = WARP; // keys of a tile: one per lane
// Of a block; 64 registers each at most. In __launch_bounds__ a 1 follows, the blocks that an SM must hold. Without it nvcc 13
// takes 32 registers, at one D 38: it spills at some D, and stores before a thread has all its loads on their way. decode_paged
// goes without the 1: nvcc takes 45 to 64 even so, and with it spills at more D.
constexpr int MOST_THREADS = MOST_GROUP * WARP;
constexpr int PAD = 4; // of a row of K in shared memory

// The state of a warp's head. Lane i has columns i, i + 32, ...; l is the sum of the lane's own keys only.
template <int D>
struct row_state {
	float o[D / WARP] = {}, m = -INFINITY, l = 0.0f;
};

// Shared memory:   | K tile [TILE, D + 4] | V tile [TILE, D] | q [warps, D] |
// A lane reads a row of K, 16 bytes at a time: without the additional columns, all lanes would read from the same four banks.
template <int D>
struct tiles {
	float *K, *V, *q;
};

template <int D>
__device__ tiles<D> tiles_in(float *shared)
{
	int warp = threadIdx.x / WARP;
	float *V = shared + TILE * (D + PAD), *q = V + TILE * D;
	return {shared, V, q + warp * D};
}

inline int columns_of(int d)
{
	return (d + WARP - 1) / WARP * WARP;
}

// The columns beyond d are set to 0 without a read, so that the compiler knows the length of the loops.
template <int D>
__device__ void load_query(const float *from, int d, float *q)
{
	for (int c = threadIdx.x % WARP; c < D; c += WARP)
		q[c] = c < d ? from[c] : 0.0f;
}

// All threads of the block load `keys` rows of d columns; row(j) is where row j begins, and a PIECE a float, or a float4 where
// every row begins at a multiple of 16 bytes. A thread has up to four loads on their way before it stores what they bring.
template <int D, class PIECE, class ROW>
__device__ void load_pieces(ROW row, int keys, int d, float *tile, int tile_row)
{
	constexpr int WIDTH = sizeof(PIECE) / sizeof(float), ACROSS = WARP / WIDTH; // so many threads share a row
	constexpr int AT_ONCE = D <= 96 ? 128 / D : 1; // rows: four loads, three at D = 96
	int column = threadIdx.x % ACROSS * WIDTH, step = blockDim.x / ACROSS;
	for (int first = threadIdx.x / ACROSS; first < keys; first += AT_ONCE * step) {
		PIECE pieces[AT_ONCE][D / WARP] = {};
#pragma unroll
		for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
			for (int k = 0; k < D / WARP; k++) {
				int j = first + i * step, c = column + k * WARP;
				if (j < keys && c < d)
					pieces[i][k] = *(const PIECE *)(row(j) + c);
			}
#pragma unroll
		for (int i = 0; i < AT_ONCE; i++)
#pragma unroll
			for (int k = 0; k < D / WARP; k++) {
				int j = first + i * step, c = column + k * WARP;
				if (j < keys)
					*(PIECE *)(tile + j * tile_row + c) = pieces[i][k];
			}
	}
}

template <int D, class ROW>
__device__ void load_rows(ROW row, int keys, int d, float *tile, int tile_row)
{
	if (d % 4 == 0)
		load_pieces<D, float4>(row, keys, d, tile, tile_row);
	else
		load_pieces<D, float>(row, keys, d, tile, tile_row);
}

// Rows that are `apart` from each other.
template <int D>
__device__ void load_tile(const float *from, size_t apart, int keys, int d, float *tile, int tile_row)
{
	load_rows<D>([=](int j) { return from + j * apart; }, keys, d, tile, tile_row);
}

__device__ inline float warp_max(float value)
{
	for (int far = WARP / 2; far > 0; far /= 2)
		value = fmaxf(value, __shfl_xor_sync(EVERY_LANE, value, far));
	return value;
}

__device__ inline float warp_sum(float value)
{
	for (int far = WARP / 2; far > 0; far /= 2)
		value += __shfl_xor_sync(EVERY_LANE, value, far);
	return value;
}

// Lane j scores key j of the tile, for one head.
template <int D>
__device__ float score(struct tiles<D> tile, int keys, float scale)
{
	int lane = threadIdx.x % WARP;
	float s = 0.0f;
	if (lane < keys) // the tile's other rows hold nothing
#pragma unroll
		for (int c = 0; c < D; c += 4) {
			float4 q = *(const float4 *)(tile.q + c),
			       k = *(const float4 *)(tile.K + lane * (D + PAD) + c);
			s += q.x * k.x;
			s += q.y * k.y;
			s += q.z * k.z;
			s += q.w * k.w;
		}
	return lane < keys ? scale * s : -INFINITY;
}

// Chapter 02's online softmax, 32 keys at a time: each lane has the score of its key.
template <int D>
__device__ void weigh(struct tiles<D> tile, int keys, float s, struct row_state<D> *row)
{
	int lane = threadIdx.x % WARP;
	float m_new = fmaxf(row->m, warp_max(s)); // finite: a tile has a key
	float correction = expf(row->m - m_new), p = expf(s - m_new);
	row->m = m_new;
	row->l = row->l * correction + p;
#pragma unroll
	for (int k = 0; k < D / WARP; k++)
		row->o[k] *= correction;
	for (int j = 0; j < keys; j++) {
		float weight = __shfl_sync(EVERY_LANE, p, j);
#pragma unroll
		for (int k = 0; k < D / WARP; k++)
			row->o[k] += weight * tile.V[j * D + k * WARP + lane];
	}
}

// Processes a tile for one head.
template <int D>
__device__ void attend(struct tiles<D> tile, int keys, float scale, struct row_state<D> *row)
{
	weigh<D>(tile, keys, score<D>(tile, keys, scale), row);
}

// O = o / l, columns of one head.
template <int D>
__device__ void write_output(struct row_state<D> row, int d, float *O)
{
	int lane = threadIdx.x % WARP;
	float l = warp_sum(row.l);
#pragma unroll
	for (int k = 0; k < D / WARP; k++)
		if (k * WARP + lane < d)
			O[k * WARP + lane] = row.o[k] / l;
}

inline bool is_usable(struct decode a)
{
	return a.n >= 1 && a.G >= 1 && a.H >= a.G && a.H % a.G == 0 && a.d >= 1 && a.d <= MOST_HEAD_DIM;
}

// Where the heads that share keys are the warps of one block.
inline bool is_usable_in_groups(struct decode a)
{
	return is_usable(a) && a.H / a.G <= MOST_GROUP;
}
