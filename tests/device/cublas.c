/* A cuBLAS for chapter 03 (libcublas.so): says what it is called with, and multiplies nothing. */
#include <stdio.h>
#include <stdlib.h>

static int handles, mode;

int cublasCreate_v2(void **handle)
{
	*handle = &handles;
	return atoi(getenv("CUBLAS_FAILS") ? getenv("CUBLAS_FAILS") : "0") ? 1 : (handles++, 0);
}

int cublasDestroy_v2(void *handle)
{
	fprintf(stderr, "destroyed: %d left\n", --*(int *)handle);
	return 0;
}

int cublasSetMathMode(void *handle, int to)
{
	mode = handle == &handles ? to : -1;
	return 0;
}

int cublasSgemm_v2(
	void *handle, int transposed_a, int transposed_b, int m, int n, int k, const float *alpha, const float *A,
	int lda, const float *B, int ldb, const float *beta, float *C, int ldc)
{
	fprintf(stderr, "sgemm %d %d %d: %d %d, %g %g, %d %d %d, mode %d, %d\n", m, n, k, transposed_a, transposed_b,
	        (double)*alpha, (double)*beta, lda, ldb, ldc, mode, handle == &handles && A && B && C);
	return 0;
}
