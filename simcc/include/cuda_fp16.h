/* __half and __half2: values, conversions, arithmetic; sim_cuda/sixteen_bits.h says how, and what is not here. */
#ifndef __CUDA_FP16_H__
#define __CUDA_FP16_H__

#include <cuda_runtime.h>

SIM_FOR_BOTH

#ifdef __cplusplus
#include <sim_cuda/sixteen_bits.h>

#pragma sim_missing function __half cuda_fp16.h
#pragma sim_missing function __float2half cuda_fp16.h
#pragma sim_missing function __double2half cuda_fp16.h
#pragma sim_missing function __int2half cuda_fp16.h
#pragma sim_missing function __uint2half cuda_fp16.h
#pragma sim_missing function __hadd cuda_fp16.h
#pragma sim_missing function __hsub cuda_fp16.h
#pragma sim_missing function __hmul cuda_fp16.h
#pragma sim_missing function __hfma cuda_fp16.h

SIM_16_TYPE(__half, __half2, __half_raw, half_format)
typedef __half half;
typedef __half2 half2;
typedef __half __nv_half;
typedef __half2 __nv_half2;

SIM_16_NAMED(half, __half, __half2, __half_raw)
#endif

SIM_FOR_BOTH_END

#endif
