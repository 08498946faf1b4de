/* threadIdx and its kin, barriers, fences. */
#ifndef SIM_CUDA_BUILTINS_H
#define SIM_CUDA_BUILTINS_H

#include <vector_types.h>

/* Functions, not variables: a variable would be one more memory access to tell from the program's own. */
extern "C" {
extern uint3 sim_thread_index(void) noexcept __attribute__((const));
extern uint3 sim_block_index(void) noexcept __attribute__((const));
extern dim3 sim_block_dim(void) noexcept __attribute__((const));
extern dim3 sim_grid_dim(void) noexcept __attribute__((const));
extern const int sim_warp_size;
}

/* A simcc that rewrites these names itself, in device code only, defines SIM_BUILTIN_TOKENS: then host code may
 * call a variable blockDim, as many programs do. */
#ifdef SIM_FRONT
/* The plugin makes each the thread's own variable of the engine, whose reads are no memory access. */
extern const __device__ uint3 threadIdx, blockIdx;
extern const __device__ dim3 blockDim, gridDim;
#elif !defined SIM_BUILTIN_TOKENS
#define threadIdx (sim_thread_index())
#define blockIdx  (sim_block_index())
#define blockDim  (sim_block_dim())
#define gridDim   (sim_grid_dim())
#endif

/* As with nvcc, a value and not a constant expression. */
#ifdef SIM_FRONT
extern const __device__ int warpSize;
#else
extern const int warpSize __asm__("sim_warp_size");
#endif

extern void __syncthreads() __asm__("sim_syncthreads");
extern int __syncthreads_count(int predicate) __asm__("sim_syncthreads_count");
extern int __syncthreads_and(int predicate) __asm__("sim_syncthreads_and");
extern int __syncthreads_or(int predicate) __asm__("sim_syncthreads_or");

extern void __threadfence() __asm__("sim_threadfence");
extern void __threadfence_block() __asm__("sim_threadfence_block");
extern void __threadfence_system() __asm__("sim_threadfence");

extern void __trap() __asm__("sim_trap");
extern void __nanosleep(unsigned nanoseconds) __asm__("sim_nanosleep");
/* Nanoseconds of this machine, and so no measure of the GPU's time. clock() is the host's. */
extern long long clock64() __asm__("sim_clock64");

/* gcc has none, and clang's is evaluated without an optimizer: what it reads would be counted. */
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
