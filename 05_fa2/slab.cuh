/*
 * Chapter 05, from fa2_slab on: the lanes of a warp exchange P~ through shared memory that only this warp uses, its slab.
 */
#pragma once

#include "shape.cuh"

template <int D>
__device__ void store_slab(
	const float p[warp_shape<D>::ROWS][warp_shape<D>::KEYS],
	float *P) // this lane's first row and key in the slab
{
	using T = warp_shape<D>;
#pragma unroll
	for (int r = 0; r < T::ROWS; r++)
#pragma unroll
		for (int j = 0; j < T::KEYS; j++)
			P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS] = p[r][j];
}

// o += P~ V. Four keys at a time: ROWS + COLUMNS loads of 16 bytes for ROWS COLUMNS 4 FMA.
template <int D>
__device__ void weigh_tile(
	const float *P, // this lane's first row in the slab; rows 4 P_STRIDE apart
	const float *V, // this lane's first columns; keys D apart
	float o[warp_shape<D>::ROWS][warp_shape<D>::COLUMNS])
{
	using T = warp_shape<D>;
#pragma unroll 1 // unrolled it would be thousands of instructions
	for (int j = 0; j < T::Bc; j += 4) {
		float4 p[T::ROWS];
#pragma unroll
		for (int r = 0; r < T::ROWS; r++)
			p[r] = *(const float4 *)(P + r * T::LANE_ROWS * T::P_STRIDE + j);
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c += 4)
#pragma unroll
			for (int key = 0; key < 4; key++) {
				float4 v = *(const float4 *)(V + (j + key) * D + c * T::LANE_KEYS);
#pragma unroll
				for (int r = 0; r < T::ROWS; r++) {
					float weight = key == 0   ? p[r].x
					               : key == 1 ? p[r].y
					               : key == 2 ? p[r].z
					                          : p[r].w;
					o[r][c] += weight * v.x;
					o[r][c + 1] += weight * v.y;
					o[r][c + 2] += weight * v.z;
					o[r][c + 3] += weight * v.w;
				}
			}
	}
}
