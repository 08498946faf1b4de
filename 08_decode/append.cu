/*
 * Writes keys and values of new tokens into their pages. It looks up the page of each token in the table, as decode_paged
 * does when it reads. One thread per number of K and of V.
 */
#include "decode.h"

__global__ void append_rows(struct append a)
{
	size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= (size_t)a.rows * a.width) // the last block has more threads than numbers
		return;
	int token = a.first + (int)(e / a.width);
	size_t row = (size_t)a.pages.table[token / a.pages.size] * a.pages.size + token % a.pages.size;
	a.K_pages[row * a.width + e % a.width] = a.K[e];
	a.V_pages[row * a.width + e % a.width] = a.V[e];
}

extern "C" cudaError_t launch_append(struct append a)
{
	if (a.rows < 1 || a.width < 1 || a.first < 0 || a.pages.size < 1)
		return cudaErrorInvalidValue;
	constexpr int THREADS = 256;
	size_t blocks = ((size_t)a.rows * a.width + THREADS - 1) / THREADS;
	append_rows<<<(unsigned)blocks, THREADS>>>(a);
	return cudaGetLastError();
}
