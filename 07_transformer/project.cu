/*
 * y = residual + W x for each token, W as the model's file stores it: weights of 4 or 8 bits, 32 of them with a scale.
 * They are multiplied by their scale in registers, so HBM delivers only the bytes of the file: 0.625 or 1.0625 per weight,
 * where fp32 has 4. A decoded token reads every weight once, and up to 2,096 tokens HBM has to deliver no others that are so
 * many. In a prompt each token has its own blocks, and each asks for its part of the matrix again: N times all weights. A tile
 * of tokens (chapter 03) would share them.
 *
 * A block is one warp, which computes 32 rows of y. A lane takes every 32nd block of columns, of all these rows, and holds a
 * partial sum of each; one exchange through shared memory then gives each lane one row to add up. That is 32 stores and
 * 32 loads; a tree of shuffles per row takes 5 x 32 shuffles. Where blocks of 32 rows would be fewer than an H100 has SMs, a
 * warp computes 4 rows: more SMs read weights, and x is requested eight times as often. The exchange is then 4 stores and 32
 * loads by 4 lanes, where a tree takes 20 shuffles: the price of one code for both.
 */
#include "transformer.h"

#include <cuda_fp16.h>

constexpr int WARP = 32;
constexpr int COLUMNS = 32;                      // of a block of weights
constexpr int MOST_ROWS = WARP, FEWEST_ROWS = 4; // of a warp
constexpr int SMS = 132;                         // of an H100

template <weight_encoding ENCODING>
constexpr int BLOCK_BYTES = ENCODING == WEIGHTS_F32    ? 128
                            : ENCODING == WEIGHTS_Q4_1 ? 20
                                                       : 34;

__device__ float fp16(unsigned bits)
{
	return __half2float(__ushort_as_half((unsigned short)bits));
}

// One block of weights times its columns of x. The last block of an fp32 row may be short.
template <weight_encoding ENCODING>
__device__ float times(const unsigned char *block, const float *x, int columns)
{
	float sum = 0.0f;
	if constexpr (ENCODING == WEIGHTS_F32) {
		const float *w = (const float *)block;
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			if (c < columns)
				sum += w[c] * x[c];
	} else if constexpr (ENCODING == WEIGHTS_Q4_1) {
		const unsigned *words = (const unsigned *)block; // d and m, then 4 words of 8 numbers
		unsigned scales = words[0];                      // read once
		float d = fp16(scales & 0xffff), m = fp16(scales >> 16);
#pragma unroll
		for (int word = 0; word < 4; word++) {
			unsigned q = words[1 + word];
#pragma unroll
			for (int byte = 0; byte < 4; byte++, q >>= 8) {
				sum += (d * (q & 15) + m) * x[4 * word + byte];
				sum += (d * (q >> 4 & 15) + m) * x[4 * word + byte + 16];
			}
		}
	} else {
		const unsigned short *halves = (const unsigned short *)block; // blocks of 34 bytes: at even addresses
		float d = fp16(halves[0]);
#pragma unroll
		for (int c = 0; c < COLUMNS; c += 2) {
			unsigned q = halves[1 + c / 2];
			sum += d * (signed char)(q & 255) * x[c];
			sum += d * (signed char)(q >> 8) * x[c + 1];
		}
	}
	return sum;
}

template <weight_encoding ENCODING, int ROWS>
__global__ void project(struct projection p)
{
	__shared__ float exchange[ROWS][WARP + 1]; // one column more: rows begin in different banks
	int lane = threadIdx.x, first_row = blockIdx.y * ROWS, blocks = (p.columns + COLUMNS - 1) / COLUMNS;
	size_t token = blockIdx.x, row_bytes = (size_t)blocks * BLOCK_BYTES<ENCODING>;
	if (ENCODING == WEIGHTS_F32)
		row_bytes = sizeof(float) * p.columns;

	float sum[ROWS] = {};
	for (int block = lane; block < blocks; block += WARP) {
		int columns = min(COLUMNS, p.columns - block * COLUMNS);
		const float *from = p.x + token * p.columns + block * COLUMNS;
		float x[COLUMNS];
#pragma unroll
		for (int c = 0; c < COLUMNS; c++)
			x[c] = c < columns ? from[c] : 0.0f;
		const unsigned char *weights =
			(const unsigned char *)p.W + first_row * row_bytes + (size_t)block * BLOCK_BYTES<ENCODING>;
#pragma unroll
		for (int r = 0; r < ROWS; r++)
			if (first_row + r < p.rows)
				sum[r] += times<ENCODING>(weights + r * row_bytes, x, columns);
	}

	// task 07.reduce: ROWS sums of each lane become a row for each of ROWS lanes
#pragma unroll
	for (int r = 0; r < ROWS; r++)
		exchange[r][lane] = sum[r];
	__syncwarp(); // without it a lane adds up what others have not written yet
	int row = first_row + lane;
	if (lane >= ROWS || row >= p.rows)
		return;
	float y = p.residual ? p.residual[token * p.rows + row] : 0.0f;
	for (int l = 0; l < WARP; l++)
		y += exchange[lane][l];
	p.y[token * p.rows + row] = y;
	// end 07.reduce
}

extern "C" int projection_rows(int N, int rows)
{
	return (size_t)N * ((rows + MOST_ROWS - 1) / MOST_ROWS) < SMS ? FEWEST_ROWS : MOST_ROWS;
}

template <int ROWS>
static cudaError_t launch_rows(struct projection p)
{
	auto *kernel = p.encoding == WEIGHTS_F32    ? project<WEIGHTS_F32, ROWS>
	               : p.encoding == WEIGHTS_Q4_1 ? project<WEIGHTS_Q4_1, ROWS>
	                                            : project<WEIGHTS_Q8_0, ROWS>;
	kernel<<<dim3(p.N, (p.rows + ROWS - 1) / ROWS), WARP>>>(p);
	return cudaGetLastError();
}

extern "C" cudaError_t launch_project(struct projection p)
{
	bool whole = p.encoding == WEIGHTS_F32 || p.columns % COLUMNS == 0;
	if (p.N < 1 || p.rows < 1 || p.rows > 65535 * MOST_ROWS || p.columns < 1 || !whole)
		return cudaErrorInvalidValue;
	return projection_rows(p.N, p.rows) == MOST_ROWS ? launch_rows<MOST_ROWS>(p) : launch_rows<FEWEST_ROWS>(p);
}
