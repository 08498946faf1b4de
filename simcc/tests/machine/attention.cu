/*
 * One head of attention, N a multiple of 64, d = 64: 64 queries a block, tiles of 32 keys, everything in shared memory, both
 * products by warps with 4 x 4 elements a lane. The pattern of accesses is that of a kernel whose counters on an L4 were
 * published at N = 4096 (MattJBorowski1991/QuantizedMHA, fa_kernel<64, 32>, 2026-01): 81,289,216 shared loads, 95,969,280
 * wavefronts, 14,680,064 conflicts, 8,413,440 shared stores. Of attention.sm_89.jsonl this is the source:
 *
 *     nvcc -std=c++17 -O3 -lineinfo -arch=sm_89 -cubin -o attention.cubin attention.cu
 *     nvdisasm -gi -c attention.cubin > attention.sass && simcc --loops attention.sass > attention.sm_89.jsonl
 */
#include <math.h>
#include <stdlib.h>

constexpr int WARP = 32, OWN = 4; // a lane computes OWN x OWN elements

// C [rows, columns] = A [rows, depth] B [depth, columns], or C += where `adds`: a warp takes OWN rows, a lane OWN columns.
template <bool adds>
__device__ void multiply(const float *A, const float *B, float *C, int rows, int columns, int depth)
{
	int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
	for (int row = OWN * warp; row < rows; row += OWN * warps) {
		int height = min(OWN, rows - row);
		for (int column = OWN * lane; column < columns; column += OWN * WARP) {
			int width = min(OWN, columns - column);
			float sums[OWN * OWN];
#pragma unroll
			for (int i = 0; i < OWN * OWN; i++)
				sums[i] = 0.0f;
			for (int k = 0; k < depth; k++) {
				float a[OWN], b[OWN];
#pragma unroll
				for (int i = 0; i < OWN; i++)
					a[i] = A[(row + i) * depth + k]; // @a
#pragma unroll
				for (int j = 0; j < OWN; j++)
					b[j] = B[k * columns + column + j]; // @b
#pragma unroll
				for (int i = 0; i < OWN; i++)
#pragma unroll
					for (int j = 0; j < OWN; j++)
						sums[i * OWN + j] += a[i] * b[j];
			}
#pragma unroll
			for (int i = 0; i < height; i++)
#pragma unroll
				for (int j = 0; j < width; j++) {
					if constexpr (adds)
						C[(row + i) * columns + column + j] += sums[i * OWN + j]; // @add
					else
						C[(row + i) * columns + column + j] = sums[i * OWN + j]; // @put
				}
		}
	}
}

// Scores become probabilities, the statistics and the output so far are brought up to date; then the output gets P V.
__device__ void take_in(
	float *largest, const float *largest_before, float *sum, float *scores, float *output, const float *values,
	int queries, int keys, int d, float root)
{
	int warp = threadIdx.x / WARP, lane = threadIdx.x % WARP, warps = blockDim.x / WARP;
	for (int row = warp; row < queries; row += warps) {
		float most = largest_before[row]; // @before
		for (int key = lane; key < keys; key += WARP) {
			float score = scores[row * keys + key] / root; // @score
			most = fmaxf(most, score);
			scores[row * keys + key] = score; // @scaled
		}
#pragma unroll
		for (int distance = WARP / 2; distance >= 1; distance >>= 1)
			most = fmaxf(most, __shfl_xor_sync(0xffffffff, most, distance));
		float total = 0.0f;
		for (int key = lane; key < keys; key += WARP) {
			float probability = expf(scores[row * keys + key] - most); // @again
			scores[row * keys + key] = probability;                    // @probability
			total += probability;
		}
#pragma unroll
		for (int distance = WARP / 2; distance >= 1; distance >>= 1)
			total += __shfl_xor_sync(0xffffffff, total, distance);
		float correction = expf(largest_before[row] - most); // @reread
		if (lane == 0) {
			largest[row] = most;                      // @largest
			sum[row] = correction * sum[row] + total; // @sum
		}
		for (int c = lane; c < d; c += WARP)
			output[row * d + c] *= correction; // @rescale
	}
	__syncthreads();
	multiply<true>(scores, values, output, queries, d, keys);
}

template <int Br, int Bc>
__global__ void attention(const float *Q, const float *K, const float *V, float *O, const int N, const int d)
{
	const int block = blockIdx.x, thread = threadIdx.x, threads = blockDim.x;
	extern __shared__ float shared[];
	float *output = shared, *queries = &shared[Br * d], *tile = &shared[2 * Br * d];
	float *scores = &shared[(2 * Br + Bc) * d], *sum = &shared[(2 * Br + Bc) * d + Br * Bc];
	float *before = sum + Br, *largest = sum + 2 * Br;
	int rows = min(Br, N - block * Br);

	for (int i = thread; i < Br * d; i += threads) {
		int row = i / d, c = i % d;
		if (block * Br + row < N)
			queries[i] = Q[(block * Br + row) * d + c];
		else
			queries[i] = 0.0f;
	}
	for (int i = thread; i < rows * d; i += threads)
		output[i] = 0.0f;
	for (int i = thread; i < rows; i += threads) {
		sum[i] = 0.0f;
		before[i] = -INFINITY;
	}
	__syncthreads();

	int tiles = (N + Bc - 1) / Bc;
	for (int t = 0; t < tiles; t++) {
		int keys = min(Bc, N - t * Bc);
		for (int i = thread; i < Bc * d; i += threads) {
			int row = i / d, c = i % d, key = t * Bc + row;
			if (key < N)
				tile[c * Bc + row] = K[key * d + c]; // on its side
			else
				tile[c * Bc + row] = 0.0f;
		}
		__syncthreads();
		multiply<false>(queries, tile, scores, rows, keys, d);
		__syncthreads();
		for (int i = thread; i < Bc * d; i += threads) {
			int row = i / d, c = i % d, key = t * Bc + row;
			if (key < N)
				tile[i] = V[key * d + c];
			else
				tile[i] = 0.0f;
		}
		__syncthreads();
		take_in(largest, before, sum, scores, output, tile, rows, keys, d, sqrtf((float)d));
		__syncthreads();
		float *other = before;
		before = largest;
		largest = other;
	}

	for (int i = thread; i < rows * d; i += threads) {
		int row = i / d;
		if (sum[row] > 0.0f)
			output[i] /= sum[row];
	}
	__syncthreads();
	for (int i = thread; i < rows * d; i += threads) {
		int row = i / d, c = i % d;
		if (block * Br + row < N)
			O[(block * Br + row) * d + c] = output[i];
	}
}

int main(int count, char **words)
{
	const int d = 64, Br = 64, Bc = 32;
	int N = count > 1 ? atoi(words[1]) : 64;
	const int bytes = ((2 * Br + Bc) * d + Br * Bc + 3 * Br) * sizeof(float);
	float *tensor[4];
	for (int i = 0; i < 4; i++) {
		cudaMalloc(&tensor[i], sizeof(float) * N * d);
		cudaMemset(tensor[i], 0, sizeof(float) * N * d);
	}
	cudaFuncSetAttribute(attention<Br, Bc>, cudaFuncAttributeMaxDynamicSharedMemorySize, bytes);
	attention<Br, Bc><<<(N + Br - 1) / Br, 512, bytes>>>(tensor[0], tensor[1], tensor[2], tensor[3], N, d);
	return cudaDeviceSynchronize();
}
