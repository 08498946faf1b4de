/*
 * Reads, writes and atomics of global memory, a few a thread.
 *
 *     nvcc -O3 -std=c++17 -arch=native global.cu -o global    or    ../../simcc/simcc global.cu -o global
 *     ./global strided 1 65536 8        blocks, the elements between the lanes
 */
#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include "launch.cuh"

constexpr int ELEMENTS = 1 << 24; // that `gather` and the atomics read
constexpr int BLOCK = 256;

__global__ void strided(const float *from, float *to, int stride)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	to[i] = from[(size_t)i * stride];
}

__global__ void gather(const float *from, const int *index, float *to)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	to[i] = from[index[i]];
}

// Lanes along rows of the matrices [n, n], or along columns.
template <bool COLUMNS>
__global__ void add(const unsigned *a, const unsigned *b, unsigned *sum, int n)
{
	int x = blockIdx.x * blockDim.x + threadIdx.x, y = blockIdx.y * blockDim.y + threadIdx.y;
	int i = COLUMNS ? x * n + y : y * n + x;
	sum[i] = a[i] + b[i];
}

// One thread per row, or per column, of a matrix [n, n].
template <bool COLUMNS>
__global__ void sums_of(const float *matrix, float *sums, size_t n)
{
	size_t i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (size_t j = 0; j < n; j++)
		sum += matrix[COLUMNS ? j * n + i : i * n + j];
	sums[i] = sum;
}

// All threads add to one number, each by itself or each block by way of its own sum.
__global__ void add_to_one(const float *from, float *sum)
{
	atomicAdd(sum, from[blockIdx.x * blockDim.x + threadIdx.x]);
}

__global__ void add_blocks_to_one(const float *from, float *sum)
{
	__shared__ float of_block;
	if (threadIdx.x == 0)
		of_block = 0;
	__syncthreads();
	atomicAdd(&of_block, from[blockIdx.x * blockDim.x + threadIdx.x]);
	__syncthreads();
	if (threadIdx.x == 0)
		atomicAdd(sum, of_block);
}

static void run_strided(int part, const int *numbers)
{
	unsigned blocks = part_of(numbers[0], part);
	size_t threads = (size_t)blocks * BLOCK;
	strided<<<blocks, BLOCK>>>(unset<float>(threads * numbers[1]), unset<float>(threads), numbers[1]);
}

// Which elements is a matter of the C++ library's shuffle: libstdc++'s, of the default seed given.
static void run_gather(int part, const int *numbers)
{
	std::vector<int> shuffled(ELEMENTS);
	std::iota(shuffled.begin(), shuffled.end(), 0);
	std::shuffle(shuffled.begin(), shuffled.end(), std::mt19937{(unsigned)numbers[0]});
	int *index = unset<int>(ELEMENTS);
	check(cudaMemcpy(index, shuffled.data(), ELEMENTS * sizeof(int), cudaMemcpyHostToDevice), "cudaMemcpy");
	gather<<<part_of(ELEMENTS / BLOCK, part), BLOCK>>>(unset<float>(ELEMENTS), index, unset<float>(ELEMENTS));
}

template <void (*KERNEL)(const unsigned *, const unsigned *, unsigned *, int)>
void run_add(int part, const int *)
{
	int n = 1024;
	size_t elements = (size_t)n * n;
	KERNEL<<<dim3(n / LANES, part_of(n / LANES, part)), dim3(LANES, LANES)>>>(
		unset<unsigned>(elements), unset<unsigned>(elements), unset<unsigned>(elements), n);
}

template <void (*KERNEL)(const float *, float *, size_t)>
void run_sums(int part, const int *numbers)
{
	size_t n = numbers[0];
	KERNEL<<<part_of(n / BLOCK, part), BLOCK>>>(unset<float>(n * n), unset<float>(n), n);
}

template <void (*KERNEL)(const float *, float *)>
void run_atomics(int part, const int *)
{
	KERNEL<<<part_of(ELEMENTS / LANES, part), LANES>>>(unset<float>(ELEMENTS), unset<float>(1));
}

int main(int argc, char **argv)
{
	static const launch launches[] = {
		{"strided", run_strided, 2},
		{"gather", run_gather, 1},
		{"add_rows", run_add<add<false>>, 0},
		{"add_columns", run_add<add<true>>, 0},
		{"row_sums", run_sums<sums_of<false>>, 1},
		{"column_sums", run_sums<sums_of<true>>, 1},
		{"add_to_one", run_atomics<add_to_one>, 0},
		{"add_blocks_to_one", run_atomics<add_blocks_to_one>, 0},
	};
	return launch_named(argc, argv, launches);
}
