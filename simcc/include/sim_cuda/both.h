/* In a .cu file what stands between SIM_FOR_BOTH and SIM_FOR_BOTH_END is for the host and the device. */
#ifndef SIM_CUDA_BOTH_H
#define SIM_CUDA_BOTH_H

#ifdef __CUDACC__
#include <sim_front/qualifiers.h>
#define SIM_FOR_BOTH     _Pragma("clang force_cuda_host_device begin")
#define SIM_FOR_BOTH_END _Pragma("clang force_cuda_host_device end")
#else
#define SIM_FOR_BOTH
#define SIM_FOR_BOTH_END
#endif

#endif
