/*
 * The two products of register tiles: rows times rows (S, dP) and weights times rows (O, dQ, dK, dV). Shared by
 * forward, backward_dkdv, backward_dq and backward_atomic; tile_rows.cuh shows which rows and columns a lane owns.
 *
 * In a product of rows a lane has 4 own rows x TILE/8 streamed rows, in a sum of rows 4 own rows x D/8 columns: with
 * tiles of 64 at d = 64 three loads of 16 bytes feed 32 multiplications either way. Between the two, the weights of
 * the warp's 16 rows pass through a slab of shared memory that no other warp touches: __syncwarp is enough.
 *
 * nvcc unrolls the loops over these constants, so that the arrays become registers (make ptxas: no stack frame).
 */
#pragma once

#include "backward.h"
#include "rows.cuh"
#include "tile_rows.cuh"

constexpr int SLAB_PAD = 8; // of the slab's rows: see store_slab

inline __device__ void load4(const float *from, float (&to)[4])
{
	float4 four = *(const float4 *)from; // one shared-memory load of 16 bytes
	to[0] = four.x, to[1] = four.y, to[2] = four.z, to[3] = four.w;
}

// dots[r][t] = sum over c of block_rows[row r, c] * streamed[row t, c]: S with Q scaled, dP with dO and V. Every kernel
// with tiles that needs S, the forward too, gets it here: the same numbers in the same order, fused explicitly, so
// that no compiler can round S differently in two places. exp(S - LSE) sums to 1, up to the rounding of LSE, only then.
template <int D, int TILE>
__device__ void multiply_rows(
	const float *block_rows, const float *streamed, float (&dots)[ROWS][TILE / LANES_ACROSS])
{
	block_rows += lane_row() * (D + PAD);
	streamed += lane_column() * (D + PAD);
	for (int r = 0; r < ROWS; r++)
		for (int t = 0; t < TILE / LANES_ACROSS; t++)
			dots[r][t] = 0.0f;
#pragma unroll 2
	for (int c = 0; c < D; c += 4) {
		float a[ROWS][4], b[4];
		for (int r = 0; r < ROWS; r++)
			load4(block_rows + LANES_DOWN * r * (D + PAD) + c, a[r]);
		for (int t = 0; t < TILE / LANES_ACROSS; t++) {
			load4(streamed + LANES_ACROSS * t * (D + PAD) + c, b);
			for (int r = 0; r < ROWS; r++)
				for (int e = 0; e < 4; e++)
					dots[r][t] = fmaf(a[r][e], b[e], dots[r][t]);
		}
	}
}

// Stores a lane's weights, so that all lanes of its warp can read them. Rows are TILE + 8 floats apart: the four rows the
// lanes of a warp write at once then lie in different banks.
template <int TILE>
__device__ void store_slab(const float (&weights)[ROWS][TILE / LANES_ACROSS], float *slab)
{
	__syncwarp(); // lanes may still be reading what the slab held before
	slab += lane_row() * (TILE + SLAB_PAD) + lane_column();
	for (int r = 0; r < ROWS; r++)
		for (int t = 0; t < TILE / LANES_ACROSS; t++)
			slab[LANES_DOWN * r * (TILE + SLAB_PAD) + LANES_ACROSS * t] = weights[r][t];
	__syncwarp(); // each lane goes on to read what the other 31 wrote
}

// sums[r][c] += sum over j of slab[row r, j] * streamed[j, c]: dV with P and dO, dK with dS and Q, dQ with dS and K.
template <int D, int TILE>
__device__ void add_products(const float *slab, const float *streamed, float (&sums)[ROWS][D / LANES_ACROSS])
{
	slab += lane_row() * (TILE + SLAB_PAD);
	streamed += 4 * lane_column();
#pragma unroll 2
	for (int j = 0; j < TILE; j += 4) {
		float weight[ROWS][4], b[4];
		for (int r = 0; r < ROWS; r++)
			load4(slab + LANES_DOWN * r * (TILE + SLAB_PAD) + j, weight[r]);
		for (int s = 0; s < 4; s++)
			for (int u = 0; u < D / WARP; u++) {
				load4(streamed + (j + s) * (D + PAD) + WARP * u, b);
				for (int r = 0; r < ROWS; r++)
					for (int e = 0; e < 4; e++)
						sums[r][4 * u + e] += weight[r][s] * b[e];
			}
	}
}

template <int COLUMNS>
__device__ void clear(float (&sums)[ROWS][COLUMNS])
{
	for (int r = 0; r < ROWS; r++)
		for (int c = 0; c < COLUMNS; c++)
			sums[r][c] = 0.0f;
}

// S^T of a tile (rows keys, columns queries) becomes P^T.
template <int TILE>
__device__ void weigh_keys(
	float (&s)[ROWS][TILE / LANES_ACROSS], const float *lse_tile, int first_key, int first_query,
	const struct backward &b)
{
	for (int t = 0; t < TILE / LANES_ACROSS; t++) {
		int column = lane_column() + LANES_ACROSS * t, query = first_query + column;
		float L = lse_tile[column]; // -inf for a query beyond N: it has no weights
		for (int r = 0; r < ROWS; r++) {
			int key = first_key + lane_row() + LANES_DOWN * r;
			s[r][t] = probability(s[r][t], L, key < b.N && (!b.causal || key <= query));
		}
	}
}
