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

#define KERNEL(name) __global__ void name(const float *x, double *y)
#define RESULT       y[blockIdx.x * blockDim.x + threadIdx.x]

KERNEL(whole_numbers)
{
	int total;
	total += (int)x[0];
	RESULT = abs((double)total) * 1e30;
}

KERNEL(vectors)
{
	float4 v;
	v.x += x[0];
	RESULT = (double)v.x + v.w;
}

template <int D>
KERNEL(rows)
{
	float row[D];
	double total = 0;
	for (int d = 0; d < D; d++)
		row[d] += x[d % COUNT];
	for (int d = 0; d < D; d++)
		total += row[d];
	RESULT = total;
}

KERNEL(called_again)
{
	float least = 1e38f;
	for (int i = 0; i < 4; i++)
		least = fminf(least, sum_of(x));
	RESULT = least;
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

KERNEL(aligned)
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
	TRY(whole_numbers);
	TRY(vectors);
	TRY(rows<3>);
	TRY(rows<100>);
	TRY(called_again);
	TRY(bytes);
	TRY(deeper_than_ever);
	TRY(large);
	TRY(aligned);
	return fair == 0 ? 0 : 1;
}
