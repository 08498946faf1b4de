/*
 * The driver API (cuInit, cuLaunchKernel, ...) is not supported by the simulated device. Programs that include
 * <cuda.h> beside the runtime API, for CUDA_VERSION or out of habit, compile.
 */
#ifndef __cuda_cuda_h__
#define __cuda_cuda_h__

#include <cuda_runtime_api.h>

#define CUDA_VERSION 13000

#ifdef __cplusplus
#pragma sim_missing function cu the driver API
#define SIM_NO_TYPE(name)                                                                                            \
	typedef struct sim_no_##name name                                                                            \
		__attribute__((unavailable("the driver API is not supported by the simulated device")));
SIM_NO_TYPE(CUresult)
SIM_NO_TYPE(CUdevice)
SIM_NO_TYPE(CUcontext)
SIM_NO_TYPE(CUmodule)
SIM_NO_TYPE(CUfunction)
SIM_NO_TYPE(CUdeviceptr)
SIM_NO_TYPE(CUstream)
#undef SIM_NO_TYPE
#endif

#endif
