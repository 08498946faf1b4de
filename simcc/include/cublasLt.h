/* cublasLt is not on the simulated device: its handle can be made and destroyed, see cublas_api.h. */
#ifndef CUBLASLT_H_
#define CUBLASLT_H_

#include <cublas_api.h>

typedef struct cublasLtContext *cublasLtHandle_t;
typedef struct cublasLtMatmulDesc *cublasLtMatmulDesc_t;
typedef struct cublasLtMatrixLayout *cublasLtMatrixLayout_t;
typedef struct cublasLtMatmulPreference *cublasLtMatmulPreference_t;

static inline __attribute__((unused)) cublasStatus_t cublasLtCreate(cublasLtHandle_t *handle)
{
	*handle = (cublasLtHandle_t)handle;
	return CUBLAS_STATUS_SUCCESS;
}
static inline __attribute__((unused)) cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle)
{
	return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}

#endif
