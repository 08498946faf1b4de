// The launch of a kernel with tiles: D is the head dimension rounded up to a multiple of 32, TILE is b.tile.
#pragma once

#include "backward.h"
#include "modified.h"

// `More`: nothing, or `struct scores` of modified.cuh.
template <class... More>
using tile_kernel_with = void(struct backward, More...);

typedef tile_kernel_with<> tile_kernel;
typedef tile_kernel_with<struct scores> modified_kernel;

// kernels[D / 32 - 1][TILE / 32 - 1] is the kernel<D, TILE>: D = 32, 64, 96, 128; TILE = 32, 64. Heads: those whose rows the
// blocks own, in all sequences.
template <class... More>
inline cudaError_t launch_tiles_of(
	size_t heads, tile_kernel_with<More...> *const (&kernels)[4][2], const struct backward &b, More... more)
{
	if (b.d < 1 || b.d > 128 || (b.tile != 32 && b.tile != 64))
		return cudaErrorInvalidValue;
	auto *kernel = kernels[(b.d - 1) / 32][b.tile / 32 - 1];
	size_t shared_bytes = backward_shared_bytes(b.d, b.tile);
	size_t blocks = heads * ((b.N + b.tile - 1) / b.tile); // one per tile of own rows
	if (blocks > 0x7fffffff)
		return cudaErrorInvalidConfiguration; // a grid has at most 2^31 - 1 blocks
	// More than 48 KB has to be requested. A device that does not have it returns an error here.
	cudaError_t status =
		cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, (int)shared_bytes);
	if (status != cudaSuccess)
		return status;
	kernel<<<blocks, 2 * b.tile, shared_bytes>>>(b, more...);
	return cudaGetLastError();
}

inline cudaError_t launch_tiles(tile_kernel *const (&kernels)[4][2], const struct backward &b)
{
	return launch_tiles_of(b.heads, kernels, b);
}

// A block owns rows of one of `heads` heads of a sequence: a.H of queries, or a.G of keys.
inline cudaError_t launch_modified(
	int heads, modified_kernel *const (&kernels)[4][2], const struct backward &b, const struct scores &a)
{
	if (a.G < 1 || a.H % a.G != 0)
		return cudaErrorInvalidValue;
	struct backward longest = b;
	longest.N = a.longest; // as many blocks for each sequence
	return launch_tiles_of((size_t)a.sequences * heads, kernels, longest, a);
}
