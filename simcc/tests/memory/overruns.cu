// Local arrays written past their ends: overruns WAY COUNT. Whatever the index reaches, the program goes on as after
// any fault: the next call that waits returns it, and after a reset the device works. "host code ran" must never
// appear.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <cuda_runtime.h>

static void host_code()
{
	printf("host code ran\n");
	fflush(stdout);
	_Exit(0);
}

struct eight {
	long values[8];
};

__device__ void fill(long *place, int count, long value)
{
	for (int i = 0; i < count; i++)
		place[i] = value;
}

template <typename T>
__device__ T nested(const T *x, int count)
{
	T own[2];
	own[0] = own[1] = x[0];
	for (int i = 0; i < count; i++)
		own[i] += (T)3;
	return own[1];
}

// Touches nothing but its own variables.
__device__ long leaf(long value, int index)
{
	long own[1];
	own[index] = value;
	return own[0];
}

__device__ long in_a_struct(int index)
{
	struct {
		int before, values[4];
	} own = {1, {2, 3, 4, 5}};
	own.values[index] = 7;
	return own.values[1];
}

__device__ long leaf_adds(long value, int index)
{
	long own[1];
	own[index] += value;
	return own[0];
}

__device__ long recursive(const long *x, int depth, int index)
{
	long own[1];
	own[0] = x[0];
	if (depth == 0)
		own[index] = 77;
	else
		own[0] += recursive(x, depth - 1, index);
	return own[0];
}

__device__ long outlived(long *&place)
{
	long own[4];
	place = own;
	fill(place, 4, 2);
	return own[3];
}

__global__ void overrun(long *y, int way, int n, long target)
{
	unsigned long own[1];
	long *place = (long *)own;
	eight block;
	own[0] = 0;
	switch (way) {
	case 0: own[n] = target; break;
	case 1: own[n] += 1; break;
	case 2: fill(place, n, target); break;
	case 3: memset(place, 1, n * sizeof(long)); break;
	case 4: memcpy(place, y, n * sizeof(long)); break;
	case 5:
		memset(&block, 1, sizeof block);
		for (int i = 0; i < n; i++)
			((eight *)place)[i] = block;
		break;
	case 6: own[0] = nested<long>(y, n); break;
	case 7: own[0] = nested<char>((char *)y, n); break;
	case 8: own[0] = nested<double>((double *)y, n); break;
	case 9: own[0] = leaf(target, n); break;
	case 10: own[0] = leaf_adds(1, n); break;
	case 11: own[0] = recursive(y, 4, n); break;
	case 12:
		own[0] = outlived(place);
		place[0] = n;
		break;
	case 13: place[-n] = target; break;
	case 14: place[n] = target; break;
	case 16: y[0] = in_a_struct(n); break;
	}
	__syncthreads();
	y[threadIdx.x] = own[0];
}

__global__ void healthy(long *y)
{
	y[threadIdx.x] = threadIdx.x;
}

int main(int argc, char **argv)
{
	long y[64] = {0}, *device;
	if (argc != 3)
		return 3;
	cudaMalloc(&device, 65536);
	cudaMemset(device, 0, 65536);
	overrun<<<3, 40>>>(device, atoi(argv[1]), atoi(argv[2]), (long)host_code);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	cudaDeviceReset();
	cudaMalloc(&device, sizeof y);
	healthy<<<1, 64>>>(device);
	cudaMemcpy(y, device, sizeof y, cudaMemcpyDeviceToHost);
	printf("%s\n", y[63] == 63 ? "works again" : "does not work");
	return 0;
}
