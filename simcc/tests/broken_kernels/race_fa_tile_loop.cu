// FlashAttention, a warp a query row: the next K/V tile is loaded while slow warps still read this one.
// EXPECT racecheck WAR|RAW error
// ORDERS all
// WHOLE
#include <cmath>
#include <cstdio>

const int N = 64, D = 32, TILE = 16, WARPS = 4;

__global__ void attention(const float *Q, const float *K, const float *V, float *O, float scale)
{
	__shared__ float k[TILE][D + 1], v[TILE][D];
	int warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	int row = blockIdx.x * WARPS + warp;
	float q = Q[row * D + lane] * scale, m = -INFINITY, l = 0, acc = 0;

	for (int first = 0; first < N; first += TILE) {
		for (int i = threadIdx.x; i < TILE * D; i += blockDim.x) {
			k[i / D][i % D] = K[first * D + i]; // OTHER
			v[i / D][i % D] = V[first * D + i]; // OTHER
		}
		__syncthreads();
		for (int j = 0; j < TILE; j++) {
			float s = q * k[j][lane]; // BUG
			for (int step = 16; step > 0; step /= 2)
				s += __shfl_xor_sync(0xffffffff, s, step);
			float m_new = fmaxf(m, s), correction = expf(m - m_new), p = expf(s - m_new);
			l = l * correction + p;
			acc = acc * correction + p * v[j][lane]; // BUG
			m = m_new;
		}
#ifdef FIXED
		__syncthreads();
#endif
	}
	O[row * D + lane] = acc / l;
}

int main()
{
	static float h[N * D];
	float *d[4];
	for (int i = 0; i < N * D; i++)
		h[i] = sinf(i);
	for (int i = 0; i < 4; i++) {
		cudaMalloc(&d[i], sizeof h);
		if (i < 3)
			cudaMemcpy(d[i], h, sizeof h, cudaMemcpyHostToDevice);
	}
	attention<<<N / WARPS, WARPS * 32>>>(d[0], d[1], d[2], d[3], 0.17f);
	cudaMemcpy(h, d[3], sizeof h, cudaMemcpyDeviceToHost);
	return 0;
}
