/*
 * CUDA's qualifiers, as clang's attributes. The plugin (simcc/front) knows a
 * kernel and a device variable by their annotation: for a CPU clang marks neither in what it generates.
 */
#ifndef SIM_FRONT_QUALIFIERS_H
#define SIM_FRONT_QUALIFIERS_H

#define __host__        __attribute__((host))
#define __device__      __attribute__((device, annotate("sim_variable")))
#define __constant__    __attribute__((constant, annotate("sim_constant")))
#define __shared__      __attribute__((shared))
#define __global__      __attribute__((global, annotate("sim_kernel")))
#define __forceinline__ __inline__ __attribute__((always_inline))
#define __align__(n)    __attribute__((aligned(n)))
#define __launch_bounds__(...)
#define __maxnreg__(...)
#define __block_size__(...)
#define __grid_constant__
#if __clang_major__ < 15 /* from there on it is a word of clang's, which may stand in __attribute__(()) */
#define __noinline__ __attribute__((noinline))
#endif

#endif
