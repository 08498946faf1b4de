// Cooperative groups: what they compute, and that they count as the barriers, shuffles and votes that they stand for.
#include "check.cuh"

#include <cooperative_groups.h>
#include <cooperative_groups/reduce.h>
#include <cooperative_groups/scan.h>

namespace cg = cooperative_groups;

struct Pair {
	float largest, sum;
};
struct Wide {
	double a, b;
	short c;
};

__device__ float merge_tile(cg::thread_block_tile<32> warp, float value)
{
	return cg::reduce(warp, value, cg::plus<float>());
}

// A sum of a block, once with groups and once with intrinsics.
__global__ void sum_groups(const float *x, float *y)
{
	__shared__ float parts[4];
	cg::thread_block block = cg::this_thread_block();
	cg::thread_block_tile<32> warp = cg::tiled_partition<32>(block);
	float sum = merge_tile(warp, x[block.thread_rank()]);
	if (warp.thread_rank() == 0)
		parts[warp.meta_group_rank()] = sum;
	block.sync();
	if (warp.meta_group_rank() == 0) {
		sum = warp.thread_rank() < warp.meta_group_size() ? parts[warp.thread_rank()] : 0;
		sum = cg::reduce(warp, sum, cg::plus<float>());
		if (warp.thread_rank() == 0)
			*y = sum;
	}
}

__device__ float merge_warp(float value)
{
	for (int distance = 16; distance > 0; distance /= 2)
		value += __shfl_xor_sync(0xffffffff, value, distance);
	return value;
}

__global__ void sum_intrinsics(const float *x, float *y)
{
	__shared__ float parts[4];
	float sum = merge_warp(x[threadIdx.x]);
	if (threadIdx.x % 32 == 0)
		parts[threadIdx.x / 32] = sum;
	__syncthreads();
	if (threadIdx.x < 32) {
		sum = threadIdx.x < blockDim.x / 32 ? parts[threadIdx.x] : 0;
		sum = merge_warp(sum);
		if (threadIdx.x == 0)
			*y = sum;
	}
}

// Every operation of a tile; y[k * 64 + thread] is the k-th of them.
__global__ void tiles(const int *x, int *y)
{
	cg::thread_block block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	auto four = cg::tiled_partition<4>(warp);
	auto eight = cg::tiled_partition<8>(block);
	const int t = threadIdx.x, v = x[t];
	int all, *out = y + t;
	out[0 * 64] = cg::reduce(four, v, cg::greater<int>());
	out[1 * 64] = cg::reduce(eight, v, cg::less<int>());
	out[2 * 64] = four.shfl(v, 2);
	out[3 * 64] = four.shfl_up(v, 1);
	out[4 * 64] = four.shfl_down(v, 1);
	out[5 * 64] = four.shfl_xor(v, 3);
	out[6 * 64] = four.any(v & 1) + 2 * four.all(v & 1);
	out[7 * 64] = (int)four.ballot(v & 1);
	out[8 * 64] = (int)eight.match_any(v & 1);
	out[9 * 64] = (int)eight.match_all(v >= 0, all) + 256 * all;
	out[10 * 64] = (int)(four.meta_group_rank() * 1000 + four.meta_group_size());
	out[11 * 64] = (int)(eight.meta_group_rank() * 1000 + eight.meta_group_size() + 100 * eight.thread_rank());
	out[12 * 64] = cg::inclusive_scan(eight, v);
	out[13 * 64] = cg::exclusive_scan(eight, v, cg::plus<int>());
	Pair pair = {(float)v, (float)t};
	pair = four.shfl_xor(pair, 1);
	out[14 * 64] = (int)pair.largest * 1000 + (int)pair.sum;
	Wide wide = {1.5 * t, 2, (short)t};
	wide = warp.shfl(wide, 31);
	const float4 vector = warp.shfl(make_float4(0, 0, 0, (float)t), 31);
	out[15 * 64] = (int)(wide.a * 2) + wide.c + (int)vector.w;
	out[16 * 64] = eight.shfl((unsigned char)(t + 200), 7);
	out[17 * 64] = (int)cg::reduce(warp, 1u << t % 32, cg::bit_or<unsigned>()) +
	               cg::reduce(warp, v | 1, cg::bit_and<int>()) + cg::reduce(warp, v, cg::bit_xor<int>());
	four.sync();
	out[18 * 64] = cg::thread_rank(eight) + cg::group_size(eight) * 100;
	out[19 * 64] = block.group_index().x * 10000 + block.thread_index().x + block.dim_threads().x * 100 +
	               block.num_threads();
	out[20 * 64] = (int)cg::this_grid().thread_rank() + 100 * (int)cg::this_grid().size();
}

// A group whose size is known when it runs, as an argument; shared memory between its lanes.
__device__ int sum_of(const cg::thread_group &group, int *shared, int v)
{
	const int rank = group.thread_rank();
	for (int distance = group.size() / 2; distance > 0; distance /= 2) {
		shared[rank] = v;
		group.sync();
		if (rank < distance)
			v += shared[rank + distance];
		group.sync();
	}
	return v;
}

__global__ void dynamic(const int *x, int *y)
{
	__shared__ int scratch[64];
	cg::thread_block block = cg::this_thread_block();
	int whole = sum_of(block, scratch, x[threadIdx.x]);
	block.sync();
	auto part = cg::tiled_partition(block, 16);
	int sixteen = sum_of(part, scratch + threadIdx.x / 16 * 16, x[threadIdx.x]);
	if (part.thread_rank() == 0)
		y[threadIdx.x / 16] = threadIdx.x == 0 ? whole : sixteen;
}

// Lanes that are active, in two places, and parts of them.
__global__ void active(const int *x, int *y)
{
	const int t = threadIdx.x, v = x[t];
	int *out = y + t;
	if (t % 3 == 0) {
		cg::coalesced_group group = cg::coalesced_threads();
		out[0 * 64] = (int)(group.size() * 100 + group.thread_rank());
		out[1 * 64] = cg::reduce(group, v, cg::plus<int>());
		out[2 * 64] = group.shfl_down(v, 1);
		out[3 * 64] = group.shfl_up(v, 2);
		out[4 * 64] = group.shfl(v, 1);
		out[5 * 64] = (int)group.ballot(v & 1);
		auto part = cg::tiled_partition(group, 4);
		out[6 * 64] =
			(int)(part.size() * 1000 + part.thread_rank() * 100 + part.meta_group_rank() * 10 +
		              part.meta_group_size());
		group.sync();
	} else {
		cg::coalesced_group group = cg::coalesced_threads();
		out[0 * 64] = (int)(group.size() * 100 + group.thread_rank());
		out[1 * 64] = cg::inclusive_scan(group, 1);
	}
	auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	auto odd = cg::binary_partition(warp, v & 1);
	out[7 * 64] = (int)(odd.size() * 100 + odd.thread_rank());
	auto label = cg::labeled_partition(warp, v % 3);
	out[8 * 64] = (int)(label.size() * 100 + label.meta_group_rank() * 10 + label.meta_group_size());
}

// Tiles of a block, of the lanes that are active and of a tile, where the last one has fewer threads.
__global__ void tails(int *y)
{
	cg::thread_block block = cg::this_thread_block();
	const cg::thread_group &any = block;
	auto part = cg::tiled_partition(any, 16);
	int *out = y + threadIdx.x;
	out[0 * 40] = (int)(part.size() * 100 + part.thread_rank());
	cg::coalesced_group active = cg::coalesced_threads();
	const cg::thread_group &some = active;
	auto half = cg::tiled_partition(some, 16), quarter = cg::tiled_partition(part, 4);
	out[1 * 40] = (int)(half.size() * 100 + half.thread_rank());
	out[2 * 40] = (int)(quarter.size() * 100 + quarter.thread_rank());
	if (threadIdx.x % 4 != 3) { // 24 lanes of the first warp, 6 of the second
		cg::coalesced_group few = cg::coalesced_threads();
		const cg::thread_group &base = few;
		auto tile_of_few = cg::tiled_partition(base, 16);
		out[3 * 40] = (int)(tile_of_few.size() * 100 + tile_of_few.thread_rank());
		tile_of_few.sync();
	}
	part.sync();
	// 40 threads are 2.5 tiles of 16 and 1.25 of 32: those that have fewer threads count
	auto sixteen = cg::tiled_partition<16>(block);
	auto warp = cg::tiled_partition<32>(block);
	out[4 * 40] = (int)(sixteen.meta_group_rank() * 10 + sixteen.meta_group_size());
	out[5 * 40] = (int)(warp.meta_group_rank() * 10 + warp.meta_group_size());
}

int main()
{
	float fx[128], *fdx, *fy;
	int x[64], y[21 * 64], odd[2] = {0, 0};
	for (int i = 0; i < 128; i++)
		fx[i] = (float)(i * 7 % 32);
	fdx = device_copy(fx, 128);
	fy = device_zeros<float>(2);
	for (int i = 0; i < 64; i++) {
		x[i] = i * 7 % 23;
		odd[i / 32] += x[i] & 1;
	}
	int *dx = device_copy(x, 64), *dy = device_zeros<int>(21 * 64);

	//= sum_groups load=512/4/16 store=4/1/1 sload=16/1/1 sstore=16/4/4 barriers=1
	sum_groups<<<1, 128>>>(fdx, fy);
	//= sum_intrinsics load=512/4/16 store=4/1/1 sload=16/1/1 sstore=16/4/4 barriers=1
	sum_intrinsics<<<1, 128>>>(fdx, fy + 1);
	fetch(fx, fy, 2);
	EXPECT(fx[0] == 4 * 496 && fx[1] == fx[0]);

	//= tiles load=256/2/8 store=21*256/42/168
	tiles<<<1, 64>>>(dx, dy);
	fetch(y, dy, 21 * 64);
	for (int t = 0; t < 64; t++) {
		const int *of = y + t;
		const int four = t / 4 * 4, eight = t / 8 * 8, warp = t / 32 * 32;
		int largest = 0, least = 99, ballot = 0, same = 0, sum = 0, conjunction = ~0, parity = 0;
		for (int i = 0; i < 4; i++) {
			largest = x[four + i] > largest ? x[four + i] : largest;
			ballot |= (x[four + i] & 1) << i;
		}
		for (int i = 0; i < 8; i++) {
			least = x[eight + i] < least ? x[eight + i] : least;
			same |= ((x[eight + i] & 1) == (x[t] & 1)) << i;
			sum += eight + i <= t ? x[eight + i] : 0;
		}
		for (int i = 0; i < 32; i++) {
			conjunction &= x[warp + i] | 1;
			parity ^= x[warp + i];
		}
		EXPECT(of[0 * 64] == largest && of[1 * 64] == least && of[2 * 64] == x[four + 2]);
		EXPECT(of[3 * 64] == (t == four ? x[t] : x[t - 1]) &&
		       of[4 * 64] == (t == four + 3 ? x[t] : x[t + 1]));
		EXPECT(of[5 * 64] == x[t ^ 3] && of[6 * 64] == (ballot != 0) + 2 * (ballot == 15));
		EXPECT(of[7 * 64] == ballot && of[8 * 64] == same && of[9 * 64] == 255 + 256);
		EXPECT(of[10 * 64] == t % 32 / 4 * 1000 + 8 && of[11 * 64] == t / 8 * 1000 + 8 + t % 8 * 100);
		EXPECT(of[12 * 64] == sum && of[13 * 64] == sum - x[t]);
		EXPECT(of[14 * 64] == x[t ^ 1] * 1000 + (t ^ 1) && of[15 * 64] == (warp + 31) * 5);
		EXPECT(of[16 * 64] == ((eight + 207) & 255) && of[17 * 64] == -1 + conjunction + parity);
		EXPECT(of[18 * 64] == t % 8 + 800 && of[19 * 64] == t + 6464 && of[20 * 64] == t + 6400);
	}

	//= dynamic ANY
	dynamic<<<1, 64>>>(dx, dy);
	fetch(y, dy, 4);
	int sums[4] = {0, 0, 0, 0};
	for (int i = 0; i < 64; i++)
		sums[i / 16] += x[i];
	EXPECT(y[0] == sums[0] + sums[1] + sums[2] + sums[3] && y[1] == sums[1] && y[3] == sums[3]);

	//= tails store=5*160+120/12/5*5+5
	tails<<<1, 40>>>(dy);
	fetch(y, dy, 6 * 40);
	for (int t = 0; t < 40; t++) {
		const int rank = t % 32 / 4 * 3 + t % 4, few = t >= 32 ? 6 : rank < 16 ? 16 : 8;
		EXPECT(y[t] == (t < 32 ? 1600 : 800) + t % 16 && y[40 + t] == y[t] && y[80 + t] == 400 + t % 4);
		EXPECT(t % 4 == 3 || y[120 + t] == few * 100 + rank % 16);
		EXPECT(y[160 + t] == t / 16 * 10 + 3 && y[200 + t] == t / 32 * 10 + 2);
	}

	//= active ANY
	active<<<1, 64>>>(dx, dy);
	fetch(y, dy, 9 * 64);
	for (int t = 0; t < 64; t++) {
		const int first = t / 32 * 32, *of = y + t;
		int member[32], size = 0, rank = 0, odd_rank = 0, alike = 0, labels = 0;
		for (int i = 0; i < 32; i++) {
			const int other = first + i;
			if ((other % 3 == 0) == (t % 3 == 0)) {
				rank += other < t;
				member[size++] = other;
			}
			odd_rank += other < t && (x[other] & 1) == (x[t] & 1);
			alike += x[other] % 3 == x[t] % 3;
			labels |= 1 << x[other] % 3;
		}
		EXPECT(of[0] == size * 100 + rank);
		if (t % 3 == 0) {
			int sum = 0, ballot = 0;
			for (int i = 0; i < size; i++) {
				sum += x[member[i]];
				ballot |= (x[member[i]] & 1) << i;
			}
			const int in_part = size - rank / 4 * 4 < 4 ? size - rank / 4 * 4 : 4;
			EXPECT(of[64] == sum && of[128] == x[member[rank + 1 < size ? rank + 1 : rank]]);
			EXPECT(of[192] == x[member[rank >= 2 ? rank - 2 : rank]] && of[256] == x[member[1]]);
			EXPECT(of[320] == ballot);
			EXPECT(of[384] == in_part * 1000 + rank % 4 * 100 + rank / 4 * 10 + (size + 3) / 4);
		} else {
			EXPECT(of[64] == rank + 1);
		}
		EXPECT(of[448] == (x[t] & 1 ? odd[t / 32] : 32 - odd[t / 32]) * 100 + odd_rank);
		EXPECT(of[512] / 100 == alike && of[512] % 10 == 3 && labels == 7 && of[512] / 10 % 10 < 3);
	}
	return 0;
}
