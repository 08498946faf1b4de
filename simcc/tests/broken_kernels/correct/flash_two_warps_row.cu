// FlashAttention-2 style: query tile and statistics in shared memory, ragged tail, causal mask, 4 warps.
#include <cmath>
#include <cstdio>

const int N = 77, D = 32, BR = 16, BC = 32;

__global__ __launch_bounds__(128) void forward(
	const float *__restrict__ Q, const float *__restrict__ K, const float *__restrict__ V, float *__restrict__ O,
	float *L)
{
	__shared__ float q[BR][D + 1], k[BC][D + 1], v[BC][D], s[BR][BC + 1], m[BR], l[BR], c[BR];
	const int t = threadIdx.x, row0 = blockIdx.x * BR;
	float acc[BR * D / 128] = {0};

	for (int i = t; i < BR * D; i += 128)
		q[i / D][i % D] = row0 + i / D < N ? Q[row0 * D + i] : 0;
	if (t < BR) {
		m[t] = -INFINITY;
		l[t] = 0;
	}
	for (int col0 = 0; col0 < N && col0 <= row0 + BR - 1; col0 += BC) {
		__syncthreads();
		for (int i = t; i < BC * D; i += 128) {
			bool in = col0 + i / D < N;
			k[i / D][i % D] = in ? K[col0 * D + i] : 0;
			v[i / D][i % D] = in ? V[col0 * D + i] : 0;
		}
		__syncthreads();
		for (int i = t; i < BR * BC; i += 128) {
			int r = i / BC, j = i % BC;
			float dot = 0;
			for (int x = 0; x < D; x++)
				dot += q[r][x] * k[j][x];
			s[r][j] = col0 + j < N && col0 + j <= row0 + r ? dot * 0.17f : -INFINITY;
		}
		__syncthreads();
		if (t < BR) {
			float m_new = m[t], sum = 0;
			for (int j = 0; j < BC; j++)
				m_new = fmaxf(m_new, s[t][j]);
			for (int j = 0; j < BC; j++)
				sum += s[t][j] = m_new == -INFINITY ? 0 : expf(s[t][j] - m_new);
			c[t] = m[t] == -INFINITY ? 0 : expf(m[t] - m_new);
			l[t] = l[t] * c[t] + sum;
			m[t] = m_new;
		}
		__syncthreads();
		for (int i = 0; i < BR * D / 128; i++) {
			int r = (t + i * 128) / D, x = (t + i * 128) % D;
			float sum = 0;
			for (int j = 0; j < BC; j++)
				sum += s[r][j] * v[j][x];
			acc[i] = acc[i] * c[r] + sum;
		}
	}
	for (int i = 0; i < BR * D / 128; i++) {
		int r = (t + i * 128) / D, x = (t + i * 128) % D;
		if (row0 + r < N)
			O[(row0 + r) * D + x] = acc[i] / l[r];
	}
	if (t < BR && row0 + t < N)
		L[row0 + t] = m[t] + logf(l[t]);
}

int main()
{
	static float h[N * D];
	float *d[5];
	for (int i = 0; i < N * D; i++)
		h[i] = cosf(i);
	for (int i = 0; i < 5; i++) {
		cudaMalloc(&d[i], (i < 4 ? N * D : N) * sizeof(float));
		if (i < 3)
			cudaMemcpy(d[i], h, sizeof h, cudaMemcpyHostToDevice);
	}
	forward<<<(N + BR - 1) / BR, 128>>>(d[0], d[1], d[2], d[3], d[4]);
	cudaMemcpy(h, d[3], sizeof h, cudaMemcpyDeviceToHost);
	for (int i = 0; i < 5; i++)
		cudaFree(d[i]);
	return fabsf(h[0] - 1) > 1e-5f;
}
