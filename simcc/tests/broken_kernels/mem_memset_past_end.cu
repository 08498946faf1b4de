// EXPECT memcheck api_misuse|out_of_bounds error noline
#include "main.cuh"

int main()
{
	float *x = empty<float>(100);
	cudaMemset(x, 0, WRONG(101, 100) * sizeof(float));
	cudaFree(x);
	return 0;
}
