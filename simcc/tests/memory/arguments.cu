// Arguments that lie on the stack, above the kernel's frame, are the thread's own: right in every way of passing
// them.
#include <cstdio>
#include <cuda_runtime.h>

struct large {
	long values[9];
	int count;
};

struct copied {
	double a, b;
	__host__ __device__ copied(double x) : a(x), b(x) {}
	__host__ __device__ copied(const copied &from) : a(from.a), b(from.b) {}
};

__device__ void increase(large *l, int i)
{
	l->values[i] += 1;
}

__global__ void by_value(large l, long *y)
{
	increase(&l, 8);
	large copy = l;
	copy.values[1] = 2;
	l = copy;
	for (long &value : l.values)
		value += l.count;
	y[threadIdx.x] = l.values[threadIdx.x % 9];
}

__global__ void many(int a, int, int, int, int, int, long *y, int last, large l)
{
	int *p = &last;
	*p += a;
	long **q = &y;
	(*q)[threadIdx.x] = last + l.values[0];
}

__global__ void with_constructor(copied c, long *y)
{
	double *p = &c.b;
	*p = 4;
	c.a += 1;
	y[threadIdx.x] = (long)(c.a + c.b);
}

__global__ void aligned(float4 a, float4, float4, float4, float4, float4 last, large l, long *y)
{
	alignas(64) float4 both[2];
	long *p = l.values;
	both[0] = a;
	both[1] = last;
	last.x = 1;
	p[0] = (long)(both[0].x + both[1].w + last.x);
	y[threadIdx.x] = p[0];
}

template <typename F>
__global__ void call(F f, long *y)
{
	y[threadIdx.x] = f(threadIdx.x);
}

static void print(const char *name, const long *device)
{
	long y[16];
	cudaMemcpy(y, device, sizeof y, cudaMemcpyDeviceToHost);
	printf("%s %ld %ld %s\n", name, y[8], y[15], cudaGetErrorName(cudaGetLastError()));
}

int main()
{
	const float4 v = {1, 2, 3, 4};
	large l = {};
	long *y;
	l.count = 3;
	cudaMalloc(&y, 16 * sizeof *y);
	by_value<<<1, 16>>>(l, y);
	print("by_value", y);
	many<<<1, 16>>>(1, 2, 3, 4, 5, 6, y, 7, l);
	print("many", y);
	with_constructor<<<1, 16>>>(copied(2), y);
	print("with_constructor", y);
	aligned<<<1, 16>>>(v, v, v, v, v, v, l, y);
	print("aligned", y);
	call<<<1, 16>>>([=] __device__(int t) { return l.values[t % 9] + t; }, y);
	print("call", y);
	void *arguments[] = {&l, &y};
	cudaLaunchKernel(by_value, dim3(1), dim3(16), arguments);
	print("cudaLaunchKernel", y);
	return 0;
}
