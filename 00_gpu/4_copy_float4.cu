/*
 * Chapter 00, fourth of eight: copy_float4, y = x. New: a thread copies four neighbors with one instruction of 16 bytes.
 *
 * Build and run: make build && ./gpu --kernel copy_float4. Limit: it moves the same sectors as copy, with a quarter
 * of the instructions.
 */
#include "blocks.cuh"

// A warp requests 512 consecutive bytes: 16 sectors, in which every byte is used. A float4 must lie at a multiple of 16
// bytes; x and y do, because cudaMalloc returns multiples of 256.
__global__ void copy_float4(
	const float *x, // [R, C]
	float *y,       // [R, C]
	size_t count)   // R C
{
	size_t i = 4 * ((size_t)blockIdx.x * blockDim.x + threadIdx.x);
	if (i + 4 <= count)
		*(float4 *)(y + i) = *(const float4 *)(x + i);
	else
		for (; i < count; i++) // without it up to three elements at the end are not copied
			y[i] = x[i];
}

extern "C" cudaError_t launch_copy_float4(struct matrix m)
{
	size_t count = m.rows * m.cols;
	copy_float4<<<blocks_for(count, 4 * THREADS), THREADS>>>(m.x, m.y, count);
	return cudaGetLastError();
}
