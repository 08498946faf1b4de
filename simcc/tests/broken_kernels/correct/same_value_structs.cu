// Whole structs that several threads write, all with the same contents: however the compiler copies them.
#include <cstdio>

template <int WORDS, class T>
struct record {
	T word[WORDS];
};
struct pair {
	double first, second;
};

template <class T>
__global__ void mark(T *y, const T *x, int n)
{
	__shared__ T s[2];
	T mine = x[0];
	s[0] = x[0];
	s[1] = mine;
	__syncthreads();
	y[0] = x[0];
	y[1] = mine;
	y[2] = s[threadIdx.x % 2];
	for (int i = 0; i < n; i++) // until the windows of the engine are full in the middle of a copy
		y[3] = x[i];
}

template <class T>
void run()
{
	T *x, *y;
	cudaMalloc(&x, 40 * sizeof(T));
	cudaMalloc(&y, 4 * sizeof(T));
	cudaMemset(x, 1, 40 * sizeof(T));
	mark<<<1, 64>>>(y, x, 40);
	mark<<<3, 32>>>(y, x, 40);
	cudaFree(x), cudaFree(y);
}

int main()
{
	run<record<2, int>>(), run<record<3, int>>(), run<record<4, int>>(), run<record<5, int>>();
	run<record<9, int>>(), run<record<3, char>>(), run<record<3, short>>(), run<record<2, double>>(), run<pair>();
	run<record<3, double>>(), run<float2>(), run<float3>(), run<float4>(), run<double2>(), run<char>(),
		run<int>();
	return cudaDeviceSynchronize() != cudaSuccess;
}
