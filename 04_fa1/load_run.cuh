/*
 * Chapter 04, for fa1_paper: a tile as it lies in HBM.
 */
#pragma once

// The rows of a tile lie one after the other in HBM, so a tile is one run of numbers: neighbors load neighbors.
__device__ inline void load_run(const float *from, int count, float *to)
{
	for (int e = threadIdx.x; e < count; e += blockDim.x)
		to[e] = from[e];
}
