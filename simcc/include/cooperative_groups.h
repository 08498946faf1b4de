/*
 * Cooperative groups: the block, tiles of a warp, the lanes that are active. Each function here is the barrier,
 * shuffle or vote of sim_cuda/ that does the same, in the caller's own line, so that it is counted and checked as
 * that one: `tile.shfl_down(x, 1)` is `__shfl_down_sync(the tile's lanes, x, 1, the tile's size)`.
 *
 * Not here, and an error where they are used: the barrier of a whole grid, groups of a cluster and of several grids,
 * tiles of more than a warp, memcpy_async, the split barriers of a block.
 */
#ifndef _COOPERATIVE_GROUPS_H_
#define _COOPERATIVE_GROUPS_H_

#include <cuda_runtime.h>

SIM_FOR_BOTH

#if defined(__cplusplus) && defined(__CUDACC__)
#include <type_traits>

/* Inlined even where nothing else is, without lines of ours: the call that counts belongs to the user's line. */
#define SIM_GROUP          __attribute__((always_inline, nodebug)) inline
#define SIM_NO_GROUP(what) __attribute__((unavailable(what " is not supported by the simulated device")))

namespace cooperative_groups
{

namespace sim_details
{

/* Ends the launch where a tile has not 1, 2, 4, 8, 16 or 32 threads. */
extern void check_tile(unsigned size) __asm__("sim_check_tile");

SIM_GROUP unsigned block_threads()
{
	return blockDim.x * blockDim.y * blockDim.z;
}

SIM_GROUP unsigned block_rank()
{
	return (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
}

SIM_GROUP unsigned lane()
{
	return block_rank() % 32;
}

SIM_GROUP unsigned lanes_below(unsigned lane)
{
	return (1u << lane) - 1;
}

/* The lanes of a tile: `size` of them, from lane `first`. */
SIM_GROUP unsigned tile_lanes(unsigned first, unsigned size)
{
	return 0xffffffffu >> (32 - size) << first;
}

/* The lanes of the caller's warp that the block has: its last warp may have fewer than 32. */
SIM_GROUP unsigned block_lanes()
{
	const unsigned left = block_threads() - block_rank() / 32 * 32;

	return tile_lanes(0, left < 32 ? left : 32);
}

/* The lane of rank `rank` in a mask; ~0 if it has not so many. */
SIM_GROUP unsigned lane_of_rank(unsigned mask, unsigned rank)
{
	for (; rank > 0 && mask != 0; rank--)
		mask &= mask - 1;
	return mask != 0 ? __builtin_ctz(mask) : ~0u;
}

/* The lanes of ranks [first, first + count) in a mask. */
SIM_GROUP unsigned lanes_of_ranks(unsigned mask, unsigned first, unsigned count)
{
	unsigned lanes = 0;

	for (; first > 0; first--)
		mask &= mask - 1;
	for (; count > 0 && mask != 0; count--, mask &= mask - 1)
		lanes |= mask & -mask;
	return lanes;
}

/* Votes by lane become votes by rank. */
SIM_GROUP unsigned by_rank(unsigned votes, unsigned mask)
{
	unsigned packed = 0;

	for (unsigned rank = 0; mask != 0; rank++, mask &= mask - 1)
		packed |= (votes >> __builtin_ctz(mask) & 1) << rank;
	return packed;
}

/* A type travels as it is if the shuffles have it, as an int if it is a smaller integer, else in words. */
template <class Type_>
struct travels_as_is {
	static constexpr bool value = (std::is_arithmetic<Type_>::value && sizeof(Type_) >= 4 && sizeof(Type_) <= 8);
};

#define SIM_GROUP_SHUFFLE(name, intrinsic)                                                                           \
	template <class Type_, class Lane_>                                                                          \
	SIM_GROUP Type_ name(unsigned mask, Type_ value, Lane_ lane, int width)                                      \
	{                                                                                                            \
		static_assert(std::is_trivially_copy_constructible<Type_>::value, "a shuffle copies bytes");         \
		static_assert(sizeof(Type_) <= 32, "a shuffle moves at most 32 bytes");                              \
		if constexpr (travels_as_is<Type_>::value) {                                                         \
			return intrinsic(mask, value, lane, width);                                                  \
		} else if constexpr (std::is_integral<Type_>::value) {                                               \
			return static_cast<Type_>(intrinsic(mask, static_cast<int>(value), lane, width));            \
		} else {                                                                                             \
			unsigned words[(sizeof(Type_) + 3) / 4] = {};                                                \
			__builtin_memcpy(words, &value, sizeof(Type_));                                              \
			for (unsigned i = 0; i < sizeof words / sizeof words[0]; i++)                                \
				words[i] = intrinsic(mask, words[i], lane, width);                                   \
			__builtin_memcpy(&value, words, sizeof(Type_));                                              \
			return value;                                                                                \
		}                                                                                                    \
	}
SIM_GROUP_SHUFFLE(shuffle, __shfl_sync)
SIM_GROUP_SHUFFLE(shuffle_up, __shfl_up_sync)
SIM_GROUP_SHUFFLE(shuffle_down, __shfl_down_sync)
SIM_GROUP_SHUFFLE(shuffle_xor, __shfl_xor_sync)
#undef SIM_GROUP_SHUFFLE

} // namespace sim_details

/* Any group: the whole block where mask_ is 0, else these lanes of the caller's warp. */
class thread_group
{
      protected:
	unsigned mask_ = 0, rank_ = 0, size_ = 0, meta_rank_ = 0, meta_size_ = 1;

      public:
	thread_group() = default;
	SIM_GROUP thread_group(unsigned mask, unsigned rank, unsigned size, unsigned meta_rank, unsigned meta_size)
	    : mask_(mask), rank_(rank), size_(size), meta_rank_(meta_rank), meta_size_(meta_size)
	{
	}
	SIM_GROUP unsigned long long size() const { return size_; }
	SIM_GROUP unsigned long long num_threads() const { return size_; }
	SIM_GROUP unsigned long long thread_rank() const { return rank_; }
	SIM_GROUP bool is_valid() const { return size_ != 0; }
	SIM_GROUP unsigned sim_mask() const { return mask_; }
	SIM_GROUP void sync() const
	{
		if (mask_ == 0)
			__syncthreads();
		else
			__syncwarp(mask_);
	}
};

class thread_block : public thread_group
{
      public:
	SIM_GROUP thread_block() : thread_group(0, sim_details::block_rank(), sim_details::block_threads(), 0, 1) {}
	SIM_GROUP static void sync() { __syncthreads(); }
	SIM_GROUP static unsigned thread_rank() { return sim_details::block_rank(); }
	SIM_GROUP static unsigned size() { return sim_details::block_threads(); }
	SIM_GROUP static unsigned num_threads() { return sim_details::block_threads(); }
	SIM_GROUP static dim3 group_index() { return dim3(blockIdx); }
	SIM_GROUP static dim3 thread_index() { return dim3(threadIdx); }
	SIM_GROUP static dim3 group_dim() { return blockDim; }
	SIM_GROUP static dim3 dim_threads() { return blockDim; }
};

SIM_GROUP thread_block this_thread_block()
{
	return thread_block();
}

/* The threads of the launch can be numbered. They cannot wait for each other: blocks are not run side by side. */
class grid_group
{
      public:
	SIM_GROUP static dim3 group_dim() { return gridDim; }
	SIM_GROUP static dim3 dim_blocks() { return gridDim; }
	SIM_GROUP static dim3 block_index() { return dim3(blockIdx); }
	SIM_GROUP static unsigned long long num_blocks()
	{
		return static_cast<unsigned long long>(gridDim.x) * gridDim.y * gridDim.z;
	}
	SIM_GROUP static unsigned long long block_rank()
	{
		return (static_cast<unsigned long long>(blockIdx.z) * gridDim.y + blockIdx.y) * gridDim.x +
		       blockIdx.x;
	}
	SIM_GROUP static unsigned long long size() { return num_blocks() * sim_details::block_threads(); }
	SIM_GROUP static unsigned long long num_threads() { return size(); }
	SIM_GROUP static unsigned long long thread_rank()
	{
		return block_rank() * sim_details::block_threads() + sim_details::block_rank();
	}
	SIM_NO_GROUP("a barrier of the whole grid") static void sync();
	SIM_NO_GROUP("a barrier of the whole grid") static bool is_valid();
};

SIM_GROUP grid_group this_grid()
{
	return grid_group();
}

/* Lanes of one warp in any number: those that coalesced_threads() found, or a part of a group. */
class coalesced_group : public thread_group
{
      public:
	SIM_GROUP explicit coalesced_group(unsigned mask, unsigned meta_rank = 0, unsigned meta_size = 1)
	    : thread_group(
		      mask, __builtin_popcount(mask & sim_details::lanes_below(sim_details::lane())),
		      __builtin_popcount(mask), meta_rank, meta_size)
	{
	}
	SIM_GROUP void sync() const { __syncwarp(mask_); }
	SIM_GROUP unsigned meta_group_rank() const { return meta_rank_; }
	SIM_GROUP unsigned meta_group_size() const { return meta_size_; }

	template <class Type_>
	SIM_GROUP Type_ shfl(Type_ value, int rank) const
	{
		return sim_details::shuffle(
			mask_, value, static_cast<int>(sim_details::lane_of_rank(mask_, static_cast<unsigned>(rank))),
			32);
	}
	/* From a rank that the group does not have: the caller's own value. */
	template <class Type_>
	SIM_GROUP Type_ shfl_up(Type_ value, unsigned delta) const
	{
		return shfl(value, static_cast<int>(delta > rank_ ? rank_ : rank_ - delta));
	}
	template <class Type_>
	SIM_GROUP Type_ shfl_down(Type_ value, unsigned delta) const
	{
		return shfl(value, static_cast<int>(delta >= size_ - rank_ ? rank_ : rank_ + delta));
	}
	SIM_GROUP int any(int predicate) const { return __any_sync(mask_, predicate); }
	SIM_GROUP int all(int predicate) const { return __all_sync(mask_, predicate); }
	SIM_GROUP unsigned ballot(int predicate) const
	{
		return sim_details::by_rank(__ballot_sync(mask_, predicate), mask_);
	}
	template <class Type_>
	SIM_GROUP unsigned match_any(Type_ value) const
	{
		return sim_details::by_rank(__match_any_sync(mask_, value), mask_);
	}
	template <class Type_>
	SIM_GROUP unsigned match_all(Type_ value, int &all) const
	{
		return sim_details::by_rank(__match_all_sync(mask_, value, &all), mask_);
	}
};

SIM_GROUP coalesced_group coalesced_threads()
{
	return coalesced_group(__activemask());
}

/* Size_ neighboring lanes of a warp, a power of two. */
template <unsigned Size_, class Parent_ = void>
class thread_block_tile : public thread_group
{
	static_assert(Size_ <= 32, "tiles of more than 32 threads are not supported by the simulated device");
	static_assert(Size_ > 0 && (Size_ & (Size_ - 1)) == 0, "the size of a tile is a power of two");

	SIM_GROUP unsigned first() const { return sim_details::lane() / Size_ * Size_; }

      public:
	thread_block_tile() = default;
	SIM_GROUP thread_block_tile(unsigned rank, unsigned parent_size)
	    : thread_group(
		      sim_details::tile_lanes(sim_details::lane() / Size_ * Size_, Size_), rank % Size_, Size_,
		      rank / Size_, (parent_size + Size_ - 1) / Size_)
	{
	}
	/* A tile is a tile, whatever it is a part of. */
	template <class Other_>
	SIM_GROUP thread_block_tile(const thread_block_tile<Size_, Other_> &other)
	    : thread_group(static_cast<const thread_group &>(other))
	{
	}
	SIM_GROUP void sync() const { __syncwarp(mask_); }
	SIM_GROUP static constexpr unsigned size() { return Size_; }
	SIM_GROUP static constexpr unsigned num_threads() { return Size_; }
	SIM_GROUP unsigned meta_group_rank() const { return meta_rank_; }
	SIM_GROUP unsigned meta_group_size() const { return meta_size_; }

	template <class Type_>
	SIM_GROUP Type_ shfl(Type_ value, int rank) const
	{
		return sim_details::shuffle(mask_, value, rank, static_cast<int>(Size_));
	}
	template <class Type_>
	SIM_GROUP Type_ shfl_up(Type_ value, unsigned delta) const
	{
		return sim_details::shuffle_up(mask_, value, delta, static_cast<int>(Size_));
	}
	template <class Type_>
	SIM_GROUP Type_ shfl_down(Type_ value, unsigned delta) const
	{
		return sim_details::shuffle_down(mask_, value, delta, static_cast<int>(Size_));
	}
	template <class Type_>
	SIM_GROUP Type_ shfl_xor(Type_ value, unsigned lane_mask) const
	{
		return sim_details::shuffle_xor(mask_, value, static_cast<int>(lane_mask), static_cast<int>(Size_));
	}
	SIM_GROUP int any(int predicate) const { return __any_sync(mask_, predicate); }
	SIM_GROUP int all(int predicate) const { return __all_sync(mask_, predicate); }
	SIM_GROUP unsigned ballot(int predicate) const { return __ballot_sync(mask_, predicate) >> first(); }
	template <class Type_>
	SIM_GROUP unsigned match_any(Type_ value) const
	{
		return __match_any_sync(mask_, value) >> first();
	}
	template <class Type_>
	SIM_GROUP unsigned match_all(Type_ value, int &all) const
	{
		return __match_all_sync(mask_, value, &all) >> first();
	}
};

/* ---- parts of groups ---- */

template <unsigned Size_>
SIM_GROUP typename std::enable_if<(Size_ <= 32), thread_block_tile<Size_, thread_block>>::type tiled_partition(
	const thread_block &)
{
	return {sim_details::block_rank(), sim_details::block_threads()};
}
template <unsigned Size_, unsigned Outer_, class Parent_>
SIM_GROUP thread_block_tile<Size_, thread_block_tile<Outer_, Parent_>> tiled_partition(
	const thread_block_tile<Outer_, Parent_> &tile)
{
	static_assert(Size_ <= Outer_, "a tile is a part of its group");
	return {static_cast<unsigned>(tile.thread_rank()), Outer_};
}
SIM_GROUP coalesced_group tiled_partition(const coalesced_group &group, unsigned size)
{
	sim_details::check_tile(size);
	const unsigned tile = static_cast<unsigned>(group.thread_rank()) / size;

	return coalesced_group(
		sim_details::lanes_of_ranks(group.sim_mask(), tile * size, size), tile,
		(static_cast<unsigned>(group.size()) + size - 1) / size);
}
template <unsigned Size_>
SIM_GROUP coalesced_group tiled_partition(const coalesced_group &group)
{
	static_assert(
		Size_ > 0 && Size_ <= 32 && (Size_ & (Size_ - 1)) == 0, "a tile has 1, 2, 4, 8, 16 or 32 threads");
	return tiled_partition(group, Size_);
}
/* The size is known only when it runs. The last tile of a group may have fewer threads. */
SIM_GROUP thread_group tiled_partition(const thread_group &group, unsigned size)
{
	sim_details::check_tile(size);
	const unsigned rank = static_cast<unsigned>(group.thread_rank());
	const unsigned tile = rank / size, count = (static_cast<unsigned>(group.size()) + size - 1) / size;
	const unsigned lanes = group.sim_mask() == 0
	                               ? sim_details::tile_lanes(sim_details::lane() / size * size, size) &
	                                         sim_details::block_lanes()
	                               : sim_details::lanes_of_ranks(group.sim_mask(), tile * size, size);

	return thread_group(lanes, rank % size, __builtin_popcount(lanes), tile, count);
}

/* Those of one label, among the parts ordered by their first lanes. */
template <class Group_, class Label_>
SIM_GROUP coalesced_group labeled_partition(const Group_ &group, Label_ label)
{
	const unsigned part = __match_any_sync(group.sim_mask(), label);
	const unsigned first = __builtin_ctz(part);
	const unsigned firsts = __ballot_sync(group.sim_mask(), first == sim_details::lane());

	return coalesced_group(
		part, __builtin_popcount(firsts & sim_details::lanes_below(first)), __builtin_popcount(firsts));
}
template <class Group_>
SIM_GROUP coalesced_group binary_partition(const Group_ &group, bool predicate)
{
	const unsigned mask = group.sim_mask(), votes = __ballot_sync(mask, predicate);
	const bool is_divided = votes != 0 && votes != mask;

	return coalesced_group(predicate ? votes : mask & ~votes, is_divided && predicate, is_divided ? 2 : 1);
}

/* ---- functions of a group ---- */

SIM_NO_GROUP("a barrier of the whole grid") void sync(const grid_group &);
template <class Group_>
SIM_GROUP void sync(const Group_ &group)
{
	group.sync();
}
template <class Group_>
SIM_GROUP unsigned thread_rank(const Group_ &group)
{
	return static_cast<unsigned>(group.thread_rank());
}
template <class Group_>
SIM_GROUP unsigned group_size(const Group_ &group)
{
	return static_cast<unsigned>(group.size());
}

/* ---- what is not here ---- */

class SIM_NO_GROUP("a group of several grids") multi_grid_group;
class SIM_NO_GROUP("a group of a cluster of blocks") cluster_group;
template <unsigned Size_>
SIM_NO_GROUP("a tile of more than 32 threads")
typename std::enable_if<(Size_ > 32), thread_group>::type tiled_partition(const thread_block &);
SIM_NO_GROUP("a group of several grids") thread_group this_multi_grid();
SIM_NO_GROUP("a group of a cluster of blocks") thread_group this_cluster();
template <class... Types_>
SIM_NO_GROUP("an asynchronous copy")
void memcpy_async(Types_ &&...);
template <class... Types_>
SIM_NO_GROUP("an asynchronous copy")
void wait(Types_ &&...);
template <int Stages_, class... Types_>
SIM_NO_GROUP("an asynchronous copy")
void wait_prior(Types_ &&...);

} // namespace cooperative_groups

#undef SIM_NO_GROUP

#endif
SIM_FOR_BOTH_END

#endif
