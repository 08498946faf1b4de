// Corners of the language that real programs use.
#include "check.cuh"

#include <climits>

// Kernels declared before they are defined, with C linkage, in an unnamed namespace, with attributes.
__global__ void defined_later(int *y);
extern "C" __global__ void c_linkage(int *y)
{
	y[threadIdx.x] = 1;
}
namespace
{
__global__ void unnamed(int *y)
{
	y[threadIdx.x] = 2;
}
} // namespace
extern "C" __global__ void sim_run(int *p) // as functions of ours are called, or NVIDIA's
{
	p[0]++;
}
extern "C" __global__ void cudaThing(int *p)
{
	p[0] += 10;
}
template <int N = 3, typename... T>
__global__ void __launch_bounds__(256, 2) variadic(int *y, T... values)
{
	y[threadIdx.x] = (N + ... + values);
}

struct matrix {
	float *data;
	int rows, columns;
	__host__ __device__ float &at(int r, int c) const { return data[r * columns + c]; }
};
struct large {
	int values[64];
};

__global__ void by_value(matrix m, large l)
{
	int t = threadIdx.x;
	m.at(t / m.columns, t % m.columns) += l.values[t];
	l.values[t] = 0; // each thread has its own
}

__global__ void defined_later(int *y)
{
	y[threadIdx.x] = 3;
}

// Shared memory: structs, several declarators, in device functions, in templates, volatile.
struct slot {
	int key;
	float value;
};
template <typename T, int N>
struct tile {
	T values[N][N + 1];
};

__device__ float *scratch_of_function()
{
	__shared__ float scratch[32];
	return scratch;
}

__global__ void shared_kinds(float *y)
{
	__shared__ slot slots[32];
	__shared__ int a, b[32];
	__shared__ volatile int flag;
	__shared__ tile<float, 4> small;
	int t = threadIdx.x;
	float *scratch = scratch_of_function();
	if (t == 0) {
		a = 5;
		flag = 7;
	}
	slots[t].key = t;
	slots[t].value = 0.5f * t;
	b[t] = t;
	scratch[t] = 1;
	if (t < 16)
		small.values[t / 4][t % 4] = (float)t;
	__syncthreads();
	slot s = slots[31 - t];
	y[t] = s.key + s.value + a + b[t] + flag + scratch[t] + small.values[t % 4][0];
}

__device__ int grid[2][3] = {{1, 2, 3}, {4, 5, 6}};
typedef int (*operation)(int);
__device__ int negate(int x)
{
	return -x;
}
__device__ int square(int x)
{
	return x * x;
}

int main()
{
	int *dy = device_zeros<int>(64);
	float *df = device_zeros<float>(64);

	//= c_linkage store=128/1/4
	c_linkage<<<1, 32>>>(dy);
	//= unnamed store=128/1/4
	unnamed<<<1, 32>>>(dy);
	//= defined_later store=128/1/4
	defined_later<<<1, 32>>>(dy);
	EXPECT(element(dy, 31) == 3);
	//= sim_run load=4/1/1 store=4/1/1
	sim_run<<<1, 1>>>(dy);
	//= cudaThing load=4/1/1 store=4/1/1
	cudaThing<<<1, 1>>>(dy);
	EXPECT(element(dy, 0) == 14);
	//= variadic<3,int,long,char> store=128/1/4
	variadic<<<1, 32>>>(dy, 1, 2L, (char)3);
	EXPECT(element(dy, 31) == 9);
	// What is assumed is not read.
	//= each store=128/1/4
	each<<<1, 32>>>([=] __device__(int t) {
		__builtin_assume(dy[t] > 0);
		dy[t] = 4;
	});

	large l;
	for (int i = 0; i < 64; i++)
		l.values[i] = i;
	matrix m = {df, 8, 8};
	//= by_value load=256/2/8 store=256/2/8
	by_value<<<1, 64>>>(m, l);
	EXPECT(element(df, 63) == 63 && l.values[63] == 63);
	// slots: 8 bytes apart; a copy of one is two accesses of 4 bytes
	//= shared_kinds store=128/1/4 barriers=1 sstore=4+4+128+128+128+128+64/7/1+1+2+2+1+1+1/7
	//+ sload=128+128+128+128+128+128+128/7/2+2+1+1+1+1+1/7
	shared_kinds<<<1, 32>>>(df);
	EXPECT(element(df, 1) == 30 + 15 + 5 + 1 + 7 + 1 + 4);

	int *pointers[32];
	for (int i = 0; i < 32; i++)
		pointers[i] = dy + 2 * i;
	// pointers, and through them every second int
	//= each load=256/1/8 store=128/1/8
	each<<<1, 32>>>([p = device_copy(pointers, 32)] __device__(int t) { *p[t] = t; });
	EXPECT(element(dy, 62) == 31);
	//= each load=128/1/1 store=128/1/4
	each<<<1, 32>>>([=] __device__(int t) {
		operation operations[2] = {negate, square};
		dy[t] = operations[t % 2](grid[t % 2][t % 3]);
	});
	EXPECT(element(dy, 0) == -1 && element(dy, 1) == 25);

	// A number that an integer has not: as a GPU converts it, and the conversions of the headers.
	const float reals[] = {1e30f, __builtin_nanf(""), -7.9f};
	const double not_a_number = reals[1];
	//= each load=4*8+8/9/9 store=4/1/1
	each<<<1, 1>>>([=, x = device_copy(reals, 3), nan = device_copy(&not_a_number, 1)] __device__(int) {
		const long long results[][2] = {
			{(int)x[0], INT_MAX},         {(int)-x[0], INT_MIN},        {(unsigned)-x[0], 0},
			{(unsigned)x[0], UINT_MAX},   {(long long)x[0], LLONG_MAX}, {(int)x[1], 0},
			{(long long)x[1], LLONG_MIN}, {(int)nan[0], INT_MIN},       {(short)x[2], -7},
		};
		*dy = first_wrong(results);
	});
	EXPECT(element(dy, 0) == 0);
	return 0;
}
