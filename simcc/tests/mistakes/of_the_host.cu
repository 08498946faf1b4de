// clang-format off
/*
 * What device code cannot call or have, which the plugin finds when clang has no error left; see mistyped.cu. The
 * functions have the names that were written, whatever a C library calls them (__isoc99_sscanf). printf and puts are
 * the device's, too.
 */
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
__global__ void k(float *y, char *s)
{
	int i = 0, lane, two;
	malloc(4); // malloc: 'malloc' in device code is not supported
	calloc(1, 4); // calloc: 'calloc' is a function of the host, which a kernel cannot call
	free(y); // free: 'free' in device code is not supported
	if (*y == 1) exit(1); // exit: 'exit' is a function of the host, which a kernel cannot call
	puts(s); // puts: 'puts' is a function of the host, which a kernel cannot call
	fprintf((FILE *)s, "%g", *y); // fprintf: 'fprintf' is a function of the host, which a kernel cannot call
	sscanf("1", "%f", y); // sscanf: 'sscanf' is a function of the host, which a kernel cannot call
	strcpy((char *)y, (char *)s); // strcpy: 'strcpy' is a function of the host, which a kernel cannot call
	y[0] = memcmp(y, s, 4); // memcmp: 'memcmp' is a function of the host, which a kernel cannot call
	y[i] = rand(); // rand: 'rand' is a function of the host, which a kernel cannot call: make random numbers
	srand(1); // srand: 'srand' is a function of the host, which a kernel cannot call: make random numbers
	random(); // random: 'random' is a function of the host, which a kernel cannot call: make random numbers
	time((time_t *)y); // time: 'time' is a function of the host, which a kernel cannot call
	qsort(y, 1, 4, 0); // qsort: 'qsort' is a function of the host, which a kernel cannot call
	y[0] = *new float(1); // new: 'new' in device code is not supported
	delete y; // delete: 'delete' in device code is not supported
	cudaMemcpy(y, y, 4, cudaMemcpyDeviceToDevice); // cudaMemcpy: 'cudaMemcpy' is a function of the host, which a kernel cannot call
	cudaMalloc(&y, 4); // cudaMalloc: 'cudaMalloc' in device code is not supported
	asm("membar.gl;"); // asm: inline PTX 'membar.gl' is not supported by the simulated device
	asm("{ mov.b64 {%0, %1}, %%clock64; }" : "=r"(lane), "=r"(two)); y[i] = lane + two; // asm: inline PTX '{ mov.b64 {%0, %1}, %%clock64' is not supported by the simulated device
	asm("mov.u32 %0, %%laneid;" : "=r"(lane)); // asm: inline PTX 'mov.u32 %0, %%laneid' is not supported
	__sync_fetch_and_add((int *)y, 1); // __sync: 'a compiler atomic' in device code is not supported
	__builtin_memset(y, 0, i); // __builtin: a copy of a length that only running tells in device code is not supported
}
int main() {}
