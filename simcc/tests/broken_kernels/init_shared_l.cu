// FlashAttention forward with the row state in shared memory: l is used before it has its first value.
// EXPECT initcheck uninitialized error
#include "main.cuh"
#include <cmath>

const int ROWS = 32, N = 64;

__global__ void softmax_sum(const float *S, float *L)
{
	__shared__ float m[ROWS], l[ROWS];
	int row = threadIdx.x;
	m[row] = -INFINITY;
	IF_RIGHT(l[row] = 0);
	for (int j = 0; j < N; j++) {
		float s = S[row * N + j], m_new = fmaxf(m[row], s);
		l[row] = l[row] * expf(m[row] - m_new) + expf(s - m_new); // BUG
		m[row] = m_new;
	}
	L[row] = m[row] + logf(l[row]);
}

int main()
{
	float *S = zeros<float>(ROWS * N), *L = empty<float>(ROWS);
	softmax_sum<<<1, ROWS>>>(S, L);
	return end();
}
