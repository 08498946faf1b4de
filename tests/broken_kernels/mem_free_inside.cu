// Freeing a pointer into the middle of an allocation.
// EXPECT memcheck api_misuse|double_free|invalid_free error noline
#include <cstdio>

int main()
{
	float *x;
	cudaMalloc(&x, 100 * sizeof(float));
#ifdef FIXED
	cudaFree(x);
#else
	cudaFree(x + 10);
#endif
	return 0;
}
