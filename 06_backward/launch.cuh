// The launch of a kernel with tiles: D is the head dimension rounded up to a multiple of 32, TILE is b.tile.
#pragma once

#include "backward.h"

typedef void tile_kernel(struct backward);

// kernels[D / 32 - 1][TILE / 32 - 1] is the kernel<D, TILE>: D = 32, 64, 96, 128; TILE = 32, 64.
inline cudaError_t launch_tiles(tile_kernel *const (&kernels)[4][2], const struct backward &b)
{
	if (b.d < 1 || b.d > 128 || (b.tile != 32 && b.tile != 64))
		return cudaErrorInvalidValue;
	auto *kernel = kernels[(b.d - 1) / 32][b.tile / 32 - 1];
	size_t shared_bytes = backward_shared_bytes(b.d, b.tile);
	size_t blocks = (size_t)b.heads * ((b.N + b.tile - 1) / b.tile); // one per tile of own rows
	if (blocks > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks
	// More than 48 KB has to be requested. A device that does not have it returns an error here.
	cudaError_t status =
		cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<blocks, 2 * b.tile, shared_bytes>>>(b);
	return cudaGetLastError();
}
