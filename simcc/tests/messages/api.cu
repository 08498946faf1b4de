// Mistakes on the host: reported with the call's name, refused with CUDA's code, and nothing is written.
#include "broken.cuh"

#include <cstdlib>

static float host[64];

static void say(cudaError_t error)
{
	printf("call: %s\n", cudaGetErrorName(error));
}

static void run_double_free()
{
	float *p = device_zeros<float>(16), *q = device_zeros<float>(16);
	cudaFree(p);
	say(cudaFree(WRONG(p, q))); // BUG double_free
}

static void run_free_inside()
{
	float *p = device_zeros<float>(16);
	say(cudaFree(p + WRONG(1, 0))); // BUG free_inside
}

static void run_copy_past_end()
{
	float *p = device_zeros<float>(16);
	say(cudaMemcpy(p, host, WRONG(17, 16) * sizeof(float), cudaMemcpyHostToDevice)); // BUG copy_past_end
}

static void run_read_past_end()
{
	float *p = device_zeros<float>(16);
	say(cudaMemcpy(host, p + 8, WRONG(9, 8) * sizeof(float), cudaMemcpyDeviceToHost)); // BUG read_past_end
}

static void run_wrong_kind()
{
	float *p = device_zeros<float>(16);
	say(cudaMemcpy(p, host, 64, WRONG(cudaMemcpyDeviceToHost, cudaMemcpyHostToDevice))); // BUG wrong_kind
}

static void run_copy_freed()
{
	float *p = device_zeros<float>(16), *q = device_zeros<float>(16);
	cudaFree(p);
	say(cudaMemcpy(host, WRONG(p, q), 64, cudaMemcpyDeviceToHost)); // BUG copy_freed
}

static void run_set_past_end()
{
	float *p = device_zeros<float>(16);
	say(cudaMemset(p, 0, WRONG(65, 64))); // BUG set_past_end
}

static void run_free_host()
{
	float *p = host;
	cudaMallocHost(&p, 64);
	say(cudaFreeHost(WRONG(host, p))); // BUG free_host
}

__constant__ float table[16];

static void run_symbol_direction()
{
	const cudaMemcpyKind kind = WRONG(cudaMemcpyDeviceToHost, cudaMemcpyHostToDevice);
	say(cudaMemcpyToSymbol(table, host, 64, 0, kind)); // BUG symbol_direction
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
//! case free_host tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says cudaFreeHost
//! case symbol_direction tool=memcheck kind=api_misuse call=cudaErrorInvalidMemcpyDirection
//! says cudaMemcpyToSymbol
CASES({"double_free", run_double_free}, {"free_inside", run_free_inside}, {"copy_past_end", run_copy_past_end},
      {"read_past_end", run_read_past_end}, {"wrong_kind", run_wrong_kind}, {"copy_freed", run_copy_freed},
      {"set_past_end", run_set_past_end}, {"free_host", run_free_host}, {"symbol_direction", run_symbol_direction})
