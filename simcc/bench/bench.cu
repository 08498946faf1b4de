/*
 * How fast is the simulated device? Loops that stand for what kernels do, each timed on one core, best of five.
 * Built twice by `make bench-sim`: with every counter and check, and with --fast. One line a loop: name, number,
 * unit.
 *
 * The row kernel is FlashAttention's shape: a thread owns a query row, tiles of keys and values pass through shared
 * memory. Its plain build is compared with row_loops.c, the same loops as a C function with the same flags.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "row_loops.h"

enum { N = ROWS, D = ROW_WIDTH, TILE = 32, SIDE = 256 };

__global__ void copy(const float *from, float *to, int count)
{
	for (int i = blockIdx.x * blockDim.x + threadIdx.x; i < count; i += gridDim.x * blockDim.x)
		to[i] = from[i];
}

__global__ void dot_products(const float *q, const float *k, float *s)
{
	int column = blockIdx.x * blockDim.x + threadIdx.x, row = blockIdx.y;
	float sum = 0;
	for (int c = 0; c < D; c++)
		sum += q[row * D + c] * k[column * D + c];
	s[row * N + column] = sum;
}

__global__ void matmul_tiles(const float *a, const float *b, float *c)
{
	__shared__ float left[16][16], right[16][16];
	int x = threadIdx.x, y = threadIdx.y, row = blockIdx.y * 16 + y, column = blockIdx.x * 16 + x;
	float sum = 0;
	for (int tile = 0; tile < SIDE; tile += 16) {
		left[y][x] = a[row * SIDE + tile + x];
		right[y][x] = b[(tile + y) * SIDE + column];
		__syncthreads();
		for (int k = 0; k < 16; k++)
			sum += left[y][k] * right[k][x];
		__syncthreads();
	}
	c[row * SIDE + column] = sum;
}

__global__ void diverging_loops(const float *from, float *to)
{
	int i = threadIdx.x;
	float sum = 0;
	for (int j = 0; j < 64 * (i % 32 + 1); j++)
		if ((i + j) % 3 == 0)
			sum += from[j];
		else
			sum -= from[j + 1];
	to[i] = sum;
}

__global__ void rows(const float *q, const float *k, const float *v, float *o)
{
	__shared__ float keys[TILE][D], values[TILE][D];
	const int row = blockIdx.x * blockDim.x + threadIdx.x;
	float query[D], sum[D], largest = -INFINITY, total = 0;

	for (int c = 0; c < D; c++) {
		query[c] = q[row * D + c];
		sum[c] = 0;
	}
	for (int first = 0; first < N; first += TILE) {
		__syncthreads();
		for (int i = threadIdx.x; i < TILE * D; i += blockDim.x) {
			keys[i / D][i % D] = k[first * D + i];
			values[i / D][i % D] = v[first * D + i];
		}
		__syncthreads();
		for (int j = 0; j < TILE; j++) {
			float score = 0;
			for (int c = 0; c < D; c++)
				score += query[c] * keys[j][c];
			const float larger = fmaxf(largest, score);
			const float correction = expf(largest - larger), weight = expf(score - larger);
			for (int c = 0; c < D; c++)
				sum[c] = sum[c] * correction + weight * values[j][c];
			total = total * correction + weight;
			largest = larger;
		}
	}
	for (int c = 0; c < D; c++)
		o[row * D + c] = sum[c] / total;
}

__global__ void barriers(float *y)
{
	for (int i = 0; i < 500; i++)
		__syncthreads();
	y[threadIdx.x] = 0;
}

static double now(void)
{
	struct timespec time;
	clock_gettime(CLOCK_MONOTONIC, &time);
	return (double)time.tv_sec + 1e-9 * (double)time.tv_nsec;
}

/* Best of five: what is not the program's own work only ever makes a run longer. */
template <class Run>
static double best_seconds(Run run)
{
	double best = 1e9;
	for (int i = 0; i < 5; i++) {
		const double start = now();
		run();
		const double seconds = now() - start;
		best = seconds < best ? seconds : best;
	}
	return best;
}

static void show(const char *name, double number, const char *unit)
{
	printf("%s\t%.4g\t%s\n", name, number, unit);
}

int main(void)
{
	const size_t bytes = (size_t)N * N * sizeof(float);
	float *q, *k, *v, *o, *s, *host = (float *)malloc(4 * ROWS * D * sizeof(float));

	if (cudaMalloc(&q, bytes) || cudaMalloc(&k, bytes) || cudaMalloc(&v, bytes) || cudaMalloc(&o, bytes) ||
	    cudaMalloc(&s, bytes) || host == NULL)
		return 3;
	for (int i = 0; i < 3 * ROWS * D; i++)
		host[i] = (float)(i * 7919 % 1000) / 1000 - 0.5f;
	cudaMemset(q, 0, bytes);
	cudaMemset(k, 0, bytes);
	cudaMemcpy(q, host, N * D * sizeof(float), cudaMemcpyHostToDevice);
	cudaMemcpy(k, host + N * D, N * D * sizeof(float), cudaMemcpyHostToDevice);
	cudaMemcpy(v, host + 2 * N * D, N * D * sizeof(float), cudaMemcpyHostToDevice);
	cudaMemset(s, 0, bytes);

	const double million = 1e6;
	show("copy", 2.0 * N * N / million / best_seconds([&] { copy<<<16, 256>>>(s, o, N * N); }), "M/s");
	show("dot products",
	     2.0 * N * N * D / million / best_seconds([&] { dot_products<<<dim3(N / 128, N), 128>>>(q, k, s); }),
	     "M/s");
	show("matmul tiles", (2.0 + 2.0 / 16 + 2.0 / 16) * SIDE * SIDE * SIDE / million / best_seconds([&] {
				     matmul_tiles<<<dim3(SIDE / 16, SIDE / 16), dim3(16, 16)>>>(q, k, s);
			     }),
	     "M/s");
	show("diverging loops",
	     64.0 * 32 * 33 / 2 * 8 * 32 / million / best_seconds([&] { diverging_loops<<<32, 256>>>(s, o); }),
	     "M/s");
	const double row_seconds = best_seconds([&] { rows<<<N / 128, 128>>>(q, k, v, o); });
	show("rows", (2.0 * N * N * D + 4.0 * N * N * D / 128 + 2.0 * N * D) / million / row_seconds, "M/s");
	show("barrier", best_seconds([&] { barriers<<<4, 256>>>(o); }) * 1e9 / (4.0 * 256 * 500), "ns/thread");

	float *expected = host + 3 * N * D;
	const double c_seconds = best_seconds([&] { row_loops(host, host + N * D, host + 2 * N * D, expected); });
	show("rows / C", row_seconds / c_seconds, "x");
	if (cudaDeviceSynchronize() != cudaSuccess)
		return 1;
	float *got = (float *)malloc(N * D * sizeof(float));
	cudaMemcpy(got, o, N * D * sizeof(float), cudaMemcpyDeviceToHost);
	rows<<<N / 128, 128>>>(q, k, v, o);
	cudaMemcpy(got, o, N * D * sizeof(float), cudaMemcpyDeviceToHost);
	for (int i = 0; i < N * D; i++)
		if (!(fabsf(got[i] - expected[i]) < 1e-5f)) {
			fprintf(stderr, "bench: the kernel and the C function differ\n");
			return 1;
		}
	cudaFree(q), cudaFree(k), cudaFree(v), cudaFree(o), cudaFree(s);
	free(got);
	free(host);
	return 0;
}
