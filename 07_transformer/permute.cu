/*
 * Copies of the heads, for an attention kernel that takes only whole arrays per head, [heads, rows, d]. The projections
 * write [rows, heads, d], so Q, K and V are copied before that kernel and O after it.
 */
#include "transformer.h"

// One thread per element: neighboring threads read and write neighboring elements.
__global__ void permute(
	const float *from, struct strides of_from, float *to, struct strides of_to, int rows, int heads, int d)
{
	size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= (size_t)rows * heads * d) // the last block may have threads left over
		return;
	size_t c = e % d, head = e / d % heads, row = e / d / heads;
	to[row * of_to.row + head * of_to.head + c] = from[row * of_from.row + head * of_from.head + c];
}

extern "C" cudaError_t launch_permute(
	const float *from, struct strides of_from, float *to, struct strides of_to, int rows, int heads, int d)
{
	size_t elements = (size_t)rows * heads * d, blocks = (elements + 255) / 256;
	if (rows < 1 || heads < 1 || d < 1 || blocks > 0x7fffffff)
		return cudaErrorInvalidValue;
	permute<<<blocks, 256>>>(from, of_from, to, of_to, rows, heads, d);
	return cudaGetLastError();
}
