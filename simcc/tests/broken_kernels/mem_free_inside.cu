// Freeing a pointer into the middle of an allocation.
// EXPECT memcheck api_misuse|double_free|invalid_free error noline
#include "main.cuh"

int main()
{
	float *x = empty<float>(100);
	cudaFree(WRONG(x + 10, x));
	return 0;
}
