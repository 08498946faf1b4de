/*
 * What clangd reads before a .cu: `make editor` names it in compile_commands.json, and nothing is compiled with it. The
 * qualifiers and <<<...>>> are clang's own CUDA, all else is simcc's headers, on a machine with the CUDA Toolkit, too.
 */
#pragma once
#define __CUDACC__
#define __host__     __attribute__((host))
#define __device__   __attribute__((device))
#define __global__   __attribute__((global))
#define __shared__   __attribute__((shared))
#define __constant__ __attribute__((constant))
#define __managed__
#define __grid_constant__
#define __noinline__    __attribute__((noinline))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))
#define __launch_bounds__(...)
// Headers have no qualifiers: what they declare may be called from anywhere, but for new, which clang's own header has.
#pragma clang force_cuda_host_device begin
#include <cstdlib>
#pragma clang force_cuda_host_device end
#include <new>
#pragma clang force_cuda_host_device begin
#define __syncthreads simcc_syncthreads // clang has one
#include <cuda_runtime.h>
#undef __syncthreads
#include <cuda_fp16.h>
#pragma clang force_cuda_host_device end
extern "C" unsigned __cudaPushCallConfiguration(dim3, dim3, size_t shared_bytes = 0, cudaStream_t stream = nullptr);
