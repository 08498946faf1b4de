// Loads of 8 and 16 bytes from shared memory when lanes share addresses. Two passes become one where every active
// lane n of the warp finds lane n^1 at its own address or inactive, or every one lane n^2. Worked out by hand: bytes/
// requests/wavefronts/ideal wavefronts/conflicts. 16 bytes: 8 groups of banks, 4 passes of 8 lanes or 2 of 16; 8
// bytes: 16 groups, 2 passes of 16 lanes or 1 of 32. Each rule once: oracle.cu draws more patterns by
// chance.
#include "check.cuh"

const unsigned ALL = 0xffffffff, EVEN = 0x55555555;

// Which element each lane takes, and which lanes take part.
struct elements {
	unsigned char of[32];
	unsigned active;
};

template <typename T>
__global__ void read(elements p)
{
	__shared__ T tile[256];
	for (int i = threadIdx.x; i < 256; i += 32)
		tile[i] = T();
	__syncthreads();
	if (p.active >> threadIdx.x & 1) {
		T value = tile[p.of[threadIdx.x]];
		(void)value;
	}
}

__global__ void write(elements p)
{
	__shared__ float4 tile[256];
	if (p.active >> threadIdx.x & 1)
		tile[p.of[threadIdx.x]] = float4();
}

static elements take(int (*element_of)(int lane), unsigned active = ALL)
{
	elements e = {{}, active};
	for (int lane = 0; lane < 32; lane++)
		e.of[lane] = (unsigned char)element_of(lane);
	return e;
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
	// 16 bytes. Everybody: every partner is at the same address, but never is it one pass of 32.
	//= read<float4> sload=512/1/2/4/0 sstore=? barriers=1
	read<float4><<<1, 32>>>(take(same));
	//= read<float4> sload=512/1/4/4/0 sstore=? barriers=1
	read<float4><<<1, 32>>>(take(own));
	//= read<float4> sload=512/1/2/4/0 sstore=? barriers=1
	read<float4><<<1, 32>>>(take(of_pair));
	//= read<float4> sload=512/1/2/4/0 sstore=? barriers=1
	read<float4><<<1, 32>>>(take(of_second_next));
	// one rule for the whole warp: n^1 in one half and n^2 in the other is neither
	//= read<float4> sload=512/1/4/4/0 sstore=? barriers=1
	read<float4><<<1, 32>>>(take([](int lane) { return lane < 16 ? of_pair(lane) : of_second_next(lane); }));
	// one lane that strays parts all of them, unless its partner is inactive
	//= read<float4> sload=512/1/4/4/0 sstore=? barriers=1
	read<float4><<<1, 32>>>(take([](int lane) { return lane == 31 ? 16 : of_pair(lane); }));
	//= read<float4> sload=31*16/1/2/4/0 sstore=? barriers=1
	read<float4><<<1, 32>>>(take([](int lane) { return lane == 31 ? 23 : of_pair(lane); }, 0xbfffffff));
	// 8 of 16 lanes, twice in each group of banks
	//= read<float4> sload=256/1/2+2/4/2 sstore=? barriers=1
	read<float4><<<1, 32>>>(take(own, EVEN));
	// a pass in which nobody is active is none
	//= read<float4> sload=64/1/1/1/0 sstore=? barriers=1
	read<float4><<<1, 32>>>(take(own, 0x0000000f));
	// merged passes with conflicts: the reads of A and of B in a matrix product with 8 x 8 elements a thread, whose
	// 2-way conflicts Nsight Compute counts on an RTX 4090 (kapilsh.github.io, 2025-10-01): 2 and 4
	//= read<float4> sload=512/1/2+2/4/2 sstore=? barriers=1
	read<float4><<<1, 32>>>(take([](int lane) { return lane / 8 * 16; }));
	//= read<float4> sload=512/1/4*2/4/4 sstore=? barriers=1
	read<float4><<<1, 32>>>(take([](int lane) { return lane % 8 * 2; }));

	// 8 bytes
	//= read<float2> sload=256/1/2/2/0 sstore=? barriers=1
	read<float2><<<1, 32>>>(take(own));
	//= read<float2> sload=256/1/1/2/0 sstore=? barriers=1
	read<float2><<<1, 32>>>(take(of_pair));
	// 16 groups of banks, two elements in every second one
	//= read<double> sload=128/1/2/2/1 sstore=? barriers=1
	read<double><<<1, 32>>>(take(own, EVEN));
	// 4 bytes: one pass of 32 in any case
	//= read<float> sload=128/1/4/1/3 sstore=? barriers=1
	read<float><<<1, 32>>>(take([](int lane) { return lane / 8 * 64; }));

	// Stores never merge, with inactive partners either.
	//= write sstore=256/1/4/4/0
	write<<<1, 32>>>(take(of_pair, EVEN));
	CHECK(cudaDeviceSynchronize());
	return 0;
}
