// As on a GPU a fault is heard of where the host next waits for the device, and from then on everywhere: late_errors
// CALL.
#include <cstdio>
#include <cstdlib>
#include <cuda_runtime.h>

__global__ void fault(int *y)
{
	y[1 << 28] = 1;
}

__global__ void fine(int *y)
{
	y[threadIdx.x] = 5;
}

int main(int argc, char **argv)
{
	int *y, *other, host[32] = {0};
	float ms;
	cudaEvent_t before, after;
	cudaStream_t stream;
	const int call = argc == 2 ? atoi(argv[1]) : 0;
	cudaError_t error = cudaSuccess;
	cudaMalloc(&y, sizeof host);
	cudaMemset(y, 0, sizeof host);
	cudaEventCreate(&before);
	cudaEventCreate(&after);
	cudaStreamCreate(&stream);

	cudaEventRecord(before, stream);
	fault<<<1, 32, 0, stream>>>(y);
	printf("peek: %s\n", cudaGetErrorName(cudaPeekAtLastError()));
	printf("get: %s\n", cudaGetErrorName(cudaGetLastError()));
	fine<<<1, 32, 0, stream>>>(y);
	fine<<<1, 2000, 0, stream>>>(y);
	printf("refused: %s\n", cudaGetErrorName(cudaGetLastError()));
	printf("record: %s\n", cudaGetErrorName(cudaEventRecord(after, stream)));
	printf("copy: %s\n", cudaGetErrorName(cudaMemcpyAsync(host, y, sizeof host, cudaMemcpyDeviceToHost, stream)));
	cudaLaunchHostFunc(
		stream, [](void *done) { *(int *)done = 7; }, &host[3]);
	printf("get again: %s\n", cudaGetErrorName(cudaGetLastError()));
	switch (call) {
	case 0: error = cudaDeviceSynchronize(); break;
	case 1: error = cudaMemcpy(host, y, sizeof host, cudaMemcpyDeviceToHost); break;
	case 2: error = cudaStreamSynchronize(stream); break;
	case 3: error = cudaEventSynchronize(after); break;
	case 4: error = cudaFree(y); break;
	case 5: error = cudaMalloc(&other, 4); break;
	case 6: error = cudaMemset(y, 0, 4); break;
	case 7: error = cudaStreamQuery(stream); break;
	case 8: error = cudaEventElapsedTime(&ms, before, after); break;
	}
	printf("waits: %s\n", cudaGetErrorName(error));
	printf("stays: %s\n", cudaGetErrorName(cudaGetLastError()));
	printf("stays: %s\n", cudaGetErrorName(cudaEventRecord(after, stream)));
	printf("done: %d\n", host[3]);
	cudaDeviceReset();
	printf("reset: %s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	return 0;
}
