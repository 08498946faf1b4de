// Kernels that share a name with each other or with a function of the host, default arguments, and templates of
// __constant__ and __device__ variables.
#include "check.cuh"

namespace space
{
struct Value {
	int v;
};
__global__ void in_space(Value value, int *out, int n = 2);
} // namespace space

__global__ void fill(int *out, int n, float f);
void fill(int *out, int n, float f, int block)
{
	fill<<<1, block>>>(out, n, f);
}
__global__ void fill(int *out, int n, float f)
{
	out[threadIdx.x] = n + (int)f;
}

__global__ void defaults(int *out, int a, int b = 3, int c = 4 * (1 + 1))
{
	out[threadIdx.x] = a * 100 + b * 10 + c;
}

__global__ void by_type(int *out, float x)
{
	out[0] = 1000 + (int)x;
}
__global__ void by_type(int *out, int x)
{
	out[0] = 2000 + x;
}

// Their arguments are counted, with the comparisons and shifts that stand in them.
template <int n>
struct Number {
};
__global__ void compares(bool less, int *out, bool greater = true)
{
	out[0] = 2 * less + greater;
}
template <int n>
__global__ void shifts(Number<n>, int *out, int more = 1)
{
	out[0] = n + more;
}
template <int n, bool is_large = false>
__global__ void shifted(int *out)
{
	out[0] = n + is_large;
}

__global__ void by_number(int *out)
{
	out[0] = 5;
}
__global__ void by_number(int *out, int value)
{
	out[0] = value;
}

template <class T>
__global__ void deduced(T *out, T value, int n = 7)
{
	out[0] = value + n;
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

// What a default or a type is called where the kernel is declared may be something else where it is launched.
constexpr int tile_width = 16;
namespace library
{
constexpr int tile_width = 32;
struct Value {
	int v;
};
__global__ void with_default(int *out, float scale, int n = tile_width, int more = (int)sizeof(Value))
{
	out[blockIdx.x] = (int)(scale * 1000) + n + more;
}
__global__ void with_type(Value *out)
{
	out->v = 1;
}
__global__ void with_type(Value *out, int v)
{
	out->v = v;
}
} // namespace library
class Solver
{
	static const int half_width = 1, tile_width = 2;

      public:
	static void run(int *out);
};
static const int half_width = 8;
__global__ void of_file(int *out, int n = half_width)
{
	if (out)
		out[0] = n + tile_width;
}
void Solver::run(int *out)
{
	of_file<<<1, 1>>>(out);
}
template <class... T>
static void launch_with(T... arguments)
{
	library::with_default<<<1, 1>>>(arguments...);
}
static int arguments_made;
static float made_once()
{
	arguments_made++;
	return 0.5f;
}

static int numbered, numbered_more;
static __host__ __device__ int next_number(int more)
{
	numbered_more += more;
	return ++numbered;
}
template <class T>
struct Value {
	T v;
};
// Evaluated once for a launch, by the host.
__global__ void number(int *out, int n = next_number(sizeof(int)), float2 f = make_float2(1, 2))
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = n * 100 + (int)(f.x + f.y);
}
__global__ void number(int *out, float2 f, int n = next_number(1))
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = n * 100 + (int)(f.x + f.y);
}

template <class T>
__global__ void number_of(T *out, T n = T(next_number(sizeof(T))), int = (int)sizeof(Value<T>))
{
	out[blockIdx.x * blockDim.x + threadIdx.x] = n;
}

__global__ void nothing(int *out = nullptr)
{
	if (out)
		out[0] = 1;
}

__global__ void space::in_space(Value value, int *out, int n)
{
	out[0] = value.v + n;
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

static int *out;
static int first()
{
	return element(out, 0);
}

// One name in two namespaces; a literal null pointer is one for whichever is called.
namespace ints
{
__global__ void either(int *null, int *out, int n)
{
	out[0] = null ? 0 : n;
}
void launch(int *out)
{
	either<<<1, 1>>>(0, out, arguments_made);
}
} // namespace ints
namespace floats
{
__global__ void either(float *null, int *out, int n)
{
	out[0] = null ? 0 : -n;
}
} // namespace floats

int main()
{
	out = device_zeros<int>(32);
	//= fill store=128/1/4
	fill(out, 5, 2.5f, 32);
	EXPECT(first() == 7);
	//= defaults store=128/1/4 x3
	defaults<<<1, 32>>>(out, 1);
	EXPECT(first() == 138);
	defaults<<<1, 32>>>(out, 1, 2);
	EXPECT(first() == 128);
	defaults<<<1, 32>>>(out, 1, 2, 3);
	EXPECT(first() == 123);
	//= by_type store=4/1/1 x2
	by_type<<<1, 1>>>(out, 3);
	EXPECT(first() == 2003);
	by_type<<<1, 1>>>(out, 3.5f);
	EXPECT(first() == 1003);
	int three = 3, four = 4;
	// It takes comparisons beside <<< for brackets of a template, and tears the launch:
	// clang-format off
	//= compares store=4/1/1 x4
	compares<<<1, 1>>>(three < four, out);
	EXPECT(first() == 3);
	compares<<<1, 1>>>(three < four, out, three > four);
	EXPECT(first() == 2);
	compares<<<1, 1>>>(three << 1 > 6, out, four < three);
	EXPECT(first() == 0);
	compares<<<1, 1>>>(1 << three > 0, out);
	EXPECT(first() == 3);
	//= shifts<4> store=4/1/1 x2
	shifts<<<1, 1>>>(Number<4>(), out);
	EXPECT(first() == 5);
	shifts<<<1, 1>>>(Number<1 << 2>(), out, 1 << three);
	EXPECT(first() == 12);
	//= shifted<8,false> store=4/1/1
	shifted<1 << 3><<<1, 1>>>(out);
	EXPECT(first() == 8);
	//= shifted<8,true> store=4/1/1
	shifted<8, 2 < 3><<<1 << 0, 2 >> 1>>>(out);
	EXPECT(first() == 9);
	// clang-format on
	//= by_number store=4/1/1 x2
	by_number<<<1, 1>>>(out);
	EXPECT(first() == 5);
	by_number<<<1, 1>>>(out, 9);
	EXPECT(first() == 9);
	//= deduced<int> store=4/1/1 x3
	deduced<<<1, 1>>>(out, 3);
	EXPECT(first() == 10);
	deduced<int><<<1, 1>>>(out, 4);
	EXPECT(first() == 11);
	deduced<int><<<1, 1>>>(out, 3, 1);
	EXPECT(first() == 4);
	//= shared_name<int> store=4/1/1
	shared_name(out, 77, 1);
	EXPECT(first() == 77);
	//= nothing x2
	nothing<<<1, 1>>>();
	nothing<<<1, 1>>>(0);
	//= nothing store=4/1/1
	nothing<<<1, 1>>>(out);
	EXPECT(first() == 1);
	//= with_default store=4/1/1 x4
	library::with_default<<<1, 1>>>(out, 1);
	EXPECT(first() == 1036);
	{
		const int tile_width = 77;
		library::with_default<<<1, 1>>>(out, 1);
		EXPECT(first() == 1036 && tile_width == 77);
	}
	launch_with(out, 2);
	EXPECT(first() == 2036);
	launch_with(out, 2, 5);
	EXPECT(first() == 2009);
	//= with_default store=128/32/32
	library::with_default<<<32, 1>>>(out, made_once());
	EXPECT(first() == 536 && arguments_made == 1);
	//= with_type store=4/1/1 x2
	library::with_type<<<1, 1>>>((library::Value *)out);
	EXPECT(first() == 1);
	library::with_type<<<1, 1>>>((library::Value *)out, 6);
	EXPECT(first() == 6);
	int *numbers = device_zeros<int>(64);
	//= number store=256/4/8 x3
	number<<<4, 16>>>(numbers);
	EXPECT_EACH(numbers, 64, i, 103);
	number<<<4, 16>>>(numbers, make_float2(4, 0));
	EXPECT_EACH(numbers, 64, i, 204);
	number<<<4, 16>>>(numbers, 5);
	EXPECT(element(numbers, 0) == 503 && numbered == 2 && numbered_more == 5);
	//= number_of<int> store=256/4/8 x3
	number_of<<<4, 16>>>(numbers);
	EXPECT(element(numbers, 0) == 3 && element(numbers, 63) == 3);
	number_of<int><<<4, 16>>>(numbers);
	EXPECT(element(numbers, 0) == 4 && element(numbers, 63) == 4);
	number_of<<<4, 16>>>(numbers, 9);
	EXPECT(element(numbers, 0) == 9 && element(numbers, 63) == 9 && numbered_more == 13);
	//= of_file store=4/1/1
	Solver::run(out);
	EXPECT(first() == 8 + 16);
	//= of_file
	of_file<<<1, 1>>>(0);
	//= in_space store=4/1/1
	space::in_space<<<1, 1>>>(space::Value{4}, out);
	EXPECT(first() == 6);
	//= either store=4/1/1 x5
	arguments_made = 40;
	ints::launch(out);
	EXPECT(first() == 40);
	ints::either<<<1, 1>>>((0), out, 41);
	EXPECT(first() == 41);
	floats::either<<<1, 1>>>(NULL, out, ++arguments_made);
	EXPECT(first() == -arguments_made && arguments_made == 41);
	floats::either<<<1, 1>>>({}, out, 7);
	EXPECT(first() == -7);
	floats::either<<<1, 1>>>(nullptr, out, 8);
	EXPECT(first() == -8);
	//= look_up<float> const=32/1 load=4/1/1 store=32+4/2/2 tensor:counter<3>=4/4
	check_table<float>();
	//= look_up<double> const=64/1 load=4/1/1 store=64+4/2/3
	check_table<double>();
	float *sums = device_zeros<float>(2);
	//= sections const=16/2 store=8/1/1
	sections<<<1, 2>>>(sums);
	EXPECT(element(sums, 0) == 4 && element(sums, 1) == 6);
	int count;
	CHECK(cudaMemcpyFromSymbol(&count, counter<3>, sizeof count));
	EXPECT(count == 5);
	return 0;
}
