// Mistakes on the host: reported with the call's name, refused with CUDA's code, and nothing is written.
#include "broken.cuh"

#include <cstdlib>

static float host[64];

static void run_double_free()
{
	float *p = device_zeros<float>(16), *q = device_zeros<float>(16);
	cudaFree(p);
	printf("call: %s\n", cudaGetErrorName(cudaFree(WRONG(p, q))));
}

static void run_free_inside()
{
	float *p = device_zeros<float>(16);
	printf("call: %s\n", cudaGetErrorName(cudaFree(p + WRONG(1, 0))));
}

static void run_copy_past_end()
{
	float *p = device_zeros<float>(16);
	printf("call: %s\n",
	       cudaGetErrorName(cudaMemcpy(p, host, WRONG(17, 16) * sizeof(float), cudaMemcpyHostToDevice)));
}

static void run_read_past_end()
{
	float *p = device_zeros<float>(16);
	printf("call: %s\n",
	       cudaGetErrorName(cudaMemcpy(host, p + 8, WRONG(9, 8) * sizeof(float), cudaMemcpyDeviceToHost)));
}

static void run_wrong_kind()
{
	float *p = device_zeros<float>(16);
	printf("call: %s\n",
	       cudaGetErrorName(cudaMemcpy(p, host, 64, WRONG(cudaMemcpyDeviceToHost, cudaMemcpyHostToDevice))));
}

static void run_copy_freed()
{
	float *p = device_zeros<float>(16), *q = device_zeros<float>(16);
	cudaFree(p);
	printf("call: %s\n", cudaGetErrorName(cudaMemcpy(host, WRONG(p, q), 64, cudaMemcpyDeviceToHost)));
}

static void run_set_past_end()
{
	float *p = device_zeros<float>(16);
	printf("call: %s\n", cudaGetErrorName(cudaMemset(p, 0, WRONG(65, 64))));
}

//! case double_free tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says cudaFree
//! case free_inside tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says cudaFree
//! case copy_past_end tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says cudaMemcpy
//! case read_past_end tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says cudaMemcpy
//! case wrong_kind tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says cudaMemcpy
//! case copy_freed tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says cudaMemcpy
//! case set_past_end tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says cudaMemset
CASES({"double_free", run_double_free}, {"free_inside", run_free_inside}, {"copy_past_end", run_copy_past_end},
      {"read_past_end", run_read_past_end}, {"wrong_kind", run_wrong_kind}, {"copy_freed", run_copy_freed},
      {"set_past_end", run_set_past_end})
