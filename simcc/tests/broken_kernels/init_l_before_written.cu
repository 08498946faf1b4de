// FlashAttention backward needs the row sums l of the forward kernel, which forgets those of its last rows.
// EXPECT initcheck uninitialized error
// ORDERS all
// WHOLE
#include <cmath>
#include <cstdio>

const int N = 40;

__global__ void forward(const float *S, float *m, float *l, int n)
{
	int row = blockIdx.x * blockDim.x + threadIdx.x;
	if (row >= n)
		return;
	float most = -INFINITY, sum = 0;
	for (int j = 0; j < n; j++)
		most = fmaxf(most, S[row * n + j]);
	for (int j = 0; j < n; j++)
		sum += expf(S[row * n + j] - most);
	m[row] = most;
#ifndef FIXED
	if (row < n / 16 * 16)
#endif
		l[row] = sum;
}

__global__ void probabilities(float *S, const float *m, const float *l, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n * n)
		S[i] = expf(S[i] - m[i / n]) / l[i / n]; // BUG
}

int main()
{
	float *S, *m, *l;
	cudaMalloc(&S, N * N * sizeof(float));
	cudaMalloc(&m, N * sizeof(float));
	cudaMalloc(&l, N * sizeof(float));
	cudaMemset(S, 0, N * N * sizeof(float));
	forward<<<3, 16>>>(S, m, l, N);
	probabilities<<<(N * N + 127) / 128, 128>>>(S, m, l, N);
	cudaDeviceSynchronize();
	return 0;
}
