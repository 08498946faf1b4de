// EXPECT memcheck api_misuse|double_free error noline
#include "main.cuh"

int main()
{
	float *x = empty<float>(64);
	cudaFree(x);
	IF_WRONG(cudaFree(x));
	return 0;
}
