/*
 * The driver API (cuInit, cuLaunchKernel, ...) is not supported by the simulated device. Programs that include
 * <cuda.h> beside the runtime API, for CUDA_VERSION or out of habit, compile.
 */
#ifndef SIM_CUDA_H
#define SIM_CUDA_H

#include <cuda_runtime_api.h>

#define CUDA_VERSION 13000

#endif
