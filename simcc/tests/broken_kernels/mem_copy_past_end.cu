// EXPECT memcheck api_misuse|out_of_bounds error noline
#include "main.cuh"

int main()
{
	float h[128] = {0};
	float *x = empty<float>(100);
#ifdef FIXED
	cudaMemcpy(x, h, 100 * sizeof(float), cudaMemcpyHostToDevice);
#else
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
#endif
	cudaFree(x);
	return 0;
}
