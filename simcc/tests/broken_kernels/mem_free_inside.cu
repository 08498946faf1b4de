// Freeing a pointer into the middle of an allocation.
// EXPECT memcheck api_misuse|double_free|invalid_free error noline
#include "main.cuh"

int main()
{
	float *x = empty<float>(100);
#ifdef FIXED
	cudaFree(x);
#else
	cudaFree(x + 10);
#endif
	return 0;
}
