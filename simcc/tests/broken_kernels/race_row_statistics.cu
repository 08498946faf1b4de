// Warp 0 updates m and l of the rows; the other warps rescale with them in the same breath.
// EXPECT racecheck RAW|WAR error
#include "main.cuh"
#include <cmath>

const int ROWS = 32, D = 64;

__global__ void rescale(const float *S, float *O, int tiles)
{
	__shared__ float m[ROWS], correction[ROWS];
	float acc[ROWS * D / 128] = {0};
	int t = threadIdx.x;

	if (t < ROWS)
		m[t] = -1e30f;
	__syncthreads();
	for (int tile = 0; tile < tiles; tile++) {
		if (t < ROWS) {
			float m_new = fmaxf(m[t], S[tile * ROWS + t]);
			correction[t] = expf(m[t] - m_new); // OTHER
			m[t] = m_new;
		}
		IF_RIGHT(__syncthreads());
		for (int i = 0; i < ROWS * D / 128; i++)
			acc[i] = acc[i] * correction[(t + i * 128) / D] + 1; // BUG
		__syncthreads();
	}
	for (int i = 0; i < ROWS * D / 128; i++)
		O[t + i * 128] = acc[i];
}

int main()
{
	float *S = zeros<float>(4 * ROWS), *O = empty<float>(ROWS * D);
	rescale<<<1, 128>>>(S, O, 4);
	return end();
}
