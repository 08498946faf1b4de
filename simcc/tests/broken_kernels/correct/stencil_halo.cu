// 1-D stencil with halo cells, loaded by the first threads; dynamic borders.
#include "../main.cuh"

const int R = 3, BLOCK = 64;

__global__ void stencil(const int *in, int *out, int n)
{
	__shared__ int s[BLOCK + 2 * R];
	int g = blockIdx.x * BLOCK + threadIdx.x, l = threadIdx.x + R;
	s[l] = g < n ? in[g] : 0;
	if (threadIdx.x < R) {
		s[l - R] = g >= R ? in[g - R] : 0;
		s[l + BLOCK] = g + BLOCK < n ? in[g + BLOCK] : 0;
	}
	__syncthreads();
	int sum = 0;
	for (int o = -R; o <= R; o++)
		sum += s[l + o];
	if (g < n)
		out[g] = sum;
}

int main()
{
	int *x = ones<int>(200), *y = empty<int>(200);
	for (int i = 0; i < 2; i++) {
		stencil<<<4, BLOCK>>>(x, y, 200);
		stencil<<<4, BLOCK>>>(y, x, 200);
	}
	return element(x, 100) != 7 * 7 * 7 * 7 || end();
}
