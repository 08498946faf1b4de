// Loads of 8 and 16 bytes from shared memory when lanes share addresses. Two passes become one where every active
// lane n of the warp finds lane n^1 at its own address or inactive, or every one lane n^2. Worked out by hand: bytes/
// requests/wavefronts/ideal wavefronts/conflicts. 16 bytes: 8 groups of banks, 4 passes of 8 lanes or 2 of 16; 8
// bytes: 16 groups, 2 passes of 16 lanes or 1 of 32. Each rule once: oracle.cu draws more patterns by
// chance.
#include "check.cuh"

const unsigned ALL = 0xffffffff, EVEN = 0x55555555;

// Which element each lane takes, and which lanes take part.
struct pattern {
	int (*element_of)(int lane);
	unsigned active;
};

struct elements {
	unsigned char of[32];
	unsigned active;
};

__device__ inline float first(float v)
{
	return v;
}
__device__ inline float first(double v)
{
	return (float)v;
}
__device__ inline float first(float2 v)
{
	return v.x;
}
__device__ inline float first(float4 v)
{
	return v.x;
}

__device__ inline void set(float &to, int value)
{
	to = (float)value;
}
__device__ inline void set(double &to, int value)
{
	to = value;
}
__device__ inline void set(float2 &to, int value)
{
	to = make_float2((float)value, 0);
}
__device__ inline void set(float4 &to, int value)
{
	to = make_float4((float)value, 0, 0, 0);
}

template <typename T>
__global__ void read(elements p, float *out)
{
	__shared__ T tile[256];
	int lane = threadIdx.x % 32;
	for (int i = threadIdx.x; i < 256; i += blockDim.x)
		set(tile[i], i);
	__syncthreads();
	if (p.active >> lane & 1) {
		T value = tile[p.of[lane]];
		out[threadIdx.x] = first(value);
	}
}

template <typename T>
__global__ void write(elements p)
{
	__shared__ T tile[256];
	if (p.active >> threadIdx.x & 1)
		set(tile[p.of[threadIdx.x]], (int)threadIdx.x);
}

__global__ void add(elements p)
{
	__shared__ unsigned long long tile[256];
	for (int i = threadIdx.x; i < 256; i += 32)
		tile[i] = 0;
	__syncthreads();
	if (p.active >> threadIdx.x & 1)
		atomicAdd(&tile[p.of[threadIdx.x]], 1ull);
}

// Lanes part: the second time only the odd ones are left.
__global__ void odd_lanes_twice(float *out)
{
	__shared__ float4 tile[32];
	int lane = threadIdx.x;
	tile[lane] = make_float4((float)lane, 0, 0, 0);
	__syncthreads();
	float sum = 0;
	for (int k = 0; k <= lane % 2; k++) {
		float4 value = tile[lane];
		sum += value.x;
	}
	out[lane] = sum;
}

static elements take(pattern p)
{
	elements e = {{}, p.active};
	for (int lane = 0; lane < 32; lane++)
		e.of[lane] = (unsigned char)p.element_of(lane);
	return e;
}

template <typename T>
static void run(pattern p, float *out, int threads = 32)
{
	CHECK(cudaMemset(out, 0, 64 * sizeof *out));
	read<T><<<1, threads>>>(take(p), out);
	EXPECT_EACH(out, threads, i, p.active >> i % 32 & 1 ? (float)p.element_of(i % 32) : 0.0f);
}

static int same(int)
{
	return 5;
}
static int own(int lane)
{
	return lane;
}
static int of_pair(int lane)
{
	return lane / 2;
}
static int of_second_next(int lane)
{
	return lane / 4 * 2 + lane % 2;
}

int main()
{
	float *out = device_zeros<float>(64);

	// 16 bytes. Everybody: every partner is at the same address, but never is it one pass of 32.
	//= read<float4> sload=512/1/2/4/0 sstore=? store=? barriers=1
	run<float4>({same, ALL}, out);
	//= read<float4> sload=512/1/4/4/0 sstore=? store=? barriers=1
	run<float4>({own, ALL}, out);
	//= read<float4> sload=512/1/2/4/0 sstore=? store=? barriers=1
	run<float4>({of_pair, ALL}, out);
	//= read<float4> sload=512/1/2/4/0 sstore=? store=? barriers=1
	run<float4>({of_second_next, ALL}, out);
	// one rule for the whole warp: n^1 in one half and n^2 in the other is neither
	//= read<float4> sload=512/1/4/4/0 sstore=? store=? barriers=1
	run<float4>({[](int lane) { return lane < 16 ? of_pair(lane) : of_second_next(lane); }, ALL}, out);
	// one lane that strays parts all of them
	//= read<float4> sload=512/1/4/4/0 sstore=? store=? barriers=1
	run<float4>({[](int lane) { return lane == 31 ? 16 : of_pair(lane); }, ALL}, out);
	// unless its partner is inactive
	//= read<float4> sload=31*16/1/2/4/0 sstore=? store=? barriers=1
	run<float4>({[](int lane) { return lane == 31 ? 23 : of_pair(lane); }, 0xbfffffff}, out);
	// 8 of 16 lanes, twice in each group of banks
	//= read<float4> sload=256/1/2+2/4/2 sstore=? store=? barriers=1
	run<float4>({own, EVEN}, out);
	// a pass in which nobody is active is none
	//= read<float4> sload=64/1/1/1/0 sstore=? store=? barriers=1
	run<float4>({own, 0x0000000f}, out);
	// merged passes with conflicts: 8 elements in one group of banks; then the reads of A and of B in a matrix
	// product with 8 x 8 elements a thread, whose 2-way conflicts Nsight Compute counts on an RTX 4090
	// (kapilsh.github.io, 2025-10-01): 2 and 4
	//= read<float4> sload=512/1/8+8/4/7+7 sstore=? store=? barriers=1
	run<float4>({[](int lane) { return lane / 2 * 8; }, ALL}, out);
	//= read<float4> sload=512/1/2+2/4/2 sstore=? store=? barriers=1
	run<float4>({[](int lane) { return lane / 8 * 16; }, ALL}, out);
	//= read<float4> sload=512/1/4*2/4/4 sstore=? store=? barriers=1
	run<float4>({[](int lane) { return lane % 8 * 2; }, ALL}, out);
	// a warp of 8 lanes beside a whole one
	//= read<float4> sload=512+128/2/2+1/4+1/0 sstore=? store=? barriers=1
	run<float4>({of_pair, ALL}, out, 40);

	// 8 bytes
	//= read<float2> sload=256/1/2/2/0 sstore=? store=? barriers=1
	run<float2>({own, ALL}, out);
	//= read<float2> sload=256/1/1/2/0 sstore=? store=? barriers=1
	run<float2>({of_pair, ALL}, out);
	//= read<double> sload=256/1/1/2/0 sstore=? store=? barriers=1
	run<double>({of_second_next, ALL}, out);
	// 16 groups of banks, two elements in every second one
	//= read<float2> sload=128/1/2/2/1 sstore=? store=? barriers=1
	run<float2>({own, EVEN}, out);
	// 16 elements in two groups of banks
	//= read<double> sload=256/1/8/2/7 sstore=? store=? barriers=1
	run<double>({[](int lane) { return lane / 2 * 8; }, ALL}, out);
	//= read<double> sload=256+64/2/1+1/2+1/0 sstore=? store=? barriers=1
	run<double>({of_pair, ALL}, out, 40);

	// 4 bytes: one pass of 32 in any case
	//= read<float> sload=128/1/1/1/0 sstore=? store=? barriers=1
	run<float>({of_pair, ALL}, out);
	//= read<float> sload=128/1/4/1/3 sstore=? store=? barriers=1
	run<float>({[](int lane) { return lane / 8 * 64; }, ALL}, out);

	// Stores and atomics never merge, with inactive partners either.
	//= write<float4> sstore=256/1/4/4/0
	write<float4><<<1, 32>>>(take({of_pair, EVEN}));
	//= write<float2> sstore=128/1/2/2/0
	write<float2><<<1, 32>>>(take({of_pair, EVEN}));
	//= write<float4> sstore=256/1/8*2/4/12
	write<float4><<<1, 32>>>(take({[](int lane) { return lane / 2 * 8; }, EVEN}));
	//= add satomic=128/1/2/2/0 sstore=? barriers=1
	add<<<1, 32>>>(take({of_pair, EVEN}));
	//= add satomic=256/1/2/2/0 sstore=? barriers=1
	add<<<1, 32>>>(take({of_pair, ALL}));

	// all lanes, then the odd ones: 8 of a pass of 16, in every second group of banks
	//= odd_lanes_twice sload=512+256/2/4+4/4+4/2 sstore=512/1/4/4/0 store=128/1/4 barriers=1
	odd_lanes_twice<<<1, 32>>>(out);
	EXPECT(element(out, 3) == 6 && element(out, 4) == 4);
	return 0;
}
