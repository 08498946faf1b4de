/*
 * How many blocks of a kernel an SM holds, as NVIDIA's own calculator has it: C, because that is a header of the toolkit
 * (cuda_occupancy.h; it needs no GPU). Reads a line a kernel, "sm_90 registers static_bytes threads dynamic_bytes", and
 * prints the blocks of each, -1 where the calculator refuses.
 */
#include <limits.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

#include <cuda_occupancy.h>

int main(void)
{
	char arch[16];
	int registers, threads;
	size_t fixed, dynamic;

	while (scanf("%15s %d %zu %d %zu", arch, &registers, &fixed, &threads, &dynamic) == 5) {
		bool hopper = strcmp(arch, "sm_90") == 0;
		struct cudaOccDeviceProp sm = {
			.computeMajor = hopper ? 9 : 8,
			.maxThreadsPerBlock = 1024,
			.maxThreadsPerMultiprocessor = 2048,
			.regsPerBlock = 65536,
			.regsPerMultiprocessor = 65536,
			.warpSize = 32,
			.sharedMemPerBlock = 48 * 1024,
			.sharedMemPerMultiprocessor = (hopper ? 228 : 164) * 1024,
			.numSms = hopper ? 132 : 108,
			.sharedMemPerBlockOptin = (hopper ? 227 : 163) * 1024,
			.reservedSharedMemPerBlock = 1024,
		};
		struct cudaOccFuncAttributes kernel = {
			.maxThreadsPerBlock = INT_MAX,
			.numRegs = registers,
			.sharedSizeBytes = fixed,
			.shmemLimitConfig = FUNC_SHMEM_LIMIT_OPTIN,
			.maxDynamicSharedSizeBytes = dynamic,
		};
		struct cudaOccDeviceState state = {
			.cacheConfig = CACHE_PREFER_NONE, .carveoutConfig = SHAREDMEM_CARVEOUT_DEFAULT};
		struct cudaOccResult result;
		cudaOccError status =
			cudaOccMaxActiveBlocksPerMultiprocessor(&result, &sm, &kernel, &state, threads, dynamic);

		printf("%d\n", status == CUDA_OCC_SUCCESS ? result.activeBlocksPerMultiprocessor : -1);
	}
	return 0;
}
