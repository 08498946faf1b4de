/*
 * The simulated device's test of itself, run when its library is built: small kernels whose counts were worked out
 * by hand. A compiler that removes, merges, moves or doubles an access of the source fails here, loudly, before
 * anyone believes a number.
 *
 * 64 threads, two warps, in one block; x, y are allocations of their own, 256-byte aligned. A warp that reads 32
 * consecutive floats asks for 128 bytes in 1 request of 4 sectors.
 *
 * It is one of the programs of tests/, too: there the same kernels are counted with another LLVM and in any order.
 */
//! counts itself: in check_launch()
//! not fast: a --fast program counts nothing
#include <stdio.h>
#include <string.h>

#include "sim.h"

struct three {
	float a, b, c;
}; /* 12 bytes, alignment 4 */
struct eight {
	float v[8];
}; /* 32 bytes, alignment 4 */
struct pair {
	float a, b;
}; /* 8 bytes, alignment 4: not a float2 */
struct doubles {
	double a, b;
}; /* 16 bytes, alignment 8 */
struct inside {
	double x;
	struct doubles y;
	double z;
};
struct __align__(16) aligned
{
	float v[4];
};
union quad {
	float4 vector;
	float element[4];
};

/* ---- accesses a compiler would like to remove or merge ---- */

__global__ void redundant(const float *x, float *y)
{
	int i = threadIdx.x;
	y[i] = x[i] * x[i];
}

__global__ void invariant(const float *x, float *y)
{
	int i = threadIdx.x;
	float sum = 0;
	for (int j = 0; j < 64; j++)
		sum += x[i] * x[j];
	y[i] = sum;
}

__global__ void accumulate(const float *__restrict__ x, float *__restrict__ y)
{
	int i = threadIdx.x;
	for (int j = 0; j < 64; j++)
		y[i] += x[j];
}

__global__ void unused(const float *x, float *y)
{
	float value = x[threadIdx.x];
	(void)value;
	y[threadIdx.x] = 1;
}

__global__ void dead_shared_stores(const float *x, float *y)
{
	[[maybe_unused]] __shared__ float unread[64];
	unread[threadIdx.x] = 1;
	unread[threadIdx.x] = 2;
	y[threadIdx.x] = x[threadIdx.x];
}

__global__ void reload_shared(const float *x, float *y)
{
	__shared__ float tile[64];
	tile[threadIdx.x] = x[threadIdx.x];
	y[threadIdx.x] = tile[threadIdx.x] + tile[threadIdx.x] * 2;
}

__global__ void copy_and_zero(const float *x, float *y)
{
	for (int k = 0; k < 8; k++)
		y[8 * threadIdx.x + k] = x[8 * threadIdx.x + k];
	for (int k = 0; k < 8; k++)
		y[8 * threadIdx.x + k] = 0;
}

__global__ void unrolled(const float *x, float *y)
{
	float sum = 0;
#pragma unroll
	for (int k = 0; k < 8; k++)
		sum += x[64 * k + threadIdx.x];
	y[threadIdx.x] = sum;
}

/* ---- wide accesses and structs ---- */

__global__ void copy_float4(const float4 *x, float4 *y)
{
	y[threadIdx.x] = x[threadIdx.x];
}

__global__ void make_vectors(const float *x, float4 *y)
{
	float value = x[threadIdx.x];
	y[threadIdx.x] = make_float4(value, value, value, value);
	y[threadIdx.x] = {value, 0, 0, value};
	y[threadIdx.x] = float4{1, 2, 3, 4};
}

__global__ void use_union(const float4 *x, float *y)
{
	union quad q;
	q.vector = x[threadIdx.x];
	y[threadIdx.x] = q.element[2];
}

__global__ void field(const float4 *x, float4 *y)
{
	y[threadIdx.x].w = x[threadIdx.x].y;
}

__global__ void copy_float2(const float2 *x, float2 *y)
{
	float2 value = x[threadIdx.x];
	y[threadIdx.x] = value;
}

__global__ void copy_three(const struct three *x, struct three *y)
{
	y[threadIdx.x] = x[threadIdx.x];
}
__global__ void copy_eight(const struct eight *x, struct eight *y)
{
	y[threadIdx.x] = x[threadIdx.x];
}
__global__ void copy_pair(const struct pair *x, struct pair *y)
{
	y[threadIdx.x] = x[threadIdx.x];
}

__global__ void copy_inside(const struct inside *x, struct doubles *y)
{
	y[threadIdx.x] = x[threadIdx.x].y;
}
__global__ void copy_aligned(const struct aligned *x, struct aligned *y)
{
	y[threadIdx.x] = x[threadIdx.x];
}

/* ---- structs as arguments and results ---- */

__device__ float first(float4 v)
{
	return v.x;
}
__device__ float first(struct three v)
{
	return v.a;
}
__device__ float first(struct eight v)
{
	return v.v[0];
}
__device__ float4 operator+(float4 a, float4 b)
{
	return make_float4(a.x + b.x, 0, 0, 0);
}
__device__ struct three make_three(float a)
{
	return {a, a, a};
}
__device__ struct eight make_eight(float a)
{
	return {{a, a}};
}
__device__ float4 take(const float4 *x)
{
	return *x;
}

__global__ void pass_float4(const float4 *x, float *y)
{
	y[threadIdx.x] = first(x[threadIdx.x]);
}
__global__ void pass_three(const struct three *x, float *y)
{
	y[threadIdx.x] = first(x[threadIdx.x]);
}
__global__ void pass_eight(const struct eight *x, float *y)
{
	y[threadIdx.x] = first(x[threadIdx.x]);
}
__global__ void add_float4(const float4 *x, float4 *y)
{
	y[threadIdx.x] = x[threadIdx.x] + x[threadIdx.x];
}
__global__ void return_float4(const float4 *x, float *y)
{
	y[threadIdx.x] = take(&x[threadIdx.x]).y;
}
__global__ void return_three(const float *x, struct three *y)
{
	y[threadIdx.x] = make_three(x[threadIdx.x]);
}
__global__ void return_eight(const float *x, struct eight *y)
{
	y[threadIdx.x] = make_eight(x[threadIdx.x]);
}

/* ---- branches, calls, loops of unequal length ---- */

__global__ void both_arms(const float *x, float *y)
{
	int i = threadIdx.x;
	float value;
	if (i % 2)
		value = x[i];
	else
		value = x[i + 64];
	y[i] = value;
}

__global__ void choose_pointer(const float *x, float *y)
{
	int i = threadIdx.x;
	y[i] = i % 2 ? x[i] : x[i + 64];
}

__device__ float load(const float *x, int i)
{
	return x[i];
}
__device__ __forceinline__ float load_inline(const float *x, int i)
{
	return x[i];
}

__global__ void call_from_both(const float *x, float *y)
{
	int i = threadIdx.x;
	float value;
	if (i % 2)
		value = load(x, i) + load_inline(x, i);
	else
		value = load(x, i + 64) + load_inline(x, i + 64);
	y[i] = value;
}

__global__ void unequal_loops(const float *x, float *y)
{
	int i = threadIdx.x;
	float sum = 0;
	for (int k = 0; k <= i % 4; k++)
		sum += x[i];
	y[i] = sum;
}

__global__ void loop_condition(const float *x, float *y)
{
	int i = threadIdx.x, k = 0;
	while (k < 4 && x[64 * k + i] >= 0)
		k++;
	y[i] = (float)k;
}

template <int K>
__global__ void shared_stride(const float *x, float *y)
{
	__shared__ float tile[2][32 * K + 1]; // one for each warp
	float *mine = &tile[threadIdx.x / 32][threadIdx.x % 32 * K];
	*mine = x[threadIdx.x];
	__syncthreads();
	y[threadIdx.x] = *mine;
}

__global__ void shared_rest(const float *x, float *y)
{
	__shared__ float one;
	__shared__ float4 wide[64];
	[[maybe_unused]] __shared__ double two[64];
	int i = threadIdx.x;
	if (i == 0)
		one = x[0];
	wide[i] = make_float4(0, 0, 0, 0);
	two[i] = 1;
	__syncthreads();
	y[i] = one + wide[i].x;
}

__global__ void shared_pairs(const float *x, float *y)
{
	__shared__ float4 wide[32];
	int i = threadIdx.x;
	if (i < 32)
		wide[i] = make_float4(x[i], 0, 0, 0);
	__syncthreads();
	float4 value = wide[i / 2];
	y[i] = value.x;
}

__global__ void strided(const float *x, float *y)
{
	y[threadIdx.x] = x[5 * threadIdx.x];
}

__global__ void atomics(const float *x, float *y)
{
	extern __shared__ int counts[];
	if (threadIdx.x == 0)
		counts[0] = 0;
	__syncthreads();
	atomicAdd(&y[0], x[threadIdx.x]);
	atomicAdd(&counts[0], 1);
}

__global__ void exponentials(const float *x, float *y)
{
	float value = x[threadIdx.x];
	y[threadIdx.x] = expf(value) + exp2f(value) + __expf(value) + (float)exp((double)value);
}

__constant__ float table[64];

__global__ void constants(const float *x, float *y)
{
	y[threadIdx.x] = table[0] * x[threadIdx.x];
}

/* ---- the hand-worked counts ---- */

struct count {
	uint64_t bytes, requests, parts; /* parts: sectors, or wavefronts */
};

struct expectation {
	const char *kernel;
	struct count load, store, shared_load, shared_store;
	uint64_t read_footprint, write_footprint;
};

static const struct expectation expected[] = {
	{"redundant", {512, 4, 16}, {256, 2, 8}, {}, {}, 256, 256},
	/* x[i] 4 sectors, x[j] one, 64 times, two warps */
	{"invariant", {32768, 256, 640}, {256, 2, 8}, {}, {}, 256, 256},
	{"accumulate", {32768, 256, 640}, {16384, 128, 512}, {}, {}, 512, 256},
	{"unused", {256, 2, 8}, {256, 2, 8}, {}, {}, 256, 256},
	{"dead_shared_stores", {256, 2, 8}, {256, 2, 8}, {}, {512, 4, 4}, 256, 256},
	{"reload_shared", {256, 2, 8}, {256, 2, 8}, {512, 4, 4}, {256, 2, 2}, 256, 256},
	/* lanes 32 bytes apart: a sector each */
	{"copy_and_zero", {2048, 16, 512}, {4096, 32, 1024}, {}, {}, 2048, 2048},
	{"unrolled", {2048, 16, 64}, {256, 2, 8}, {}, {}, 2048, 256},
	{"copy_float4", {1024, 2, 32}, {1024, 2, 32}, {}, {}, 1024, 1024},
	{"make_vectors", {256, 2, 8}, {3072, 6, 96}, {}, {}, 256, 1024},
	{"use_union", {1024, 2, 32}, {256, 2, 8}, {}, {}, 1024, 256},
	{"field", {256, 2, 32}, {256, 2, 32}, {}, {}, 256, 256},
	{"copy_float2", {512, 2, 16}, {512, 2, 16}, {}, {}, 512, 512},
	/* 3 pieces of 4 bytes; 32 of them 12 bytes apart touch 12 sectors */
	{"copy_three", {768, 6, 72}, {768, 6, 72}, {}, {}, 768, 768},
	{"copy_eight", {2048, 16, 512}, {2048, 16, 512}, {}, {}, 2048, 2048},
	{"copy_pair", {512, 4, 32}, {512, 4, 32}, {}, {}, 512, 512},
	/* at 8 mod 16 a load of 16 bytes is two of 8 */
	{"copy_inside", {1024, 4, 128}, {1024, 2, 32}, {}, {}, 1024, 1024},
	{"copy_aligned", {1024, 2, 32}, {1024, 2, 32}, {}, {}, 1024, 1024},
	{"pass_float4", {1024, 2, 32}, {256, 2, 8}, {}, {}, 1024, 256},
	{"pass_three", {768, 6, 72}, {256, 2, 8}, {}, {}, 768, 256},
	{"pass_eight", {2048, 16, 512}, {256, 2, 8}, {}, {}, 2048, 256},
	{"add_float4", {2048, 4, 64}, {1024, 2, 32}, {}, {}, 1024, 1024},
	{"return_float4", {1024, 2, 32}, {256, 2, 8}, {}, {}, 1024, 256},
	{"return_three", {256, 2, 8}, {768, 6, 72}, {}, {}, 256, 768},
	{"return_eight", {256, 2, 8}, {2048, 16, 512}, {}, {}, 256, 2048},
	/* 16 lanes each, every second float: 4 sectors */
	{"both_arms", {256, 4, 16}, {256, 2, 8}, {}, {}, 256, 256},
	{"choose_pointer", {256, 4, 16}, {256, 2, 8}, {}, {}, 256, 256},
	{"call_from_both", {512, 8, 32}, {256, 2, 8}, {}, {}, 256, 256},
	/* iteration k: lanes with i % 4 >= k, of all 4 sectors */
	{"unequal_loops", {640, 8, 32}, {256, 2, 8}, {}, {}, 256, 256},
	{"loop_condition", {1024, 8, 32}, {256, 2, 8}, {}, {}, 1024, 256},
	{"shared_stride", {256, 2, 8}, {256, 2, 8}, {256, 2, 2}, {256, 2, 2}, 256, 256},
	{"shared_stride", {256, 2, 8}, {256, 2, 8}, {256, 2, 4}, {256, 2, 4}, 256, 256},
	{"shared_stride", {256, 2, 8}, {256, 2, 8}, {256, 2, 16}, {256, 2, 16}, 256, 256},
	{"shared_stride", {256, 2, 8}, {256, 2, 8}, {256, 2, 64}, {256, 2, 64}, 256, 256},
	{"shared_stride", {256, 2, 8}, {256, 2, 8}, {256, 2, 2}, {256, 2, 2}, 256, 256},
	/* stores: one float, float4 in 4 phases a warp, double in 2; loads: a broadcast, and .x of a float4: stride 4
         */
	{"shared_rest", {4, 1, 1}, {256, 2, 8}, {512, 4, 10}, {1540, 5, 13}, 4, 256},
	/* pairs of lanes share an address: two passes of 16 lanes a warp, not four of 8 */
	{"shared_pairs", {128, 1, 4}, {256, 2, 8}, {1024, 2, 4}, {512, 1, 4}, 128, 256},
	{"strided", {256, 2, 40}, {256, 2, 8}, {}, {}, 256, 256},
	{"atomics", {256, 2, 8}, {}, {}, {4, 1, 1}, 260, 4},
	{"exponentials", {256, 2, 8}, {256, 2, 8}, {}, {}, 256, 256},
	{"constants", {256, 2, 8}, {256, 2, 8}, {}, {}, 256, 256},
};

static int failures;

static void check(const char *kernel, const char *what, uint64_t counted, uint64_t worked_out)
{
	if (counted == worked_out)
		return;
	failures++;
	fprintf(stderr, "self-test: %s: %s: counted %llu, worked out by hand %llu\n", kernel, what,
	        (unsigned long long)counted, (unsigned long long)worked_out);
}

static void check_launch(const struct sim_launch *launch, const struct expectation *e)
{
	check(e->kernel, "the kernel's name", (uint64_t)(strcmp(launch->kernel, e->kernel) != 0), 0);
	check(e->kernel, "bytes loaded", launch->global_load.bytes, e->load.bytes);
	check(e->kernel, "load requests", launch->global_load.requests, e->load.requests);
	check(e->kernel, "load sectors", launch->global_load.sectors, e->load.parts);
	check(e->kernel, "bytes stored", launch->global_store.bytes, e->store.bytes);
	check(e->kernel, "store requests", launch->global_store.requests, e->store.requests);
	check(e->kernel, "store sectors", launch->global_store.sectors, e->store.parts);
	check(e->kernel, "shared bytes loaded", launch->shared_load.bytes, e->shared_load.bytes);
	check(e->kernel, "shared load requests", launch->shared_load.requests, e->shared_load.requests);
	check(e->kernel, "shared load wavefronts", launch->shared_load.wavefronts, e->shared_load.parts);
	check(e->kernel, "shared bytes stored", launch->shared_store.bytes, e->shared_store.bytes);
	check(e->kernel, "shared store requests", launch->shared_store.requests, e->shared_store.requests);
	check(e->kernel, "shared store wavefronts", launch->shared_store.wavefronts, e->shared_store.parts);
	check(e->kernel, "bytes of the read footprint", launch->footprint.read_bytes, e->read_footprint);
	check(e->kernel, "bytes of the written footprint", launch->footprint.write_bytes, e->write_footprint);
}

int main()
{
	enum { BYTES = 64 * 64 };
	void *x, *y;
	float zeros[64] = {};

	sim_forget_launches();
	if (cudaMalloc(&x, BYTES) != cudaSuccess || cudaMalloc(&y, BYTES) != cudaSuccess)
		return 1;
	cudaMemset(x, 0, BYTES);
	cudaMemset(y, 0, BYTES);
	cudaMemcpyToSymbol(table, zeros, sizeof zeros);
	float *fx = (float *)x, *fy = (float *)y;
	redundant<<<1, 64>>>(fx, fy);
	invariant<<<1, 64>>>(fx, fy);
	accumulate<<<1, 64>>>(fx, fy);
	unused<<<1, 64>>>(fx, fy);
	dead_shared_stores<<<1, 64>>>(fx, fy);
	reload_shared<<<1, 64>>>(fx, fy);
	copy_and_zero<<<1, 64>>>(fx, fy);
	unrolled<<<1, 64>>>(fx, fy);
	copy_float4<<<1, 64>>>((float4 *)x, (float4 *)y);
	make_vectors<<<1, 64>>>(fx, (float4 *)y);
	use_union<<<1, 64>>>((float4 *)x, fy);
	field<<<1, 64>>>((float4 *)x, (float4 *)y);
	copy_float2<<<1, 64>>>((float2 *)x, (float2 *)y);
	copy_three<<<1, 64>>>((struct three *)x, (struct three *)y);
	copy_eight<<<1, 64>>>((struct eight *)x, (struct eight *)y);
	copy_pair<<<1, 64>>>((struct pair *)x, (struct pair *)y);
	copy_inside<<<1, 64>>>((struct inside *)x, (struct doubles *)y);
	copy_aligned<<<1, 64>>>((struct aligned *)x, (struct aligned *)y);
	pass_float4<<<1, 64>>>((float4 *)x, fy);
	pass_three<<<1, 64>>>((struct three *)x, fy);
	pass_eight<<<1, 64>>>((struct eight *)x, fy);
	add_float4<<<1, 64>>>((float4 *)x, (float4 *)y);
	return_float4<<<1, 64>>>((float4 *)x, fy);
	return_three<<<1, 64>>>(fx, (struct three *)y);
	return_eight<<<1, 64>>>(fx, (struct eight *)y);
	both_arms<<<1, 64>>>(fx, fy);
	choose_pointer<<<1, 64>>>(fx, fy);
	call_from_both<<<1, 64>>>(fx, fy);
	unequal_loops<<<1, 64>>>(fx, fy);
	loop_condition<<<1, 64>>>(fx, fy);
	shared_stride<1><<<1, 64>>>(fx, fy);
	shared_stride<2><<<1, 64>>>(fx, fy);
	shared_stride<8><<<1, 64>>>(fx, fy);
	shared_stride<32><<<1, 64>>>(fx, fy);
	shared_stride<33><<<1, 64>>>(fx, fy);
	shared_rest<<<1, 64>>>(fx, fy);
	shared_pairs<<<1, 64>>>(fx, fy);
	strided<<<1, 64>>>(fx, fy);
	atomics<<<1, 64, sizeof(int)>>>(fx, fy);
	exponentials<<<1, 64>>>(fx, fy);
	constants<<<1, 64>>>(fx, fy);

	const size_t kernels = sizeof expected / sizeof expected[0];
	check("the program", "launches", sim_launch_count(), kernels);
	check("the program", "CUDA error", (uint64_t)cudaGetLastError(), 0);
	for (size_t i = 0; i < sim_launch_count() && i < kernels; i++) {
		const struct sim_launch *launch = sim_launch_at(i);

		check_launch(launch, &expected[i]);
		if (strcmp(launch->kernel, "atomics") == 0) {
			check("atomics", "atomic bytes", launch->global_atomic.bytes, 256);
			/* lanes that add to one address take turns */
			check("atomics", "atomic sectors", launch->global_atomic.sectors, 64);
			check("atomics", "shared atomic requests", launch->shared_atomic.requests, 2);
		}
		check(launch->kernel, "exponentials", launch->exp,
		      strcmp(launch->kernel, "exponentials") == 0 ? 256 : 0);
		check(launch->kernel, "constant bytes", launch->constant_load.bytes,
		      strcmp(launch->kernel, "constants") == 0 ? 256 : 0);
	}
	if (failures > 0) {
		fprintf(stderr,
		        "self-test: %d counts are wrong: the simulated device does not understand this compiler\n",
		        failures);
		return 1;
	}
	return 0;
}
