/*
 * Chapter 10: what a lane does with its rows of queries and a tile of keys. As in chapter 05, but for Lanes and Layout,
 * which say who has which row and key and where it lies (shape.cuh).
 */
#pragma once

#include "shape.cuh"

#include <math.h>

// ---- tiles of HBM to shared memory, four columns at a time, for any d and any number of rows ----

// Four columns of a row; those from d on are 0 and are not read. ALIGNED: d is a multiple of 4, so that every row starts at a
// multiple of 16 bytes and one load is enough.
template <bool ALIGNED>
__device__ float4 load_four(const float *row, int c, int d)
{
	float4 x = {0.0f, 0.0f, 0.0f, 0.0f};
	if constexpr (ALIGNED)
		return c < d ? *(const float4 *)(row + c) : x;
	if (c < d)
		x.x = row[c];
	if (c + 1 < d)
		x.y = row[c + 1];
	if (c + 2 < d)
		x.z = row[c + 2];
	if (c + 3 < d)
		x.w = row[c + 3];
	return x;
}

__device__ inline void store_four(float *row, int c, int d, float4 x)
{
	if (d % 4 == 0) {
		if (c < d)
			*(float4 *)(row + c) = x;
		return;
	}
	if (c < d)
		row[c] = x.x;
	if (c + 1 < d)
		row[c + 1] = x.y;
	if (c + 2 < d)
		row[c + 2] = x.z;
	if (c + 3 < d)
		row[c + 3] = x.w;
}

// A tile of ROWS x D, times factor; PLACE(row, c) is where an element lies in it. A thread loads its whole part before it
// stores any of it: so many loads are in flight. (Of D = 96 half of it: for sm_80 nvcc would spill.) 8 threads share 32
// columns of a row. Rows past the last are 0.
template <int D, int ROWS, int (*PLACE)(int, int), bool ALIGNED>
__device__ void load_rows(const float *from, int rows, int d, float *tile, float factor)
{
	constexpr int AT_ONCE = shape<D>::THREADS / 8, ALL = ROWS / AT_ONCE, EACH = D == 96 ? ALL / 2 : ALL;
#pragma unroll
	for (int first = 0; first < ALL; first += EACH) {
		float4 x[EACH][D / 32];
#pragma unroll
		for (int i = 0; i < EACH; i++)
#pragma unroll
			for (int g = 0; g < D / 32; g++) {
				int row = threadIdx.x / 8 + (first + i) * AT_ONCE, c = threadIdx.x % 8 * 4 + g * 32;
				x[i][g] = {0.0f, 0.0f, 0.0f, 0.0f};
				if (row < rows)
					x[i][g] = load_four<ALIGNED>(from + (size_t)row * d, c, d);
			}
#pragma unroll
		for (int i = 0; i < EACH; i++)
#pragma unroll
			for (int g = 0; g < D / 32; g++) {
				int row = threadIdx.x / 8 + (first + i) * AT_ONCE, c = threadIdx.x % 8 * 4 + g * 32;
				float4 y = x[i][g];
				*(float4 *)(tile + PLACE(row, c)) = {
					factor * y.x, factor * y.y, factor * y.z, factor * y.w};
			}
	}
}

template <int D, int ROWS, int (*PLACE)(int, int)>
__device__ void load_tile(
	const float *from, // [rows, d] in HBM
	int rows, int d, float *tile, float factor = 1.0f)
{
	if (d % 4 == 0)
		load_rows<D, ROWS, PLACE, true>(from, rows, d, tile, factor);
	else
		load_rows<D, ROWS, PLACE, false>(from, rows, d, tile, factor);
}

// ---- the products ----

// In both a factor is used for all FMA with it before the next, and the other factors go there and back: from one FMA to
// the next mostly one of the two changes. An FMA reads three registers; those that stay need not be read again.

__device__ inline float element(float4 x, int i)
{
	return i == 0 ? x.x : i == 1 ? x.y : i == 2 ? x.z : x.w;
}

// s = Q K^T for ROWS x KEYS elements. Four columns at a time: ROWS + KEYS loads of 16 bytes for ROWS KEYS 4 FMA.
template <int D, class Layout>
__device__ void score_tile(
	const float *Q, // [Br, D] shared
	const float *K, // [Bc, D] shared
	int own_row, int own_key, float s[shape<D>::ROWS][shape<D>::KEYS])
{
	using T = shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			s[r][j] = 0.0f;
#pragma unroll 1
	for (int c = 0; c < D; c += 4) {
		float4 q[T::ROWS];
#pragma unroll
		for (int r = 0; r < T::ROWS; r++)
			q[r] = *(const float4 *)(Q + Layout::q(own_row + r * T::LANE_ROWS, c));
#pragma unroll
		for (int first = 0; first < T::KEYS; first += 4) {
			float4 k[4];
#pragma unroll
			for (int j = 0; j < 4; j++)
				k[j] = *(const float4 *)(K + Layout::k(own_key + (first + j) * T::LANE_KEYS, c));
#pragma unroll
			for (int e = 0; e < 4; e++)
#pragma unroll
				for (int j = 0; j < 4; j++)
#pragma unroll
					for (int i = 0; i < T::ROWS; i++) {
						int r = j % 2 == 0 ? i : T::ROWS - 1 - i;
						s[r][first + j] += element(q[r], e) * element(k[j], e);
					}
		}
	}
}

// o += P~ V. Four keys at a time: ROWS + COLUMNS loads of 16 bytes for ROWS COLUMNS 4 FMA.
template <int D, class Layout>
__device__ void weigh_tile(
	const float *P, // [Br, Bc] shared
	const float *V, // [Bc, D] shared
	int own_row, int own_column, float o[shape<D>::ROWS][shape<D>::COLUMNS])
{
	using T = shape<D>;
#pragma unroll 1
	for (int j = 0; j < T::Bc; j += 4) {
		float4 p[T::ROWS];
#pragma unroll
		for (int r = 0; r < T::ROWS; r++)
			p[r] = *(const float4 *)(P + Layout::p(own_row + r * T::LANE_ROWS, j));
#pragma unroll
		for (int e = 0; e < 4; e++) {
			float4 v[T::COLUMNS / 4];
#pragma unroll
			for (int c = 0; c < T::COLUMNS; c += 4)
				v[c / 4] = *(const float4 *)(V + (j + e) * D + own_column + c * T::LANE_KEYS);
#pragma unroll
			for (int r = 0; r < T::ROWS; r++)
#pragma unroll
				for (int i = 0; i < T::COLUMNS; i++) {
					int c = r % 2 == 0 ? i : T::COLUMNS - 1 - i;
					o[r][c] += element(p[r], e) * element(v[c / 4], c % 4);
				}
		}
	}
}

// ---- between the products ----

template <int D>
__device__ void scale_tile(float scale, float s[shape<D>::ROWS][shape<D>::KEYS])
{
#pragma unroll
	for (int r = 0; r < shape<D>::ROWS; r++)
#pragma unroll
		for (int j = 0; j < shape<D>::KEYS; j++)
			s[r][j] *= scale;
}

// Scores above the diagonal and past the last key become -inf. first_row, first_key: of this lane's first score.
template <int D>
__device__ void mask_tile(int first_row, int first_key, int N, bool causal, float s[shape<D>::ROWS][shape<D>::KEYS])
{
	using T = shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			int row = first_row + r * T::LANE_ROWS, key = first_key + j * T::LANE_KEYS;
			if (key >= N || (causal && key > row))
				s[r][j] = -INFINITY;
		}
}

// The maximum, or the sum, over the 8 lanes that share a row: their numbers differ in the bits of KEY_BITS.
template <class Lanes>
__device__ float max_of_row(float x)
{
#pragma unroll
	for (int bit = 1; bit < WARP; bit *= 2)
		if (Lanes::KEY_BITS & bit)
			x = fmaxf(x, __shfl_xor_sync(0xffffffff, x, bit));
	return x;
}

template <class Lanes>
__device__ float sum_of_row(float x)
{
#pragma unroll
	for (int bit = 1; bit < WARP; bit *= 2)
		if (Lanes::KEY_BITS & bit)
			x += __shfl_xor_sync(0xffffffff, x, bit);
	return x;
}

// Base e or 2: the hardware has an instruction for 2^x alone.
struct base_e {
	static __device__ float power(float x) { return expf(x); }
	static __device__ float ln_of_sum(float m, float l) { return m + logf(l); }
};

// Scores become P~; O and l are corrected for the new maximum. l stays a sum of this lane's keys until the end.
template <int D, class Lanes, class Base>
__device__ void exponentiate_tile(
	float s[shape<D>::ROWS][shape<D>::KEYS], float m[shape<D>::ROWS], float l[shape<D>::ROWS],
	float o[shape<D>::ROWS][shape<D>::COLUMNS])
{
	using T = shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		float m_new = m[r];
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			m_new = fmaxf(m_new, s[r][j]);
		m_new = max_of_row<Lanes>(m_new); // finite: every row sees key 0, which comes first
		float correction = Base::power(m[r] - m_new);
		m[r] = m_new;
		l[r] *= correction;
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			s[r][j] = Base::power(s[r][j] - m_new);
			l[r] += s[r][j];
		}
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c++)
			o[r][c] *= correction;
	}
}

template <int D, class Layout>
__device__ void store_slab(const float p[shape<D>::ROWS][shape<D>::KEYS], float *P, int own_row, int own_key)
{
	using T = shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			P[Layout::p(own_row + r * T::LANE_ROWS, own_key + j * T::LANE_KEYS)] = p[r][j];
}

// ---- the beginning and the end of a row ----

template <int D>
__device__ void start_rows(
	float m[shape<D>::ROWS], float l[shape<D>::ROWS], float o[shape<D>::ROWS][shape<D>::COLUMNS])
{
#pragma unroll
	for (int r = 0; r < shape<D>::ROWS; r++) {
		m[r] = -INFINITY;
		l[r] = 0.0f;
#pragma unroll
		for (int c = 0; c < shape<D>::COLUMNS; c++)
			o[r][c] = 0.0f;
	}
}

// O / l and LSE, once.
template <int D, class Lanes, class Base>
__device__ void store_rows(
	const float o[shape<D>::ROWS][shape<D>::COLUMNS], const float m[shape<D>::ROWS],
	const float l[shape<D>::ROWS], int first_row, int own_column, int N, int d,
	float *O,   // [N, d] of this head
	float *LSE) // [N] of this head
{
	using T = shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++) {
		int row = first_row + r * T::LANE_ROWS;
		float sum = sum_of_row<Lanes>(l[r]);
		if (row >= N)
			continue; // the last tile may be ragged; checked only here, because shuffles need all lanes
		float inverse = 1.0f / sum;
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c += 4)
			store_four(
				O + (size_t)row * d, own_column + c * T::LANE_KEYS, d,
				{o[r][c] * inverse, o[r][c + 1] * inverse, o[r][c + 2] * inverse,
			         o[r][c + 3] * inverse});
		if (own_column == 0)
			LSE[row] = Base::ln_of_sum(m[r], sum);
	}
}
