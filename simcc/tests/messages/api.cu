// Mistakes on the host: reported with the call's name, refused with CUDA's code, and nothing is written.
#include "broken.cuh"

#include <cstdlib>
#include <memory>
#include <vector>

static float host[64];

static void say(cudaError_t error)
{
	printf("call: %s\n", cudaGetErrorName(error));
}

__constant__ float table[16];

// ---- the host's memory: each of these would end the program by a signal, some of them much later ----

static void run_free_of_device()
{
	float *p = device_zeros<float>(16), *block = (float *)malloc(64);
	free(WRONG(p, block)); // BUG free_of_device
	say(cudaSuccess);
}

static void run_realloc_of_device()
{
	float *p = device_zeros<float>(16), *block = (float *)malloc(64);
	block = (float *)realloc(WRONG(p, block), 4096); // BUG realloc_of_device
	memset(block, 0, 4096);
	free(block);
	say(cudaSuccess);
}

static void run_delete_of_device()
{
	float *p = device_zeros<float>(16), *block = new float[16];
	delete[] WRONG(p, block); // BUG delete_of_device
	say(cudaSuccess);
}

static void run_library_deletes()
{
	float *p = device_zeros<float>(16);
	std::unique_ptr<float> owner(WRONG(p, new float));
	owner.reset(); // BUG library_deletes
	say(cudaSuccess);
}

static void run_free_of_pinned()
{
	float *p = host;
	cudaMallocHost(&p, 64);
	WRONG(free(p), (void)cudaFreeHost(p)); // BUG free_of_pinned
	say(cudaSuccess);
}

static void run_heap_past_end()
{
	float *p = device_zeros<float>(16), *block = (float *)malloc(64);
	say(cudaMemcpy(block + WRONG(1, 0), p, 64, cudaMemcpyDeviceToHost)); // BUG heap_past_end
	free(block);
}

static void run_pinned_past_end()
{
	float *p = device_zeros<float>(32), *block = p;
	cudaMallocHost(&block, 64);
	say(cudaMemcpy(block, p, WRONG(65, 64), cudaMemcpyDeviceToHost)); // BUG pinned_past_end
}

static void run_vector_past_end()
{
	float *p = device_zeros<float>(16);
	std::vector<float> values(WRONG(15, 16));
	say(cudaMemcpy(p, values.data(), 64, cudaMemcpyHostToDevice)); // BUG vector_past_end
}

static void run_static_past_end()
{
	float *p = device_zeros<float>(128);
	say(cudaMemcpy(p, host + 8, WRONG(57, 56) * sizeof *p, cudaMemcpyHostToDevice)); // BUG static_past_end
}

static void run_stack_past_end()
{
	float *p = device_zeros<float>(1024), local[16];
	say(cudaMemcpy(local, p, WRONG(4096, 64), cudaMemcpyDeviceToHost)); // BUG stack_past_end
}

static void run_no_memory()
{
	float *p = device_zeros<float>(16), *nowhere = (float *)4096;
	say(cudaMemcpy(WRONG(nowhere, host), p, 64, cudaMemcpyDeviceToHost)); // BUG no_memory
}

//! case free_of_device tool=memcheck kind=api_misuse call=cudaSuccess
//! says Invalid free() on the host
//! says is device memory: cudaFree frees it
//! case realloc_of_device tool=memcheck kind=api_misuse call=cudaSuccess
//! says Invalid realloc() on the host
//! case delete_of_device tool=memcheck kind=api_misuse call=cudaSuccess
//! says Invalid delete[] on the host
//! case library_deletes tool=memcheck kind=api_misuse call=cudaSuccess
//! says Invalid delete on the host
//! case free_of_pinned tool=memcheck kind=api_misuse call=cudaSuccess
//! says is from cudaMallocHost: cudaFreeHost frees it
//! case heap_past_end tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says destination: 64 bytes from byte 4 of a block of the heap of the host end 4 bytes past its end (it has 64)
//! case pinned_past_end tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says destination: 65 bytes from byte 0 of a block of the heap of the host end 1 bytes past its end (it has 64)
//! case vector_past_end tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says source: 64 bytes from byte 0 of a block of the heap of the host end 4 bytes past its end (it has 60)
//! case static_past_end tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says source: 228 bytes from byte 32 of a static variable of the host end 4 bytes past its end (it has 256)
//! case stack_past_end tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says leave the function's variables on the host's stack
//! case no_memory tool=memcheck kind=api_misuse call=cudaErrorInvalidValue
//! says 64 bytes from 0x1000 are not all memory of the program
CASES({"free_of_device", run_free_of_device}, {"realloc_of_device", run_realloc_of_device},
      {"delete_of_device", run_delete_of_device}, {"library_deletes", run_library_deletes},
      {"free_of_pinned", run_free_of_pinned}, {"heap_past_end", run_heap_past_end},
      {"pinned_past_end", run_pinned_past_end}, {"vector_past_end", run_vector_past_end},
      {"static_past_end", run_static_past_end}, {"stack_past_end", run_stack_past_end}, {"no_memory", run_no_memory})
