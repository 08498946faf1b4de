// Two buffers and one barrier a tile are enough only if the barrier stands between computing and overwriting.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

const int TILES = 6, T = 128;

__global__ void pipeline(const float *x, float *y)
{
	__shared__ float buffer[2][T];
	int t = threadIdx.x;
	float sum = 0;

	buffer[0][t] = x[t];
	__syncthreads();
	for (int tile = 0; tile < TILES; tile++) {
		if (tile + 1 < TILES)
			buffer[(tile + 1) % 2][t] = x[(tile + 1) * T + t]; // OTHER
		IF_WRONG(__syncthreads());
		sum += buffer[tile % 2][(t * 7 + 3) % T]; // BUG
		IF_RIGHT(__syncthreads());
	}
	y[t] = sum;
}

int main()
{
	float *x = zeros<float>(TILES * T), *y = empty<float>(T);
	pipeline<<<1, T>>>(x, y);
	return end();
}
