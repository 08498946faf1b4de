/*
 * Operations among the lanes of a warp. The engine's symbol names the operation and what travels.
 */
#ifndef SIM_CUDA_WARP_H
#define SIM_CUDA_WARP_H

#include <sim_cuda/builtins.h>

extern __device__ void __syncwarp(unsigned mask = 0xffffffffu) __asm__("sim_syncwarp");
#ifdef SIM_FAST
/*
 * An optimizer may make one call of the two in both arms of a branch, or two of one. In a --fast build the plugin therefore
 * says with a number where a call is written, and those of the calls that led to it.
 */
extern __device__ unsigned __activemask(unsigned long place = 0) noexcept __asm__("sim_warp_active_mask_at");
#else
extern __device__ unsigned __activemask() __asm__("sim_activemask");
#endif
extern __device__ unsigned __ballot_sync(unsigned mask, int predicate) __asm__("sim_ballot");
extern __device__ int __any_sync(unsigned mask, int predicate) __asm__("sim_any");
extern __device__ int __all_sync(unsigned mask, int predicate) __asm__("sim_all");

#define SIM_SHUFFLE(type, bits)                                                                                      \
	extern __device__ type __shfl_sync(unsigned mask, type value, int lane, int width = warpSize) __asm__(       \
		"sim_shfl_" bits);                                                                                   \
	extern __device__ type __shfl_up_sync(                                                                       \
		unsigned mask, type value, unsigned delta, int width = warpSize) __asm__("sim_shfl_up_" bits);       \
	extern __device__ type __shfl_down_sync(                                                                     \
		unsigned mask, type value, unsigned delta, int width = warpSize) __asm__("sim_shfl_down_" bits);     \
	extern __device__ type __shfl_xor_sync(                                                                      \
		unsigned mask, type value, int lane_mask, int width = warpSize) __asm__("sim_shfl_xor_" bits);

SIM_SHUFFLE(int, "i32")
SIM_SHUFFLE(unsigned, "i32")
SIM_SHUFFLE(long, "i64")
SIM_SHUFFLE(unsigned long, "i64")
SIM_SHUFFLE(long long, "i64")
SIM_SHUFFLE(unsigned long long, "i64")
SIM_SHUFFLE(float, "f32")
SIM_SHUFFLE(double, "f64")

#define SIM_MATCH_OF(type, width)                                                                                    \
	extern __device__ unsigned __match_any_sync(unsigned mask, type value) __asm__("sim_match_any_" width);      \
	extern __device__ unsigned __match_all_sync(unsigned mask, type value, int *all) __asm__(                    \
		"sim_match_all_" width);

SIM_MATCH_OF(int, "i32")
SIM_MATCH_OF(unsigned, "i32")
SIM_MATCH_OF(long, "i64")
SIM_MATCH_OF(unsigned long, "i64")
SIM_MATCH_OF(long long, "i64")
SIM_MATCH_OF(unsigned long long, "i64")
SIM_MATCH_OF(float, "f32")
SIM_MATCH_OF(double, "f64")

/* compute capability 8.0 and up */
extern __device__ int __reduce_add_sync(unsigned mask, int value) __asm__("sim_reduce_add");
extern __device__ unsigned __reduce_add_sync(unsigned mask, unsigned value) __asm__("sim_reduce_add");
extern __device__ int __reduce_min_sync(unsigned mask, int value) __asm__("sim_reduce_min_i32");
extern __device__ unsigned __reduce_min_sync(unsigned mask, unsigned value) __asm__("sim_reduce_min_u32");
extern __device__ int __reduce_max_sync(unsigned mask, int value) __asm__("sim_reduce_max_i32");
extern __device__ unsigned __reduce_max_sync(unsigned mask, unsigned value) __asm__("sim_reduce_max_u32");
extern __device__ unsigned __reduce_and_sync(unsigned mask, unsigned value) __asm__("sim_reduce_and");
extern __device__ unsigned __reduce_or_sync(unsigned mask, unsigned value) __asm__("sim_reduce_or");
extern __device__ unsigned __reduce_xor_sync(unsigned mask, unsigned value) __asm__("sim_reduce_xor");

#undef SIM_SHUFFLE
#undef SIM_MATCH_OF

#endif
