// A program may include what is not here, and use what of it costs nothing: handles of cuBLAS, NVTX, complex numbers;
// and it asks NVIDIA's headers by their include guards.
#include "check.cuh"

#include <cooperative_groups/memcpy_async.h>
#include <cuComplex.h>
#include <cub/cub.cuh>
#include <cublasLt.h>
#include <cublas_v2.h>
#include <cuda.h>
#include <cuda/barrier>
#include <cuda/pipeline>
#include <cuda/std/type_traits>
#include <cuda_awbarrier.h>
#include <cuda_pipeline.h>
#include <cuda_profiler_api.h>
#include <cudnn.h>
#include <cufft.h>
#include <cufftXt.h>
#include <curand.h>
#include <curand_kernel.h>
#include <cusolverDn.h>
#include <cusparse.h>
#include <device_launch_parameters.h>
#include <library_types.h>
#include <math_constants.h>
#include <mma.h>
#include <nccl.h>
#include <nvToolsExt.h>
#include <nvrtc.h>
#include <texture_types.h>
#include <thrust/device_vector.h>
#include <thrust/sort.h>

#if !defined __CUDA_RUNTIME_H__ || !defined __CUDA_RUNTIME_API_H__ || !defined __DRIVER_TYPES_H__ ||                 \
	!defined __VECTOR_TYPES_H__ || !defined __VECTOR_FUNCTIONS_H__ || !defined CUBLAS_API_H_ ||                  \
	!defined _CUFFT_H_ || !defined CURAND_H_ || !defined CUSPARSEAPI || !defined CUSOLVER_COMMON_H_ ||           \
	!defined __MATH_CONSTANTS_H__ || !defined __cuda_cuda_h__
#error "an include guard of NVIDIA's is missing"
#endif
#if __CUDACC_VER_MAJOR__ < 12 || CUDART_VERSION < 12000 || CUDA_VERSION < 12000
#error "an old toolkit"
#endif

using namespace nvcuda;
using namespace thrust;
namespace short_name = cub;

// Unused code with their types compiles, and a function whose name begins as theirs is the program's own.
static cufftHandle plan;
static cusparseHandle_t sparse;
static curandGenerator_t generator;
static void cublasCheck(cublasStatus_t status, const char *file, int line)
{
	if (status != CUBLAS_STATUS_SUCCESS)
		printf("%d %s %d\n", status, file, line);
}
#define cublasCheck(status) cublasCheck((status), __FILE__, __LINE__)
template <class T>
static bool cudaIsFine(T status)
{
	return status == T();
}
__global__ void multiply(const cuComplex *a, const cuComplex *b, cuComplex *y, curandState *unused)
{
	const int i = threadIdx.x;
	(void)unused;
	y[i] = cuCmulf(a[i], b[i]);
}

int main()
{
	cublasHandle_t handle;
	cublasLtHandle_t lt_handle;
	cublasCheck(cublasCreate(&handle));
	cublasCheck(cublasLtCreate(&lt_handle));
	cublasCheck(cublasSetMathMode(handle, CUBLAS_TF32_TENSOR_OP_MATH));
	cublasCheck(cublasSetStream(handle, 0));
	cublasCheck(cublasDestroy(handle));
	cublasCheck(cublasLtDestroy(lt_handle));
	(void)plan, (void)sparse, (void)generator;
	EXPECT(cudaIsFine(cudaThreadSynchronize()));

	cuComplex a[32], b[32], y[32];
	for (int i = 0; i < 32; i++) {
		a[i] = make_cuComplex((float)i, 1);
		b[i] = make_cuFloatComplex(2, (float)-i);
	}
	cuComplex *da = device_copy(a, 32), *db = device_copy(b, 32), *dy = device_zeros<cuComplex>(32);
	nvtxRangePushA("multiply");
	//= multiply load=512/2/16 store=256/1/8
	multiply<<<1, 32>>>(da, db, dy, nullptr);
	nvtxRangePop();
	fetch(y, dy, 32);
	for (int i = 0; i < 32; i++)
		EXPECT(cuCrealf(y[i]) == 3 * i && cuCimagf(y[i]) == 2 - i * i);
	const cuDoubleComplex quotient = cuCdiv(make_cuDoubleComplex(-4, 20), make_cuDoubleComplex(4, 2));
	EXPECT(fabs(cuCreal(quotient) - 1.2) < 1e-15 && fabs(cuCimag(quotient) - 4.4) < 1e-15);
	EXPECT(cuCabsf(make_cuComplex(3, -4)) == 5 && cuCimagf(cuConjf(a[1])) == -1);

	EXPECT(cudaIsFine(cudaThreadExit()));
	return 0;
}
