// The last K/V tile has fewer rows; those that were not loaded are used all the same.
// EXPECT initcheck uninitialized error
#include "main.cuh"
#include <cmath>

const int N = 20, D = 16, TILE = 32;

__global__ void attention(const float *Q, const float *K, const float *V, float *O)
{
	__shared__ float k[TILE][D], v[TILE][D];
	int row = threadIdx.x;
	float acc[D] = {0}, m = -INFINITY, l = 0;
	for (int i = threadIdx.x; i < TILE * D; i += blockDim.x)
		if (i / D < N) {
			k[i / D][i % D] = K[i];
			v[i / D][i % D] = V[i];
		}
	__syncthreads();
	if (row >= N)
		return;
	for (int j = 0; j < WRONG(TILE, N); j++) {
		float s = 0;
		for (int c = 0; c < D; c++)
			s += Q[row * D + c] * k[j][c]; // BUG
		float m_new = fmaxf(m, s), correction = expf(m - m_new), p = expf(s - m_new);
		l = l * correction + p;
		for (int c = 0; c < D; c++)
			acc[c] = acc[c] * correction + p * v[j][c]; // BUG
		m = m_new;
	}
	for (int c = 0; c < D; c++)
		O[row * D + c] = acc[c] / l;
}

int main()
{
	const int count = N * D;
	attention<<<1, 64>>>(zeros<float>(count), zeros<float>(count), zeros<float>(count), empty<float>(count));
	return end();
}
