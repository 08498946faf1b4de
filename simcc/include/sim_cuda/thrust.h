/* Thrust is not on the simulated device: an error where a name of it is used. */
#ifndef SIM_CUDA_THRUST_H
#define SIM_CUDA_THRUST_H

#include <cuda_runtime.h>

#pragma sim_missing namespace thrust Thrust

namespace thrust
{
}

#endif
