/*
 * A complete CUDA program, with nothing of the course around it: the GPU doubles the numbers 0 to 999.
 * README.md explains each line.
 *
 * Build and run: ../../simcc/simcc first.cu -o first && ./first, or with a GPU: nvcc first.cu -o first && ./first
 */
#include <stdio.h>
#include <stdlib.h>

enum { COUNT = 1000, THREADS = 256 };

__global__ void twice(float *x, int count)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < count)
		x[i] = 2 * x[i];
}

static void check(cudaError_t error, const char *what)
{
	if (error != cudaSuccess) {
		fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(error));
		exit(1);
	}
}

int main(void)
{
	float numbers[COUNT];
	for (int i = 0; i < COUNT; i++)
		numbers[i] = i;

	float *x;
	check(cudaMalloc(&x, sizeof numbers), "cudaMalloc");
	check(cudaMemcpy(x, numbers, sizeof numbers, cudaMemcpyHostToDevice), "copy to the GPU");
	int blocks = (COUNT + THREADS - 1) / THREADS;
	twice<<<blocks, THREADS>>>(x, COUNT);
	check(cudaGetLastError(), "launch");
	check(cudaDeviceSynchronize(), "kernel");
	check(cudaMemcpy(numbers, x, sizeof numbers, cudaMemcpyDeviceToHost), "copy back");
	check(cudaFree(x), "cudaFree");

	int wrong = 0;
	for (int i = 0; i < COUNT; i++)
		wrong += numbers[i] != 2 * i;
	printf("twice 999 is %g, and %d of %d numbers are wrong\n", numbers[999], wrong, COUNT);
	return wrong != 0;
}
