// EXPECT memcheck api_misuse|out_of_bounds error noline
#include "main.cuh"

int main()
{
	float *x = empty<float>(100);
#ifdef FIXED
	cudaMemset(x, 0, 100 * sizeof(float));
#else
	cudaMemset(x, 0, 101 * sizeof(float));
#endif
	cudaFree(x);
	return 0;
}
