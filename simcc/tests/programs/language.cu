// Corners of the language that real programs use.
#include "check.cuh"

#include <cstddef>
#include <cstdint>

// ---- kernels declared before they are defined, with C linkage, in an unnamed namespace, with attributes ----

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
// What is assumed is not read.
__global__ void assumes(const int *x, int *y)
{
	__builtin_assume(x[threadIdx.x] > 0);
	y[threadIdx.x] = 4;
}
template <int N = 3, typename... T>
__global__ void __launch_bounds__(256, 2) variadic(int *y, T... values)
{
	y[threadIdx.x] = (N + ... + values);
}

// ---- arguments by value: structs, functors ----

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

template <typename F>
__global__ void for_each(int n, F f)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		f(i);
}

struct add_to {
	int *y, amount;
	__device__ void operator()(int i) const { y[i] += amount; }
};

// ---- shared memory: structs, several declarators, in device functions, in templates, volatile ----

struct slot {
	int key;
	float value;
};

__device__ float *scratch_of_function()
{
	__shared__ float scratch[32];
	return scratch;
}

template <typename T, int N>
struct tile {
	T values[N][N + 1];
};

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

// ---- types of every width, enums, pointers to pointers ----

enum class color : unsigned char { red = 3, blue = 9 };

__global__ void widths(bool *b, int8_t *c, int16_t *s, int64_t *l, size_t *z, color *e, int **p)
{
	int t = threadIdx.x;
	b[t] = t % 2;
	c[t] = (int8_t)-t;
	s[t] = (int16_t)(300 * t);
	l[t] = (int64_t)t << 40;
	z[t] = sizeof(size_t);
	e[t] = color::blue;
	*p[t] = t;
}

__global__ void defined_later(int *y)
{
	y[threadIdx.x] = 3;
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

__global__ void through_pointers(int *y)
{
	operation operations[2] = {negate, square};
	y[threadIdx.x] = operations[threadIdx.x % 2](grid[threadIdx.x % 2][threadIdx.x % 3]);
}

int main()
{
	int *dy = device_zeros<int>(64);
	float *df = device_zeros<float>(64);

	//= c_linkage store=128/1/4
	c_linkage<<<1, 32>>>(dy);
	//= unnamed store=128/1/4
	unnamed<<<1, 32>>>(dy);
	//= assumes store=128/1/4
	assumes<<<1, 32>>>(dy, dy);
	//= defined_later store=128/1/4
	defined_later<<<1, 32>>>(dy);
	//= variadic<3,int,long,char> store=128/1/4
	variadic<<<1, 32>>>(dy, 1, 2L, (char)3);
	EXPECT(element(dy, 31) == 9);

	large l;
	for (int i = 0; i < 64; i++)
		l.values[i] = i;
	matrix m = {df, 8, 8};
	//= by_value load=256/2/8 store=256/2/8
	by_value<<<1, 64>>>(m, l);
	EXPECT(element(df, 63) == 63 && l.values[63] == 63);
	//= for_each<add_to> load=160/2/5 store=160/2/5
	for_each<<<2, 32>>>(40, add_to{dy, 10});
	EXPECT(element(dy, 0) == 19 && element(dy, 39) == 10 && element(dy, 40) == 0);

	// slots: 8 bytes apart; a copy of one is two accesses of 4 bytes
	//= shared_kinds store=128/1/4 barriers=1 sstore=4+4+128+128+128+128+64/7/1+1+2+2+1+1+1/7
	//+ sload=128+128+128+128+128+128+128/7/2+2+1+1+1+1+1/7
	shared_kinds<<<1, 32>>>(df);
	EXPECT(element(df, 1) == 30 + 15 + 5 + 1 + 7 + 1 + 4);

	int *pointers[32];
	for (int i = 0; i < 32; i++)
		pointers[i] = dy + 2 * i;
	int **dpointers = device_copy(pointers, 32);
	char *bytes = device_zeros<char>(1024);
	// 32 of 1, 1, 2, 8, 8 and 1 bytes; pointers, and through them every second int
	//= widths store=32+32+64+256+256+32+128/7/1+1+2+8+8+1+8 load=256/1/8
	widths<<<1, 32>>>(
		(bool *)bytes, (int8_t *)bytes + 32, (int16_t *)(bytes + 64), (int64_t *)(bytes + 256),
		(size_t *)(bytes + 512), (color *)(bytes + 768), dpointers);
	EXPECT(element(dy, 62) == 31);

	//= through_pointers load=128/1/1 store=128/1/4
	through_pointers<<<1, 32>>>(dy);
	EXPECT(element(dy, 0) == -1 && element(dy, 1) == 25);
	return 0;
}
