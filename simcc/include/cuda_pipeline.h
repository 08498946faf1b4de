/* Asynchronous copies (cp.async) are not on the simulated device: an error where one of these functions is called. */
#ifndef _CUDA_PIPELINE_H_
#define _CUDA_PIPELINE_H_

#include <cuda_runtime.h>

#pragma sim_missing function __pipeline asynchronous copies

#endif
