/* Tensor cores (nvcuda::wmma) are not on the simulated device: an error where a name of theirs is used. */
#ifndef SIM_MMA_H
#define SIM_MMA_H

#include <cuda_runtime.h>

#pragma sim_missing namespace nvcuda tensor cores
#pragma sim_missing namespace wmma tensor cores

namespace nvcuda
{
namespace wmma
{
}
} // namespace nvcuda

#endif
