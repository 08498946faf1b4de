// EXPECT memcheck api_misuse error noline
#include "main.cuh"

int main()
{
	float h[128] = {0};
	float *x = empty<float>(128);
#ifdef FIXED
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
#else
	cudaMemcpy(x, h, sizeof h, cudaMemcpyDeviceToHost);
#endif
	cudaFree(x);
	return 0;
}
