/* cuSOLVER is not on the simulated device: types and constants, and an error where one of its functions is called. */
#ifndef CUSOLVER_COMMON_H_
#define CUSOLVER_COMMON_H_

#include <cuda_runtime_api.h>
#include <library_types.h>

#pragma sim_missing function cusolver cuSOLVER

typedef enum {
	CUSOLVER_STATUS_SUCCESS = 0,
	CUSOLVER_STATUS_NOT_INITIALIZED = 1,
	CUSOLVER_STATUS_ALLOC_FAILED = 2,
	CUSOLVER_STATUS_INVALID_VALUE = 3,
	CUSOLVER_STATUS_ARCH_MISMATCH = 4,
	CUSOLVER_STATUS_MAPPING_ERROR = 5,
	CUSOLVER_STATUS_EXECUTION_FAILED = 6,
	CUSOLVER_STATUS_INTERNAL_ERROR = 7,
	CUSOLVER_STATUS_MATRIX_TYPE_NOT_SUPPORTED = 8,
	CUSOLVER_STATUS_NOT_SUPPORTED = 9,
	CUSOLVER_STATUS_ZERO_PIVOT = 10,
	CUSOLVER_STATUS_INVALID_LICENSE = 11
} cusolverStatus_t;

typedef struct cusolverDnContext *cusolverDnHandle_t;
typedef struct cusolverSpContext *cusolverSpHandle_t;

#endif
