// Allocating touches nothing, however large; what was never written reads as 0xff, also where something was freed.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

static long resident_mb()
{
	char line[200];
	long kb = 0;
	FILE *status = fopen("/proc/self/status", "r");
	while (fgets(line, sizeof line, status))
		if (strncmp(line, "VmRSS:", 6) == 0)
			kb = atol(line + 6);
	fclose(status);
	return kb / 1024;
}

__global__ void touch(unsigned char *p, size_t step)
{
	p[threadIdx.x * step] = 7;
}

static bool is_new(const unsigned char *device, size_t bytes)
{
	unsigned char part[4096];
	for (int i = 0; i < 64; i++) {
		size_t at = (bytes - sizeof part) / 63 * i;
		if (cudaMemcpy(part, device + at, sizeof part, cudaMemcpyDeviceToHost) != cudaSuccess)
			return false;
		for (unsigned char byte : part)
			if (byte != 0xff)
				return false;
	}
	return true;
}

int main(int argc, char **argv)
{
	size_t free_bytes, total, most = argc > 1 ? (size_t)atol(argv[1]) : 0;
	unsigned char *p;
	cudaMemGetInfo(&free_bytes, &total);
	const size_t sizes[] = {(1 << 20) + 1, free_bytes / 2, 5000, 1 << 20, (16 << 20) + 4097, free_bytes / 2};
	for (size_t bytes : sizes) {
		long before = resident_mb();
		if (bytes < 5000)
			return 3;
		if (cudaMalloc(&p, bytes) != cudaSuccess || resident_mb() - before > (long)most)
			printf("%zu bytes: %ld MB touched\n", bytes, resident_mb() - before);
		if (!is_new(p, bytes))
			printf("%zu bytes: not as new\n", bytes);
		touch<<<1, 64>>>(p, (bytes - 1) / 63);
		if (cudaDeviceSynchronize() != cudaSuccess || is_new(p, bytes))
			printf("%zu bytes: not written\n", bytes);
		cudaFree(p);
	}
	printf("%ld MB at the end\n", resident_mb() > 100 ? resident_mb() : 0);
	return 0;
}
