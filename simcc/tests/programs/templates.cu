// Template kernels: type, int and bool arguments, given, partly given and deduced.
#include "check.cuh"

template <typename T, int N, bool Negate>
__global__ void scale(const T *x, T *y, T factor)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < N) {
		T value = x[i] * factor;
		y[i] = Negate ? -value : value;
	}
}

template <typename T>
__global__ void fill(T *y, T value, int n)
{
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (i < n)
		y[i] = value;
}

// The first argument is given, the second deduced.
template <int Shift, typename T>
__global__ void shift(const T *x, T *y)
{
	y[threadIdx.x] = x[(threadIdx.x + Shift) % blockDim.x];
}

template <typename T>
struct twice {
	__device__ T operator()(T x) const { return x + x; }
};

template <typename T, template <typename> class F>
__global__ void apply(T *y)
{
	F<T> f;
	y[threadIdx.x] = f(y[threadIdx.x]);
}

int main()
{
	float x[128];
	for (int i = 0; i < 128; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 128), *dy = device_zeros<float>(128);
	double *dz = device_zeros<double>(128);

	//= scale<float,100,true> load=400/4/13 store=400/4/13 foot=400/400
	scale<float, 100, true><<<4, 32>>>(dx, dy, 2.0f);
	EXPECT_EACH(dy, 128, i, i < 100 ? -2.0f * i : 0);
	//= scale<float,32,false> load=128/1/4 store=128/1/4
	scale<float, 32, false><<<1, 64>>>(dx, dy, 3);
	EXPECT(element(dy, 31) == 93 && element(dy, 32) == -64);

	//= fill<double> store=1024/4/32
	fill<<<2, 64>>>(dz, 3.5, 128);
	EXPECT(element(dz, 0) == 3.5 && element(dz, 127) == 3.5);
	//= fill<float> store=40/1/2
	fill<float><<<1, 32>>>(dy, 7, 10);
	EXPECT(element(dy, 9) == 7 && element(dy, 10) == 30);

	//= shift<5,float> load=256/2/10 store=256/2/8
	shift<5><<<1, 64>>>(dx, dy);
	EXPECT(element(dy, 0) == 5 && element(dy, 63) == 4);
	//= apply<float,twice> load=128/1/4 store=128/1/4
	apply<float, twice><<<1, 32>>>(dy);
	EXPECT(element(dy, 0) == 10 && element(dy, 31) == 72 && element(dy, 32) == 37);
	return 0;
}
