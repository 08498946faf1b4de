/*
 * The rules the simulated device counts by, one launch each: how many 32-byte sectors a warp's global access touches,
 * and how many wavefronts its shared access takes when lanes meet in banks. A warp, one access a lane, nothing else
 * that counts: what hardware counters say of a launch is the rule.
 *
 *     nvcc -O3 -std=c++17 -arch=sm_90 rules.cu -o rules      or      ../simcc/simcc rules.cu -o rules
 *
 * Prints a line a launch, in order: number, kernel, what it shows.
 */
#include "accuracy/launch.cuh"

constexpr int ELEMENTS = 1024; // floats of the array, in either memory: 4 KB

// Which element each lane takes, in units of the access's width, and which lanes take part.
struct pattern {
	unsigned short index[LANES];
	unsigned active;
};

template <class T>
__device__ void read_shared(const pattern &p, T *out)
{
	__shared__ __align__(16) float array[ELEMENTS];
	for (int i = threadIdx.x; i < ELEMENTS; i += LANES)
		array[i] = i;
	__syncwarp();
	if (p.active >> threadIdx.x & 1)
		out[threadIdx.x] = ((const T *)array)[p.index[threadIdx.x]];
}

template <class T>
__device__ void write_shared(const pattern &p, float *out)
{
	__shared__ __align__(16) float array[ELEMENTS];
	if (p.active >> threadIdx.x & 1)
		((T *)array)[p.index[threadIdx.x]] = T{1.0f};
	__syncwarp();
	// One lane reads back what its own store left, so that the stores are not for nothing.
	if ((int)threadIdx.x == __ffs(p.active) - 1)
		out[0] = array[p.index[threadIdx.x] * (sizeof(T) / sizeof(float))];
}

template <class T>
__device__ void read_global(const pattern &p, const float *from, T *out)
{
	if (p.active >> threadIdx.x & 1)
		out[threadIdx.x] = ((const T *)from)[p.index[threadIdx.x]];
}

template <class T>
__device__ void write_global(const pattern &p, float *to)
{
	if (p.active >> threadIdx.x & 1)
		((T *)to)[p.index[threadIdx.x]] = T{1.0f};
}

struct one {
	float x;
};

// clang-format off
__global__ void shared_read_4(pattern p, const float *, float *out) { read_shared<one>(p, (one *)out); }
__global__ void shared_read_8(pattern p, const float *, float *out) { read_shared<float2>(p, (float2 *)out); }
__global__ void shared_read_16(pattern p, const float *, float *out) { read_shared<float4>(p, (float4 *)out); }
__global__ void shared_write_4(pattern p, const float *, float *out) { write_shared<one>(p, out); }
__global__ void shared_write_8(pattern p, const float *, float *out) { write_shared<float2>(p, out); }
__global__ void shared_write_16(pattern p, const float *, float *out) { write_shared<float4>(p, out); }
__global__ void global_read_4(pattern p, const float *from, float *out) { read_global<one>(p, from, (one *)out); }
__global__ void global_read_8(pattern p, const float *from, float *out) { read_global<float2>(p, from, (float2 *)out); }
__global__ void global_read_16(pattern p, const float *from, float *out) { read_global<float4>(p, from, (float4 *)out); }
__global__ void global_write_4(pattern p, const float *, float *out) { write_global<one>(p, out); }
__global__ void global_write_8(pattern p, const float *, float *out) { write_global<float2>(p, out); }
__global__ void global_write_16(pattern p, const float *, float *out) { write_global<float4>(p, out); }
__global__ void global_atomic_4(pattern p, const float *, float *out)
{
	if (p.active >> threadIdx.x & 1)
		atomicAdd(out + p.index[threadIdx.x], 1.0f);
}
// clang-format on

static const struct {
	const char *name;
	void (*kernel)(pattern, const float *, float *);
	int width; // bytes of an access
} kernels[] = {
	{"shared_read_4", shared_read_4, 4},     {"shared_read_8", shared_read_8, 8},
	{"shared_read_16", shared_read_16, 16},  {"shared_write_4", shared_write_4, 4},
	{"shared_write_8", shared_write_8, 8},   {"shared_write_16", shared_write_16, 16},
	{"global_read_4", global_read_4, 4},     {"global_read_8", global_read_8, 8},
	{"global_read_16", global_read_16, 16},  {"global_write_4", global_write_4, 4},
	{"global_write_8", global_write_8, 8},   {"global_write_16", global_write_16, 16},
	{"global_atomic_4", global_atomic_4, 4},
};

static const struct {
	const char *what;
	int (*index)(int lane);
	unsigned active;
} patterns[] = {
	{"neighbors", [](int lane) { return lane; }, 0xffffffff},
	{"neighbors, backwards", [](int lane) { return 31 - lane; }, 0xffffffff},
	{"neighbors, shifted by one", [](int lane) { return lane + 1; }, 0xffffffff},
	{"every second", [](int lane) { return 2 * lane; }, 0xffffffff},
	{"every eighth", [](int lane) { return 8 * lane; }, 0xffffffff},
	{"all the same", [](int) { return 0; }, 0xffffffff},
	{"pairs share", [](int lane) { return lane / 2; }, 0xffffffff},
	{"each shares with the lane after next", [](int lane) { return lane / 4 * 2 + lane % 2; }, 0xffffffff},
	{"fours share", [](int lane) { return lane / 4; }, 0xffffffff},
	{"pairs share in one half-warp", [](int lane) { return lane < 16 ? lane / 2 : lane; }, 0xffffffff},
	{"pairs share and meet in banks", [](int lane) { return lane / 8 * 32; }, 0xffffffff},
	{"half-warps the same", [](int lane) { return lane % 16; }, 0xffffffff},
	{"half-warps meet in banks", [](int lane) { return lane % 16 + lane / 16 * 32; }, 0xffffffff},
	{"quarters meet in banks", [](int lane) { return lane % 8 + lane / 8 * 32; }, 0xffffffff},
	{"even and odd lanes meet in banks", [](int lane) { return lane / 2 + lane % 2 * 32; }, 0xffffffff},
	{"5 lanes", [](int lane) { return lane; }, 0x0000001f},
	{"the upper half-warp", [](int lane) { return lane; }, 0xffff0000},
	{"even lanes", [](int lane) { return lane; }, 0x55555555},
	{"even lanes, every second", [](int lane) { return 2 * lane; }, 0x55555555},
	{"lanes 7 and 8 meet in a bank", [](int lane) { return lane == 8 ? 39 : lane; }, 0xffffffff},
	{"lanes 15 and 16 meet in a bank", [](int lane) { return lane == 16 ? 47 : lane; }, 0xffffffff},
};

int main()
{
	float *from = nullptr, *out = nullptr;
	check(cudaMalloc(&from, 4 * ELEMENTS), "cudaMalloc");
	check(cudaMalloc(&out, 4 * ELEMENTS), "cudaMalloc");
	check(cudaMemset(from, 0, 4 * ELEMENTS), "cudaMemset");
	check(cudaMemset(out, 0, 4 * ELEMENTS), "cudaMemset");
	int launches = 0;
	for (const auto &kernel : kernels)
		for (const auto &of : patterns) {
			pattern p = {};
			bool fits = true;
			for (int lane = 0; lane < LANES; lane++) {
				p.index[lane] = (unsigned short)of.index(lane);
				fits = fits && (p.index[lane] + 1) * kernel.width <= 4 * ELEMENTS;
			}
			p.active = of.active;
			// Stores of several lanes to one address are what atomics are for.
			bool shares = of.index(0) == of.index(1) || of.index(0) == of.index(2) ||
			              of.index(0) == of.index(16);
			if (!fits || (shares && (kernel.name[7] == 'w')))
				continue;
			kernel.kernel<<<1, LANES>>>(p, from, out);
			check(cudaGetLastError(), "cudaGetLastError");
			printf("%d\t%s\t%s\n", ++launches, kernel.name, of.what);
		}
	check(cudaDeviceSynchronize(), "cudaDeviceSynchronize");
	check(cudaFree(from), "cudaFree");
	check(cudaFree(out), "cudaFree");
	return 0;
}
