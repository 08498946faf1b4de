/* CUB is not on the simulated device: an error where a name of it is used. */
#ifndef SIM_CUDA_CUB_H
#define SIM_CUDA_CUB_H

#include <cuda_runtime.h>

#pragma sim_missing namespace cub CUB

namespace cub
{
}

#endif
