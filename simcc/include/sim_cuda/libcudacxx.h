/* libcu++ (cuda::atomic, cuda::barrier, cuda::std, ...) is not on the simulated device: an error where used. */
#ifndef SIM_CUDA_LIBCUDACXX_H
#define SIM_CUDA_LIBCUDACXX_H

#include <cuda_runtime.h>

#pragma sim_missing namespace cuda libcu++

namespace cuda
{
namespace std
{
}
} // namespace cuda

#endif
