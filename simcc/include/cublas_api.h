/*
 * cuBLAS is not on the simulated device. Programs make a handle in their set-up whatever they run, so a handle can be
 * made, set up and destroyed; the rest is types and constants, which code that is never built needs too. A function
 * that computes is a compile error where it is called (simcc reads the pragma).
 */
#ifndef CUBLAS_API_H_
#define CUBLAS_API_H_

#include <cuda_bf16.h>
#include <cuda_fp16.h>
#include <cuda_runtime_api.h>
#include <library_types.h>

#pragma sim_missing function cublas cuBLAS

#define CUBLAS_VER_MAJOR 13
#define CUBLAS_VERSION   130000
#define CUBLASWINAPI

typedef enum {
	CUBLAS_STATUS_SUCCESS = 0,
	CUBLAS_STATUS_NOT_INITIALIZED = 1,
	CUBLAS_STATUS_ALLOC_FAILED = 3,
	CUBLAS_STATUS_INVALID_VALUE = 7,
	CUBLAS_STATUS_ARCH_MISMATCH = 8,
	CUBLAS_STATUS_MAPPING_ERROR = 11,
	CUBLAS_STATUS_EXECUTION_FAILED = 13,
	CUBLAS_STATUS_INTERNAL_ERROR = 14,
	CUBLAS_STATUS_NOT_SUPPORTED = 15,
	CUBLAS_STATUS_LICENSE_ERROR = 16
} cublasStatus_t;
typedef cublasStatus_t cublasStatus;

typedef enum { CUBLAS_FILL_MODE_LOWER = 0, CUBLAS_FILL_MODE_UPPER = 1, CUBLAS_FILL_MODE_FULL = 2 } cublasFillMode_t;
typedef enum { CUBLAS_DIAG_NON_UNIT = 0, CUBLAS_DIAG_UNIT = 1 } cublasDiagType_t;
typedef enum { CUBLAS_SIDE_LEFT = 0, CUBLAS_SIDE_RIGHT = 1 } cublasSideMode_t;
typedef enum { CUBLAS_OP_N = 0, CUBLAS_OP_T = 1, CUBLAS_OP_C = 2, CUBLAS_OP_CONJG = 3 } cublasOperation_t;
typedef enum { CUBLAS_POINTER_MODE_HOST = 0, CUBLAS_POINTER_MODE_DEVICE = 1 } cublasPointerMode_t;
typedef enum { CUBLAS_ATOMICS_NOT_ALLOWED = 0, CUBLAS_ATOMICS_ALLOWED = 1 } cublasAtomicsMode_t;
typedef enum {
	CUBLAS_GEMM_DFALT = -1,
	CUBLAS_GEMM_DEFAULT = -1,
	CUBLAS_GEMM_DFALT_TENSOR_OP = 99,
	CUBLAS_GEMM_DEFAULT_TENSOR_OP = 99
} cublasGemmAlgo_t;
typedef enum {
	CUBLAS_DEFAULT_MATH = 0,
	CUBLAS_TENSOR_OP_MATH = 1,
	CUBLAS_PEDANTIC_MATH = 2,
	CUBLAS_TF32_TENSOR_OP_MATH = 3,
	CUBLAS_MATH_DISALLOW_REDUCED_PRECISION_REDUCTION = 16
} cublasMath_t;
typedef enum {
	CUBLAS_COMPUTE_16F = 64,
	CUBLAS_COMPUTE_16F_PEDANTIC = 65,
	CUBLAS_COMPUTE_32F = 68,
	CUBLAS_COMPUTE_32F_PEDANTIC = 69,
	CUBLAS_COMPUTE_64F = 70,
	CUBLAS_COMPUTE_64F_PEDANTIC = 71,
	CUBLAS_COMPUTE_32I = 72,
	CUBLAS_COMPUTE_32I_PEDANTIC = 73,
	CUBLAS_COMPUTE_32F_FAST_16F = 74,
	CUBLAS_COMPUTE_32F_FAST_16BF = 75,
	CUBLAS_COMPUTE_32F_FAST_TF32 = 77
} cublasComputeType_t;
typedef cudaDataType cublasDataType_t;
typedef struct cublasContext *cublasHandle_t;

/* Setting up: accepted, without effect. The handle is no pointer to follow, but not null. */
#define SIM_ACCEPT static inline __attribute__((unused)) cublasStatus_t
SIM_ACCEPT cublasCreate(cublasHandle_t *handle)
{
	*handle = (cublasHandle_t)handle;
	return CUBLAS_STATUS_SUCCESS;
}
SIM_ACCEPT cublasDestroy(cublasHandle_t handle)
{
	return handle ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_NOT_INITIALIZED;
}
SIM_ACCEPT cublasSetStream(cublasHandle_t handle, cudaStream_t stream)
{
	return (void)stream, cublasDestroy(handle);
}
SIM_ACCEPT cublasSetMathMode(cublasHandle_t handle, cublasMath_t mode)
{
	return (void)mode, cublasDestroy(handle);
}
SIM_ACCEPT cublasSetPointerMode(cublasHandle_t handle, cublasPointerMode_t mode)
{
	return (void)mode, cublasDestroy(handle);
}
SIM_ACCEPT cublasSetWorkspace(cublasHandle_t handle, void *workspace, size_t bytes)
{
	return (void)workspace, (void)bytes, cublasDestroy(handle);
}
SIM_ACCEPT cublasGetVersion(cublasHandle_t handle, int *version)
{
	*version = CUBLAS_VERSION;
	return cublasDestroy(handle);
}
#undef SIM_ACCEPT

#endif
