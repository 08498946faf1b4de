/*
 * Chapter 05: loads from HBM and stores to HBM of four columns at a time, for any d and any number of rows.
 */
#pragma once

// Loads four columns; those from d on are 0 and are not read. With d % 4 == 0 every row starts at a multiple of 16
// bytes, so one load is enough; otherwise four loads are needed.
__device__ inline float4 load_float4(const float *row, int c, int d)
{
	float4 x = {0.0f, 0.0f, 0.0f, 0.0f};
	if (d % 4 == 0)
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

__device__ inline void store_float4(float *row, int c, int d, float4 x)
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

// A tile of TILE_ROWS x D, fetched by a block of THREADS threads; rows past the last and columns past d are 0.
template <int D, int TILE_ROWS, int THREADS>
__device__ void load_tile_float4(
	const float *from, // [rows, d] in HBM
	int rows, int d,
	float *tile, // [TILE_ROWS, stride] shared
	int stride)
{
#pragma unroll 4 // by nvcc a thread has 3 of these loads on their way
	for (int e = threadIdx.x; e < TILE_ROWS * (D / 4); e += THREADS) {
		int row = e / (D / 4), c = e % (D / 4) * 4;
		float4 x = {0.0f, 0.0f, 0.0f, 0.0f};
		if (row < rows)
			x = load_float4(from + (size_t)row * d, c, d);
		*(float4 *)(tile + row * stride + c) = x;
	}
}
