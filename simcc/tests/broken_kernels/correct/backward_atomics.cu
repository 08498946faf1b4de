// FlashAttention backward: dQ with atomics from all blocks, dK and dV owned by a block.
#include "../main.cuh"
#include <cmath>

const int N = 48, D = 16, T = 16;

__global__ void backward(
	const float *Q, const float *K, const float *V, const float *dO, const float *L, const float *delta,
	float *dQ, float *dK, float *dV)
{
	__shared__ float k[T][D + 1], v[T][D + 1], q[T][D + 1], o[T][D + 1], p[T][T + 1], ds[T][T + 1];
	int c = threadIdx.x, r = threadIdx.y, col0 = blockIdx.x * T;
	float dk = 0, dv = 0;
	k[r][c] = K[(col0 + r) * D + c];
	v[r][c] = V[(col0 + r) * D + c];
	for (int row0 = 0; row0 < N; row0 += T) {
		q[r][c] = Q[(row0 + r) * D + c];
		o[r][c] = dO[(row0 + r) * D + c];
		__syncthreads();
		float s = 0, dp = 0;
		for (int x = 0; x < D; x++) {
			s += q[r][x] * k[c][x];
			dp += o[r][x] * v[c][x];
		}
		p[r][c] = expf(s - L[row0 + r]);
		ds[r][c] = p[r][c] * (dp - delta[row0 + r]);
		__syncthreads();
		float dq = 0;
		for (int x = 0; x < T; x++) {
			dv += p[x][r] * o[x][c];
			dk += ds[x][r] * q[x][c];
			dq += ds[r][x] * k[x][c];
		}
		atomicAdd(&dQ[(row0 + r) * D + c], dq);
		__syncthreads();
	}
	dK[(col0 + r) * D + c] = dk;
	dV[(col0 + r) * D + c] = dv;
}

int main()
{
	float *d[9];
	for (int i = 0; i < 9; i++)
		d[i] = i < 7 ? zeros<float>(N * D) : empty<float>(N * D);
	backward<<<N / T, dim3(T, T)>>>(d[0], d[1], d[2], d[3], d[4], d[5], d[6], d[7], d[8]);
	return end();
}
