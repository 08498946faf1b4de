// EXPECT memcheck api_misuse|out_of_bounds error noline
#include "main.cuh"

int main()
{
	float h[128] = {0};
	float *x = empty<float>(100);
	cudaMemcpy(x, h, WRONG(sizeof h, 100 * sizeof(float)), cudaMemcpyHostToDevice);
	cudaFree(x);
	return 0;
}
