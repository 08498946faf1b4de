// Kernels whose addresses follow a pseudo-random formula; test_counts.c works out their counts from the formula
// alone.
#include "check.cuh"

const int N = 4096;

__host__ __device__ inline unsigned mix(unsigned x)
{
	x = (x ^ 61) ^ (x >> 16);
	x *= 9;
	x ^= x >> 4;
	x *= 0x27d4eb2d;
	return x ^ x >> 15;
}

// Three accesses in branches that depend on the thread, repeated a number of times that does too.
__global__ void gather(const float *x, float *y)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (unsigned k = 0; k < mix(i) % 7; k++) {
		unsigned r = mix(1000 * i + k);
		if (r % 3 == 0)
			sum += x[r % N];
		else if (r % 3 == 1)
			sum -= x[(r / 8 + i) % N];
		else
			sum += x[i];
	}
	y[i] = sum;
}

__global__ void shared_random(float *y)
{
	__shared__ float tile[1024];
	for (unsigned k = threadIdx.x; k < 1024; k += blockDim.x)
		tile[k] = (float)k;
	__syncthreads();
	float sum = 0;
	for (unsigned k = 0; k < 8; k++)
		sum += tile[mix(threadIdx.x * 8 + k + blockIdx.x) % 1024];
	y[blockIdx.x * blockDim.x + threadIdx.x] = sum;
}

// Up to 600 iterations, from block to block and lane to lane very different; every 64th lane has none.
__global__ void unequal(const double *x, float *y)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned trips = i % 64 == 0 ? 0 : mix(i) % (i % 5 == 0 ? 600 : 20);
	double sum = 0;
	for (unsigned k = 0; k < trips; k++)
		sum += x[(mix(i + 7) + 3 * k) % N];
	y[i] = (float)sum;
}

int main()
{
	static float x[N];
	static double z[N];
	for (int i = 0; i < N; i++)
		z[i] = x[i] = (float)i;
	float *dx = device_copy(x, N), *dy = device_zeros<float>(512);
	double *dz = device_copy(z, N);
	//= gather ANY
	gather<<<3, 100>>>(dx, dy);
	//= shared_random ANY
	shared_random<<<2, 128>>>(dy);
	//= unequal ANY
	unequal<<<4, 96>>>(dz, dy);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
