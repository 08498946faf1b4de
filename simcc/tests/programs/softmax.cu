// Softmax of rows: a block for each row, maximum and sum through shuffles and shared memory.
#include "check.cuh"
#include <cmath>

__device__ float reduce(float value, bool maximum, float *shared)
{
	for (int offset = 16; offset > 0; offset /= 2) {
		float other = __shfl_xor_sync(0xffffffff, value, offset);
		value = maximum ? fmaxf(value, other) : value + other;
	}
	__syncthreads(); // the last use of `shared` is over
	if (threadIdx.x % 32 == 0)
		shared[threadIdx.x / 32] = value;
	__syncthreads();
	value = shared[0];
	for (int w = 1; w < (int)blockDim.x / 32; w++)
		value = maximum ? fmaxf(value, shared[w]) : value + shared[w];
	return value;
}

__global__ void softmax(const float *x, float *y, int columns)
{
	extern __shared__ float shared[];
	const float *row = x + (size_t)blockIdx.x * columns;
	float m = -INFINITY, l = 0;
	for (int c = threadIdx.x; c < columns; c += blockDim.x)
		m = fmaxf(m, row[c]);
	m = reduce(m, true, shared);
	for (int c = threadIdx.x; c < columns; c += blockDim.x)
		l += expf(row[c] - m);
	l = reduce(l, false, shared);
	for (int c = threadIdx.x; c < columns; c += blockDim.x)
		y[(size_t)blockIdx.x * columns + c] = expf(row[c] - m) / l;
}

int main()
{
	float x[500], y[500];
	for (int i = 0; i < 500; i++)
		x[i] = (float)((i * 31) % 17) - 8;
	float *dx = device_copy(x, 500), *dy = device_zeros<float>(500);

	// 5 rows of 100 columns, 400 bytes, which is 16 more than a multiple of 32: a row's three warps and a bit,
	// all counted three times for loads. Each thread reads 2 * 2 partial results.
	//= softmax load=3*2000/3*5*4/? store=2000/5*4/? exp=2*500 barriers=5*4 foot=2000/2000 dyn=8
	//+ sstore=2*5*8/2*5*2/20/20 sload=2*2*5*64*4/2*2*5*2/40/40
	softmax<<<5, 64, 2 * sizeof(float)>>>(dx, dy, 100);
	fetch(y, dy, 500);
	for (int r = 0; r < 5; r++) {
		double m = -1e30, l = 0;
		for (int c = 0; c < 100; c++)
			m = fmax(m, x[r * 100 + c]);
		for (int c = 0; c < 100; c++)
			l += exp(x[r * 100 + c] - m);
		for (int c = 0; c < 100; c++)
			EXPECT(fabs(y[r * 100 + c] - exp(x[r * 100 + c] - m) / l) < 1e-6);
	}
	return 0;
}
