/* Launches. clang makes of kernel<<<grid, block, shared, stream>>>(arguments) a call that pushes the configuration, which the
 * kernel's stub takes back for cudaLaunchKernel(). */
#ifndef SIM_CUDA_LAUNCH_H
#define SIM_CUDA_LAUNCH_H

#include <cuda_runtime_api.h>

extern "C" unsigned __cudaPushCallConfiguration(
	dim3 grid, dim3 block, size_t shared_bytes = 0, cudaStream_t stream = nullptr);

template <class... Types_>
cudaError_t cudaLaunchKernel(
	void (*kernel)(Types_...), dim3 grid, dim3 block, void **arguments, size_t shared_bytes = 0,
	cudaStream_t stream = nullptr)
{
	return cudaLaunchKernel(reinterpret_cast<const void *>(kernel), grid, block, arguments, shared_bytes, stream);
}

#endif
