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

// A sum of a block, which counts as the one with intrinsics in reductions.cu.
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

__host__ __device__ int value(int thread)
{
	return thread * 7 % 23;
}

// Every operation of a tile, and what it should be.
__global__ void tiles(int *wrong)
{
	cg::thread_block block = cg::this_thread_block();
	auto warp = cg::tiled_partition<32>(block);
	auto four = cg::tiled_partition<4>(warp);
	auto eight = cg::tiled_partition<8>(block);
	const int t = threadIdx.x, v = value(t), first4 = t / 4 * 4, first8 = t / 8 * 8, first32 = t / 32 * 32;
	int all, largest = 0, least = 99, votes = 0, same = 0, sum = 0, conjunction = ~0, parity = 0;
	for (int i = 0; i < 4; i++) {
		largest = max(largest, value(first4 + i));
		votes |= (value(first4 + i) & 1) << i;
	}
	for (int i = 0; i < 8; i++) {
		least = min(least, value(first8 + i));
		same |= ((value(first8 + i) & 1) == (v & 1)) << i;
		sum += first8 + i <= t ? value(first8 + i) : 0;
	}
	for (int i = 0; i < 32; i++) {
		conjunction &= value(first32 + i) | 1;
		parity ^= value(first32 + i);
	}
	const unsigned matching = eight.match_all(v >= 0, all);
	const Pair pair = four.shfl_xor(Pair{(float)v, (float)t}, 1);
	const Wide wide = warp.shfl(Wide{1.5 * t, 2, (short)t}, 31);
	const float4 vector = warp.shfl(make_float4(0, 0, 0, (float)t), 31);
	four.sync();
	const int results[][2] = {
		{cg::reduce(four, v, cg::greater<int>()), largest},
		{cg::reduce(eight, v, cg::less<int>()), least},
		{four.shfl(v, 2), value(first4 + 2)},
		{four.shfl_up(v, 1), value(t == first4 ? t : t - 1)},
		{four.shfl_down(v, 1), value(t == first4 + 3 ? t : t + 1)},
		{four.shfl_xor(v, 3), value(t ^ 3)},
		{four.any(v & 1), votes != 0},
		{four.all(v & 1), votes == 15},
		{(int)four.ballot(v & 1), votes},
		{(int)eight.match_any(v & 1), same},
		{(int)matching + 256 * all, 255 + 256},
		{(int)four.meta_group_rank(), t % 32 / 4},
		{(int)four.meta_group_size(), 8},
		{(int)eight.meta_group_rank(), t / 8},
		{(int)eight.meta_group_size(), 8},
		{(int)eight.thread_rank(), t % 8},
		{cg::inclusive_scan(eight, v), sum},
		{cg::exclusive_scan(eight, v, cg::plus<int>()), sum - v},
		{(int)pair.largest * 1000 + (int)pair.sum, value(t ^ 1) * 1000 + (t ^ 1)},
		{(int)(wide.a * 2) + wide.c + (int)vector.w, (first32 + 31) * 5},
		{eight.shfl((unsigned char)(t + 200), 7), (first8 + 207) & 255},
		{(int)cg::reduce(warp, 1u << t % 32, cg::bit_or<unsigned>()), -1},
		{cg::reduce(warp, v | 1, cg::bit_and<int>()), conjunction},
		{cg::reduce(warp, v, cg::bit_xor<int>()), parity},
		{(int)(cg::thread_rank(eight) + cg::group_size(eight) * 100), t % 8 + 800},
		{(int)(block.group_index().x + block.thread_index().x + block.dim_threads().x * 100), t + 6400},
		{(int)block.num_threads(), 64},
		{(int)cg::this_grid().thread_rank() + 100 * (int)cg::this_grid().size(), t + 6400},
	};
	wrong[t] = first_wrong(results);
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

// Lanes that are active, in two places, and parts of them.
__global__ void active(int *wrong)
{
	const int t = threadIdx.x, v = value(t), first = t / 32 * 32;
	int member[32], size = 0, rank = 0, sum = 0, votes = 0, odds = 0, odd_rank = 0, alike = 0;
	for (int other = first; other < first + 32; other++) {
		if ((other % 3 == 0) == (t % 3 == 0)) {
			rank += other < t;
			sum += value(other);
			votes |= (value(other) & 1) << size;
			member[size++] = other;
		}
		odds += (value(other) & 1) == (v & 1);
		odd_rank += other < t && (value(other) & 1) == (v & 1);
		alike += value(other) % 3 == v % 3;
	}
	if (t % 3 == 0) {
		cg::coalesced_group group = cg::coalesced_threads();
		auto part = cg::tiled_partition(group, 4);
		const int results[][2] = {
			{(int)(group.size() * 100 + group.thread_rank()), size * 100 + rank},
			{cg::reduce(group, v, cg::plus<int>()), sum},
			{group.shfl_down(v, 1), value(member[rank + 1 < size ? rank + 1 : rank])},
			{group.shfl_up(v, 2), value(member[rank >= 2 ? rank - 2 : rank])},
			{group.shfl(v, 1), value(member[1])},
			{(int)group.ballot(v & 1), votes},
			{(int)part.size(), min(size - rank / 4 * 4, 4)},
			{(int)part.thread_rank(), rank % 4},
			{(int)part.meta_group_rank(), rank / 4},
			{(int)part.meta_group_size(), (size + 3) / 4},
		};
		group.sync();
		wrong[t] = first_wrong(results);
	} else {
		cg::coalesced_group group = cg::coalesced_threads();
		const int results[][2] = {
			{(int)(group.size() * 100 + group.thread_rank()), size * 100 + rank},
			{cg::inclusive_scan(group, 1), rank + 1},
		};
		wrong[t] = first_wrong(results);
	}
	auto warp = cg::tiled_partition<32>(cg::this_thread_block());
	auto odd = cg::binary_partition(warp, v & 1), all = cg::binary_partition(warp, true);
	auto label = cg::labeled_partition(warp, v % 3);
	const int results[][2] = {
		{(int)(odd.size() * 100 + odd.thread_rank()), odds * 100 + odd_rank},
		{(int)odd.meta_group_rank(), v & 1},
		{(int)odd.meta_group_size(), 2},
		{(int)(all.meta_group_rank() * 10 + all.meta_group_size()), 1}, // the others are none
		{(int)label.size(), alike},
		{(int)label.meta_group_size(), 3},
		{(int)label.meta_group_rank(), first == 0 ? v % 3 : 2 - v % 3}, // by their first lanes
	};
	wrong[64 + t] = first_wrong(results);
}

// Tiles of a block, of the lanes that are active and of a tile, where the last one has fewer threads.
__global__ void tails(int *wrong)
{
	const int t = threadIdx.x;
	const int rank = t % 32 / 4 * 3 + t % 4, few = t >= 32 ? 6 : rank < 16 ? 16 : 8, of16 = t < 32 ? 16 : 8;
	cg::thread_block block = cg::this_thread_block();
	const cg::thread_group &any = block;
	auto part = cg::tiled_partition(any, 16);
	cg::coalesced_group active = cg::coalesced_threads();
	const cg::thread_group &some = active;
	auto half = cg::tiled_partition(some, 16), quarter = cg::tiled_partition(part, 4);
	int of_few = few * 100 + rank % 16;
	if (t % 4 != 3) { // 24 lanes of the first warp, 6 of the second
		cg::coalesced_group group = cg::coalesced_threads();
		const cg::thread_group &base = group;
		auto tile_of_few = cg::tiled_partition(base, 16);
		of_few = (int)(tile_of_few.size() * 100 + tile_of_few.thread_rank());
		tile_of_few.sync();
	}
	part.sync();
	// 40 threads are 2.5 tiles of 16 and 1.25 of 32: those that have fewer threads count
	auto sixteen = cg::tiled_partition<16>(block);
	auto warp = cg::tiled_partition<32>(block);
	const int results[][2] = {
		{(int)(part.size() * 100 + part.thread_rank()), of16 * 100 + t % 16},
		{(int)(half.size() * 100 + half.thread_rank()), of16 * 100 + t % 16},
		{(int)(quarter.size() * 100 + quarter.thread_rank()), 400 + t % 4},
		{of_few, few * 100 + rank % 16},
		{(int)(sixteen.meta_group_rank() * 10 + sixteen.meta_group_size()), t / 16 * 10 + 3},
		{(int)(warp.meta_group_rank() * 10 + warp.meta_group_size()), t / 32 * 10 + 2},
	};
	wrong[t] = first_wrong(results);
}

int main()
{
	float x[128], sum;
	int y[4], sums[4] = {0, 0, 0, 0}, *dy = device_zeros<int>(128);
	for (int i = 0; i < 128; i++)
		x[i] = (float)(i * 7 % 32);
	float *dx = device_copy(x, 128), *dsum = device_zeros<float>(1);

	//= sum_groups load=512/4/16 store=4/1/1 sload=16/1/1 sstore=16/4/4 barriers=1
	sum_groups<<<1, 128>>>(dx, dsum);
	fetch(&sum, dsum, 1);
	EXPECT(sum == 4 * 496);

	//= tiles store=256/2/8
	tiles<<<1, 64>>>(dy);
	EXPECT_EACH(dy, 64, i, 0);

	//= each ANY
	each<<<1, 64>>>([y = dy] __device__(int) {
		__shared__ int scratch[64];
		cg::thread_block block = cg::this_thread_block();
		int whole = sum_of(block, scratch, value(threadIdx.x));
		block.sync();
		auto part = cg::tiled_partition(block, 16);
		int sixteen = sum_of(part, scratch + threadIdx.x / 16 * 16, value(threadIdx.x));
		if (part.thread_rank() == 0)
			y[threadIdx.x / 16] = threadIdx.x == 0 ? whole : sixteen;
	});
	fetch(y, dy, 4);
	for (int i = 0; i < 64; i++)
		sums[i / 16] += value(i);
	EXPECT(y[0] == sums[0] + sums[1] + sums[2] + sums[3] && y[1] == sums[1] && y[3] == sums[3]);

	//= active ANY
	active<<<1, 64>>>(dy);
	EXPECT_EACH(dy, 128, i, 0);

	//= tails store=160/2/5
	tails<<<1, 40>>>(dy);
	EXPECT_EACH(dy, 40, i, 0);
	return 0;
}
