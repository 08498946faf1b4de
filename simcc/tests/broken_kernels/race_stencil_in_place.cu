// Blocks overwrite what their neighbors have not read yet.
// EXPECT racecheck RAW|WAR error
// ORDERS all
#include "main.cuh"

__global__ void blur(const float *in, float *out, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	float left = i > 0 && i < n ? in[i - 1] : 0; // OTHER
	float right = i + 1 < n ? in[i + 1] : 0;     // OTHER
	__syncthreads();
	if (i < n)
		out[i] = 0.5f * (left + right); // BUG
}

int main()
{
	const int n = 300;
	float *x = zeros<float>(n), *y = empty<float>(n);
	blur<<<3, 128>>>(x, WRONG(x, y), n);
	return end();
}
