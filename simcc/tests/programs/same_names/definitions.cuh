// Device code of one file, under names that the other file has too: only THIS_FILE tells them apart.
#include "../check.cuh"

constexpr int tile_size = 16 << THIS_FILE; // 32 and 64: the shared arrays differ in size too

template <int D>
__global__ void row(int *y)
{
	__shared__ int tile[D + tile_size];
	tile[threadIdx.x + tile_size] = THIS_FILE;
	__syncthreads();
	y[threadIdx.x] += tile[tile_size + D - 1 - threadIdx.x];
}

template <typename T>
__global__ void deduced(T *y, T scale)
{
	y[threadIdx.x] += scale * THIS_FILE;
}

template <int D>
__device__ int device_template()
{
	static const int table[4] = {D, THIS_FILE, D * THIS_FILE, 2};
	return table[1] + table[2];
}

inline __device__ int device_inline()
{
	return 10 * THIS_FILE;
}

extern "C" inline __device__ int device_c()
{
	return 20 * THIS_FILE;
}

namespace names
{
template <typename T>
struct constants {
	static constexpr T weights[THIS_FILE + 1] = {T(1), T(THIS_FILE)};
};

// Another layout in each file: even copies made by the compiler must be the file's own.
struct partial {
	float before[THIS_FILE];
	int value = THIS_FILE;
	__device__ explicit partial(int first) : value(first + THIS_FILE) {}
	__device__ int get() const { return value * THIS_FILE; }
	__device__ partial operator+(const partial &other) const { return partial(value + other.value); }
};
} // namespace names

__device__ int counter;
__constant__ int factors[2 * THIS_FILE];

inline __device__ int twice(int x)
{
	return 2 * x * THIS_FILE;
}
typedef int (*function)(int);
__device__ function functions[1] = {twice};

inline __host__ __device__ int both(int x)
{
	return x + THIS_FILE;
}

inline __host__ int shared_by_the_host()
{
	static int calls;
	return ++calls;
}

__device__ inline int everything()
{
	names::partial sum = names::partial(1) + names::partial(2);
	names::partial copy = sum;
	auto lambda = [](int x) { return x + 5 * THIS_FILE; };

	return device_template<3>() + device_inline() + device_c() + copy.get() + names::constants<int>::weights[1] +
	       functions[0](1) + both(1) + lambda(0);
}

// What everything() is, worked out on the host from the text above.
constexpr int expected_everything = (THIS_FILE + 3 * THIS_FILE) + 10 * THIS_FILE + 20 * THIS_FILE +
                                    (3 + 3 * THIS_FILE) * THIS_FILE + THIS_FILE + 2 * THIS_FILE + (1 + THIS_FILE) +
                                    5 * THIS_FILE;

template <int D>
__global__ void use_everything(int *y)
{
	counter = D;
	y[0] = everything() + factors[1] + counter;
}

// A host template: its name holds the kernel's, and each file means its own kernel.
template <void (*KERNEL)(int *)>
void launch(int *y)
{
	KERNEL<<<1, 32>>>(y);
}

template <int NUMBER>
static void run_file(int (*host_counter)())
{
	static void (*const table[])(int *) = {row<32>, use_everything<7>};
	int y[32], given[2] = {0, 1000 * THIS_FILE}, value;
	int *dy = device_zeros<int>(32);

	row<32><<<1, 32>>>(dy);
	deduced<<<1, 32>>>(dy, 100);
	table[0]<<<1, 32>>>(dy);
	launch<row<32>>(dy);
	fetch(y, dy, 32);
	for (int i = 0; i < 32; i++)
		EXPECT(y[i] == 103 * THIS_FILE);
	CHECK(cudaMemcpyToSymbol(factors, given, sizeof given));
	use_everything<7><<<1, 1>>>(dy);
	fetch(y, dy, 1);
	EXPECT(y[0] == expected_everything + 1000 * THIS_FILE + 7);
	CHECK(cudaMemcpyFromSymbol(&value, counter, sizeof value));
	EXPECT(value == 7);
	value = shared_by_the_host();
	EXPECT(host_counter() == value + 1);
	EXPECT(&shared_by_the_host == host_counter);
	CHECK(cudaFree(dy));
}
