// One row of K is not copied.
// EXPECT initcheck uninitialized error
#include <cstdio>

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
	float h[N * D] = {0}, *Q, *K, *S;
	cudaMalloc(&Q, sizeof h);
	cudaMalloc(&K, sizeof h);
	cudaMalloc(&S, N * N * sizeof(float));
	cudaMemcpy(Q, h, sizeof h, cudaMemcpyHostToDevice);
#ifdef FIXED
	cudaMemcpy(K, h, N * D * sizeof(float), cudaMemcpyHostToDevice);
#else
	cudaMemcpy(K, h, (N - 1) * D * sizeof(float), cudaMemcpyHostToDevice);
#endif
	scores<<<1, N * N>>>(Q, K, S);
	cudaDeviceSynchronize();
	return 0;
}
