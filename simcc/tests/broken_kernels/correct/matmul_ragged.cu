// Tiled matrix product, no dimension a multiple of the tile.
#include <cstdio>

const int T = 16;

template <typename F>
__global__ void matmul(const F *__restrict__ A, const F *__restrict__ B, F *C, int M, int N, int K)
{
	__shared__ F a[T][T], b[T][T];
	int c = threadIdx.x, r = threadIdx.y, col = blockIdx.x * T + c, row = blockIdx.y * T + r;
	F sum = 0;
	for (int k0 = 0; k0 < K; k0 += T) {
		a[r][c] = row < M && k0 + c < K ? A[row * K + k0 + c] : 0;
		b[r][c] = col < N && k0 + r < K ? B[(k0 + r) * N + col] : 0;
		__syncthreads();
#pragma unroll
		for (int k = 0; k < T; k++)
			sum += a[r][k] * b[k][c];
		__syncthreads();
	}
	if (row < M && col < N)
		C[row * N + col] = sum;
}

template <typename F>
int run()
{
	const int M = 33, N = 20, K = 41;
	static F h[M * K + K * N];
	F *A, *B, *C;
	for (int i = 0; i < M * K + K * N; i++)
		h[i] = 1;
	cudaMalloc(&A, M * K * sizeof(F));
	cudaMalloc(&B, K * N * sizeof(F));
	cudaMalloc(&C, M * N * sizeof(F));
	cudaMemcpy(A, h, M * K * sizeof(F), cudaMemcpyHostToDevice);
	cudaMemcpy(B, h, K * N * sizeof(F), cudaMemcpyHostToDevice);
	matmul<F><<<dim3((N + T - 1) / T, (M + T - 1) / T), dim3(T, T)>>>(A, B, C, M, N, K);
	cudaMemcpy(h, C, M * N * sizeof(F), cudaMemcpyDeviceToHost);
	cudaFree(A), cudaFree(B), cudaFree(C);
	return h[M * N - 1] != K;
}

int main()
{
	return run<float>() || run<double>();
}
