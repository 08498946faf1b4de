/* threadIdx and its kin, barriers, fences. */
#ifndef SIM_CUDA_BUILTINS_H
#define SIM_CUDA_BUILTINS_H

#include <vector_types.h>

/* The plugin makes each the thread's own variable of the engine, whose reads are no memory access. As with nvcc, warpSize is
 * a value and not a constant expression. */
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
extern const __device__ int warpSize;

extern __device__ void __syncthreads() __asm__("sim_syncthreads");
extern __device__ int __syncthreads_count(int predicate) __asm__("sim_syncthreads_count");
extern __device__ int __syncthreads_and(int predicate) __asm__("sim_syncthreads_and");
extern __device__ int __syncthreads_or(int predicate) __asm__("sim_syncthreads_or");

extern __device__ void __threadfence() __asm__("sim_threadfence");
extern __device__ void __threadfence_block() __asm__("sim_threadfence_block");
extern __device__ void __threadfence_system() __asm__("sim_threadfence");

/* The 32 bits that PTX takes for an address of shared memory. */
extern __device__ size_t __cvta_generic_to_shared(const void *pointer) __asm__("sim_shared_address_of");

extern __device__ void __trap() __asm__("sim_trap");
extern __device__ void __nanosleep(unsigned nanoseconds) __asm__("sim_nanosleep");
/* Nanoseconds of this machine, and so no measure of the GPU's time. clock() is the host's. */
extern __device__ long long clock64() __asm__("sim_clock64");

/* clang's is evaluated without an optimizer: what it reads would be counted. */
#define __builtin_assume(...) ((void)sizeof(!(__VA_ARGS__)))

/* Loads and stores with a cache hint are loads and stores, in the caller's own line. */
#define __ldg(...)           (*(__VA_ARGS__))
#define __ldca(...)          (*(__VA_ARGS__))
#define __ldcg(...)          (*(__VA_ARGS__))
#define __ldcs(...)          (*(__VA_ARGS__))
#define __ldcv(...)          (*(__VA_ARGS__))
#define __ldlu(...)          (*(__VA_ARGS__))
#define __stcg(pointer, ...) ((void)(*(pointer) = (__VA_ARGS__)))
#define __stcs(pointer, ...) ((void)(*(pointer) = (__VA_ARGS__)))
#define __stwb(pointer, ...) ((void)(*(pointer) = (__VA_ARGS__)))
#define __stwt(pointer, ...) ((void)(*(pointer) = (__VA_ARGS__)))

#endif
