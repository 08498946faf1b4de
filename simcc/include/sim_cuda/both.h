/*
 * What stands between SIM_FOR_BOTH and SIM_FOR_BOTH_END is for the host and the device where clang reads the qualifiers
 * (simcc --front=clang defines SIM_FRONT). To every other compiler each function is for both.
 */
#ifndef SIM_CUDA_BOTH_H
#define SIM_CUDA_BOTH_H

#ifdef SIM_FRONT
#include <sim_front/qualifiers.h>
#define SIM_FOR_BOTH     _Pragma("clang force_cuda_host_device begin")
#define SIM_FOR_BOTH_END _Pragma("clang force_cuda_host_device end")
#else
#define SIM_FOR_BOTH
#define SIM_FOR_BOTH_END
#endif

#endif
