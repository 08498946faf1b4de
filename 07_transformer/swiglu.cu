/*
 * SwiGLU: the step between the projections of the feed-forward part. One projection gives `gate`, another `up`; the result
 * is silu(gate) * up, with silu(g) = g / (1 + exp(-g)).
 *
 *     Shazeer: GLU Variants Improve Transformer, 2020.  https://arxiv.org/abs/2002.05202
 */
#include "transformer.h"

__global__ void swiglu(
	const float *gate, // [elements]
	const float *up,   // [elements]
	float *out,        // [elements], may be gate
	size_t elements)
{
	size_t e = (size_t)blockIdx.x * blockDim.x + threadIdx.x;
	if (e >= elements) // the last block may have threads left over
		return;
	float g = gate[e];
	out[e] = up[e] * (g / (1.0f + expf(-g))); // exp may be infinite: then the quotient is -0
}

extern "C" cudaError_t launch_swiglu(const float *gate, const float *up, float *out, size_t elements)
{
	size_t blocks = (elements + 255) / 256;
	if (elements < 1 || blocks > 0x7fffffff)
		return cudaErrorInvalidValue;
	swiglu<<<blocks, 256>>>(gate, up, out, elements);
	return cudaGetLastError();
}
