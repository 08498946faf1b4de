// Names: kernels that share one with each other or with a function of the host; templates of kernels, of __constant__
// and of __device__ variables.
#include "check.cuh"

__global__ void fill(int *out, int n, float f);
void fill(int *out, int n, float f, int block)
{
	fill<<<1, block>>>(out, n, f);
}
__global__ void fill(int *out, int n, float f)
{
	out[threadIdx.x] = n + (int)f;
}

__global__ void by_type(int *out, float x)
{
	out[0] = 1000 + (int)x;
}
__global__ void by_type(int *out, int x)
{
	out[0] = 2000 + x;
}

template <class T>
__global__ void shared_name(T *out, int n)
{
	out[0] = n;
}
template <class T>
void shared_name(T *out, int n, int block)
{
	shared_name<<<1, block>>>(out, n);
}

template <typename T, int N, bool Negate>
__global__ void scale(const T *x, T *y, T factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N)
		y[i] = Negate ? -x[i] * factor : x[i] * factor;
}

template <class T>
__constant__ T table[4];
template <int N>
__device__ int counter = N;
__constant__ float early[2] = {3, 4};
template <class T>
__global__ void look_up(T *y)
{
	y[threadIdx.x] = table<T>[threadIdx.x % 4];
	if (threadIdx.x == 0)
		counter<3> += 1;
}

__constant__ float late[2] = {1, 2};

template <class T>
static void check_table()
{
	const T values[4] = {1, 2, 3, 4};
	T *y = device_zeros<T>(8);
	CHECK(cudaMemcpyToSymbol(table<T>, values, sizeof values));
	look_up<T><<<1, 8>>>(y);
	EXPECT_EACH(y, 8, i, (T)(i % 4 + 1));
}

__global__ void sections(float *y)
{
	y[threadIdx.x] = early[threadIdx.x] + late[threadIdx.x];
}

int main()
{
	float x[100], *dx, *dy = device_zeros<float>(128);
	int *out = device_zeros<int>(32);
	for (int i = 0; i < 100; i++)
		x[i] = (float)i;
	dx = device_copy(x, 100);
	//= fill store=128/1/4
	fill(out, 5, 2.5f, 32);
	EXPECT(element(out, 0) == 7);
	//= by_type store=4/1/1 x2
	by_type<<<1, 1>>>(out, 3);
	EXPECT(element(out, 0) == 2003);
	by_type<<<1, 1>>>(out, 3.5f);
	EXPECT(element(out, 0) == 1003);
	//= shared_name<int> store=4/1/1
	shared_name(out, 77, 1);
	EXPECT(element(out, 0) == 77);
	//= scale<float,100,true> load=400/4/13 store=400/4/13 foot=400/400
	scale<float, 100, true><<<4, 32>>>(dx, dy, 2.0f);
	EXPECT_EACH(dy, 128, i, i < 100 ? -2.0f * i : 0);
	//= look_up<float> const=32/1 load=4/1/1 store=32+4/2/2 tensor:counter<3>=4/4
	check_table<float>();
	//= look_up<double> const=64/1 load=4/1/1 store=64+4/2/3
	check_table<double>();
	int count;
	CHECK(cudaMemcpyFromSymbol(&count, counter<3>, sizeof count));
	EXPECT(count == 5);
	//= sections const=16/2 store=8/1/1
	sections<<<1, 2>>>(dy);
	EXPECT(element(dy, 0) == 4 && element(dy, 1) == 6);
	return 0;
}
