/* Asynchronous barriers (nvcuda::experimental::awbarrier) are not on the simulated device: an error where used. */
#ifndef _CUDA_AWBARRIER_H_
#define _CUDA_AWBARRIER_H_

#include <cuda_runtime.h>

#pragma sim_missing namespace nvcuda asynchronous barriers

namespace nvcuda
{
}

#endif
