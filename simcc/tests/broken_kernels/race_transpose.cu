// EXPECT racecheck RAW|WAR error
#include "main.cuh"

__global__ void transpose(const float *x, float *y, int n)
{
	__shared__ float tile[16][17];
	int c = blockIdx.x * 16 + threadIdx.x, r = blockIdx.y * 16 + threadIdx.y;
	tile[threadIdx.y][threadIdx.x] = x[r * n + c]; // OTHER
	IF_RIGHT(__syncthreads());
	c = blockIdx.y * 16 + threadIdx.x, r = blockIdx.x * 16 + threadIdx.y;
	y[r * n + c] = tile[threadIdx.x][threadIdx.y]; // BUG
}

MAIN(transpose<<<dim3(2, 2), dim3(16, 16)>>>(zeros<float>(32 * 32), empty<float>(32 * 32), 32))
