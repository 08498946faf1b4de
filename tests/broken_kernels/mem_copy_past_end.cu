// EXPECT memcheck api_misuse|out_of_bounds error noline
#include <cstdio>

int main()
{
	float h[128] = {0}, *x;
	cudaMalloc(&x, 100 * sizeof(float));
#ifdef FIXED
	cudaMemcpy(x, h, 100 * sizeof(float), cudaMemcpyHostToDevice);
#else
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
#endif
	cudaFree(x);
	return 0;
}
