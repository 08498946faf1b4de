// One row of K is not copied.
// EXPECT initcheck uninitialized error
#include "main.cuh"

const int N = 16, D = 8;

__global__ void scores(const float *Q, const float *K, float *S)
{
	int i = threadIdx.x / N, j = threadIdx.x % N;
	float s = 0;
	for (int c = 0; c < D; c++)
		s += Q[i * D + c] * K[j * D + c]; // BUG
	S[i * N + j] = s;
}

int main()
{
	float h[N * D] = {0};
	float *Q = copy_of(h), *K = empty<float>(N * D), *S = empty<float>(N * N);
	cudaMemcpy(K, h, WRONG((N - 1), N) * D * sizeof(float), cudaMemcpyHostToDevice);
	scores<<<1, N * N>>>(Q, K, S);
	return end();
}
