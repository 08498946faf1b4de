// EXPECT memcheck api_misuse error noline
#include "main.cuh"

int main()
{
	float h[128] = {0};
	float *x = empty<float>(128);
	cudaMemcpy(x, h, sizeof h, WRONG(cudaMemcpyDeviceToHost, cudaMemcpyHostToDevice));
	cudaFree(x);
	return 0;
}
