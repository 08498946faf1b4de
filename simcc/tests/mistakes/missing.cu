// clang-format off
/*
 * What CUDA or C++ has and device code, or the simulated device, has not: an error where it is used, which names it; see
 * mistyped.cu.
 */
#include <cooperative_groups.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda_fp16.h>
#include <cufft.h>
#include <curand_kernel.h>
#include <mma.h>
#include <sys/time.h>
#include <thrust/device_vector.h>
#include <cub/cub.cuh>
#include <unistd.h>
#include <chrono>
#include <cstdio>
#include <iostream>
#include <string>
#include <vector>
namespace cg = cooperative_groups;
using namespace nvcuda;
__managed__ int managed; // __managed__: '__managed__' is not supported by the simulated device
texture<float, 1> two_dimensional; // texture: 'texture' is not supported by the simulated device
__half half_of(float x) { return __float2half_rz(x); } // __float2: '__float2half_rz' (cuda_fp16.h) is not supported

__global__ void k(float *y, curandState *s)
{
	cg::sync(cg::this_grid()); // sync: a barrier of the whole grid is not supported
	cg::this_grid().sync(); // sync: a barrier of the whole grid is not supported
	auto cluster = cg::this_cluster(); // this_cluster: a group of a cluster of blocks is not supported
	auto tile = cg::tiled_partition<64>(cg::this_thread_block()); // tiled_: a tile of more than 32 threads is not supported
	cg::memcpy_async(cg::this_thread_block(), y, y, 4); // memcpy_: an asynchronous copy is not supported
	wmma::fragment<wmma::matrix_a, 16, 16, 16, float> fragment; // fragment: 'wmma::fragment' (tensor cores) is not supported
	y[0] = curand_uniform(s); // curand_: 'curand_uniform' (cuRAND) is not supported
	std::string text("a"); // text: 'std::string' (aka 'basic_string<char>'): a function of the host, which a kernel cannot call
	gettimeofday(0, 0); // gettimeofday: 'gettimeofday': a function of the host, which a kernel cannot call
	y[0] = std::vector<float>(3)[0]; // std::: no matching conversion
	fputs(0, stderr); // stderr: reference to __host__ variable 'stderr'
	std::cout << y[0]; // cout: reference to __host__ variable 'cout'
	y[0] = std::chrono::steady_clock::now().time_since_epoch().count(); // now: reference to __host__ function 'now'
	throw 1; // throw: cannot use 'throw' in __global__ function
}

int main()
{
	cudaTextureObject_t *texture; // cudaT: textures are not supported
	cublasSgemm(0, CUBLAS_OP_N, CUBLAS_OP_N, 1, 1, 1, 0, 0, 1, 0, 1, 0, 0, 1); // cublasS: 'cublasSgemm' (cuBLAS) is not supported
	cufftHandle plan;
	cufftPlan1d(&plan, 8, CUFFT_C2C, 1); // cufftP: 'cufftPlan1d' (cuFFT) is not supported
	cuInit(0); // cuInit: 'cuInit' (the driver API) is not supported
	thrust::device_vector<int> v(10); // device_vector: 'thrust::device_vector' (Thrust) is not supported
	using Sum = cub::Sum; // Sum;: 'cub::Sum' (CUB) is not supported
}
