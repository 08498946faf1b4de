/*
 * Rotary position embedding: pair p of a head, columns 2p and 2p + 1, is rotated by position * base^(-2p/d). The product
 * of a rotated q and a rotated k depends only on the distance between the two tokens, not on their positions.
 *
 * Cosines and sines come from the host, in double precision: at token 8,000 an fp32 angle is off by 5e-4.
 *
 *     Su et al.: RoFormer, 2021.  https://arxiv.org/abs/2104.09864
 */
#include "transformer.h"

// One thread per pair.
__global__ void rope(
	const float *x,      // [N, H, d]
	const float *angles, // [N, d]: cosine, sine, cosine, ...
	float *y,            // [N, H, d], may be x
	int N, int H, int d)
{
	int pairs = (d + 1) / 2;
	size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= (size_t)N * H * pairs)
		return;
	// task 07.rope: a pair of columns, turned by its token's angle
	size_t row = e / pairs / H;
	int c = 2 * (int)(e % pairs);
	const float *from = x + e / pairs * d + c, *angle = angles + row * d + c;
	float *to = y + e / pairs * d + c;
	if (c + 1 == d) { // an odd d: the last column has no partner
		to[0] = from[0];
		return;
	}
	float a = from[0], b = from[1], cosine = angle[0], sine = angle[1];
	to[0] = a * cosine - b * sine;
	to[1] = a * sine + b * cosine;
	// end 07.rope
}

extern "C" cudaError_t launch_rope(const float *x, const float *angles, float *y, int N, int H, int d)
{
	size_t threads = (size_t)N * H * ((d + 1) / 2), blocks = (threads + 255) / 256;
	if (N < 1 || H < 1 || d < 1 || blocks > 0x7fffffff)
		return cudaErrorInvalidValue;
	rope<<<blocks, 256>>>(x, angles, y, N, H, d);
	return cudaGetLastError();
}
