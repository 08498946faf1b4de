// A thread's own variables hold nothing when a function begins: not what the block before left there, not 0. Each
// kernel here uses one without giving it a value, and each thread of each block must be found wrong: a sum, a
// maximum.
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>

enum { BLOCKS = 5, THREADS = 48, COUNT = 8 };

struct mixed {
	double wide;
	char narrow;
	float three[3];
};

__device__ float sum_of(const float *x)
{
	float sum;
	for (int i = 0; i < COUNT; i++)
		sum += x[i];
	return sum;
}

// Touches nothing but its own variables.
__device__ float last_of(float value, int written)
{
	float list[37];
	for (int i = 0; i < written; i++)
		list[i] = value;
	return list[36];
}

__device__ float odd_bytes(int written)
{
	signed char few[13];
	for (int i = 0; i < written; i++)
		few[i] = 1;
	return few[12] == 0x7f && few[written] == 0x7f ? 1e38f : 0;
}

__device__ double deep(int depth)
{
	mixed own;
	return depth > 0 ? deep(depth - 1) : own.wide + own.three[2];
}

template <int D>
__device__ void add_rows(const float *x, float (&row)[D])
{
	for (int d = 0; d < D; d++)
		row[d] += x[d % COUNT];
}

#define KERNEL(name)  __global__ void name(const float *x, double *y)
#define RESULT        y[blockIdx.x * blockDim.x + threadIdx.x]
#define TEMPLATE(...) template <__VA_ARGS__>

KERNEL(sum)
{
	float total;
	for (int i = 0; i < COUNT; i++)
		total += x[i];
	RESULT = total;
}

KERNEL(maximum)
{
	float most;
	for (int i = 0; i < COUNT; i++)
		most = fmaxf(most, x[i]);
	__syncthreads();
	RESULT = most;
}

KERNEL(whole_numbers)
{
	int total;
	total += (int)x[0];
	RESULT = abs((double)total) * 1e30;
}

TEMPLATE(int D)
KERNEL(rows)
{
	float row[D];
	double total = 0;
	add_rows<D>(x, row);
	for (int d = 0; d < D; d++)
		total += row[d];
	RESULT = total;
}

KERNEL(after_a_barrier)
{
	__shared__ float tile[THREADS];
	tile[threadIdx.x] = x[threadIdx.x % COUNT];
	__syncthreads();
	RESULT = sum_of(tile);
}

KERNEL(called_again)
{
	float least = 1e38f;
	for (int i = 0; i < 4; i++)
		least = fminf(least, sum_of(x));
	RESULT = least;
}

KERNEL(own_variables_only)
{
	RESULT = last_of(x[0], 9);
}

// So little that a compiler makes room for it as if it saved a register.
__device__ float one_variable(float value)
{
	float sum;
	sum += value;
	return sum;
}

KERNEL(few)
{
	RESULT = one_variable(x[0]);
}

KERNEL(bytes)
{
	RESULT = odd_bytes(5);
}

KERNEL(deeper_than_ever)
{
	RESULT = deep(300);
}

KERNEL(large)
{
	float list[30000];
	double total = list[29999];
	for (int i = 0; i < 30000; i += 1999)
		total += list[i];
	RESULT = total;
}

KERNEL(vectors)
{
	float4 v;
	v.x += x[0];
	RESULT = (double)v.x + v.w;
}

__global__ void aligned(int, int, int, int, int, int, const float *x, double *y)
{
	alignas(128) float row[24];
	RESULT = fmaxf(row[23], x[0]);
}

static int fair_results(const char *name, const double *device)
{
	double y[BLOCKS * THREADS];
	int fair = 0;
	cudaMemcpy(y, device, sizeof y, cudaMemcpyDeviceToHost);
	for (double value : y)
		fair += !(fabs(value) > 1e37);
	printf("%s: %d fair results\n", name, fair);
	return fair;
}

int main()
{
	const float hx[COUNT] = {1, 2, 3, 4, 5, 6, 7, 8};
	float *x;
	double *y;
	int fair = 0;
	cudaMalloc(&x, sizeof hx);
	cudaMalloc(&y, BLOCKS * THREADS * sizeof *y);
	cudaMemcpy(x, hx, sizeof hx, cudaMemcpyHostToDevice);
#define TRY(kernel)                                                                                                  \
	do {                                                                                                         \
		cudaMemset(y, 0, BLOCKS *THREADS * sizeof *y);                                                       \
		kernel<<<BLOCKS, THREADS>>>(x, y);                                                                   \
		fair += fair_results(#kernel, y);                                                                    \
	} while (0)
	TRY(sum);
	TRY(maximum);
	TRY(whole_numbers);
	TRY(rows<1>);
	TRY(rows<3>);
	TRY(rows<64>);
	TRY(rows<100>);
	TRY(after_a_barrier);
	TRY(called_again);
	TRY(own_variables_only);
	TRY(few);
	TRY(bytes);
	TRY(deeper_than_ever);
	TRY(large);
	TRY(vectors);
	aligned<<<BLOCKS, THREADS>>>(1, 2, 3, 4, 5, 6, x, y);
	fair += fair_results("aligned", y);
	return fair == 0 ? 0 : 1;
}
