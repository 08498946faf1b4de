/* __nv_bfloat16 and __nv_bfloat162: values, conversions, arithmetic; sim_cuda/sixteen_bits.h says how, and what is
 * not here. */
#ifndef __CUDA_BF16_H__
#define __CUDA_BF16_H__

#include <cuda_runtime.h>

SIM_FOR_BOTH

#ifdef __cplusplus
#include <sim_cuda/sixteen_bits.h>

#pragma sim_missing function __bfloat16 cuda_bf16.h
#pragma sim_missing function __bfloat162 cuda_bf16.h
#pragma sim_missing function __float2bfloat16 cuda_bf16.h
#pragma sim_missing function __double2bfloat16 cuda_bf16.h
#pragma sim_missing function __int2bfloat16 cuda_bf16.h
#pragma sim_missing function __uint2bfloat16 cuda_bf16.h

SIM_16_TYPE(__nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw, bfloat16_format)
typedef __nv_bfloat16 nv_bfloat16;
typedef __nv_bfloat162 nv_bfloat162;

SIM_16_NAMED(bfloat16, __nv_bfloat16, __nv_bfloat162, __nv_bfloat16_raw)
#endif

SIM_FOR_BOTH_END

#endif
