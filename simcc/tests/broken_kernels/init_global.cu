// Memory that nobody has written, or not all of it.
// EXPECT initcheck uninitialized error x8
#include "main.cuh"

template <class T>
__global__ void use(const T *x, T *y)
{
	y[threadIdx.x] = x[threadIdx.x]; // BUG
}

__global__ void histogram(const int *x, int *bins)
{
	atomicAdd(&bins[x[threadIdx.x] & 15], 1); // BUG
}

// The result is added to memory that cudaMalloc has left as it was.
__global__ void axpy(int a, const int *x, int *y)
{
	y[threadIdx.x] += a * x[threadIdx.x]; // BUG
}

int main()
{
	const size_t bytes = 64 * sizeof(int), row = 32 * sizeof(int), wide_row = 40 * sizeof(int);
	int h[64] = {0}, *x = empty<int>(64), *copy = empty<int>(4 * 40), *y = empty<int>(64), *bins = empty<int>(16);
	unsigned char *mask = empty<unsigned char>(61);

	// cudaMemset counts bytes, not elements.
	cudaMemset(bins, 0, WRONG(16, 16 * sizeof(int)));
	histogram<<<1, 64>>>(upwards<int>(64), bins);

	// All but the last byte of the last element: a size that is one too small.
	cudaMemcpy(x, h, WRONG(bytes - 1, bytes), cudaMemcpyHostToDevice);
	use<<<1, 64>>>(x, y);

	// One byte of the mask is missing.
	cudaMemset(mask, 1, WRONG(60, 61));
	use<<<1, 61>>>(mask, (unsigned char *)y);

	axpy<<<1, 64>>>(2, zeros<int>(64), WRONG(empty<int>(64), zeros<int>(64)));

	// cudaMemset2D leaves what lies between two rows as it is.
	x = empty<int>(64);
	cudaMemset2D(x, 32, 0, WRONG(16, 32), 8);
	use<<<1, 64>>>(x, y);

	// A copy on the device is as undefined as the original, and so are copied rows, of which the last was not written.
	x = empty<int>(4 * 32);
	cudaMemset(x, 0, WRONG(3, 4) * row);
	cudaMemcpy(copy, x, 4 * row, cudaMemcpyDeviceToDevice);
	use<<<4, 32>>>(copy + 3 * 32, y);
	copy = empty<int>(4 * 40);
	cudaMemcpy2D(copy, wide_row, x, row, row, 4, cudaMemcpyDeviceToDevice);
	use<<<1, 32>>>(copy + 3 * 40, y);

	// What an earlier allocation held is not what a new one holds, even at the same address.
	x = zeros<int>(64);
	IF_WRONG(allocated_count--, cudaFree(x), x = empty<int>(64));
	use<<<1, 64>>>(x, y);
	return end();
}
