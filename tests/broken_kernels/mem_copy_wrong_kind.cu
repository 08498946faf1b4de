// EXPECT memcheck api_misuse error noline
#include <cstdio>

int main()
{
	float h[128] = {0}, *x;
	cudaMalloc(&x, sizeof h);
#ifdef FIXED
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
#else
	cudaMemcpy(x, h, sizeof h, cudaMemcpyDeviceToHost);
#endif
	cudaFree(x);
	return 0;
}
