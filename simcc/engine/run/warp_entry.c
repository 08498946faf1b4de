/*
 * Where the calls of sim_cuda/warp.h and sim_cuda/builtins.h land: one function for each type and arity, in
 * terms of the few operations of warp.c and block.c.
 */
#include <string.h>
#include <time.h>

#include "run/run.h"

extern const int sim_warp_size;
const int sim_warp_size = 32;

/* Declared just before it is defined: device code reaches it by symbol, no C caller exists. */
#define ENTRY(type, name, ...)                                                                                       \
	type name(__VA_ARGS__);                                                                                      \
	type name(__VA_ARGS__)

/* ---- block ---- */

ENTRY(void, sim_syncthreads, void)
{
	sim_block_barrier(CALL_SITE());
}

ENTRY(int, sim_syncthreads_count, int predicate)
{
	return sim_block_reduce(SIM_REDUCE_COUNT, predicate != 0, CALL_SITE());
}

ENTRY(int, sim_syncthreads_and, int predicate)
{
	return sim_block_reduce(SIM_REDUCE_AND, predicate != 0, CALL_SITE());
}

ENTRY(int, sim_syncthreads_or, int predicate)
{
	return sim_block_reduce(SIM_REDUCE_OR, predicate != 0, CALL_SITE());
}

/* ---- votes ---- */

ENTRY(void, sim_syncwarp, unsigned mask)
{
	sim_warp_sync(mask, CALL_SITE());
}

ENTRY(unsigned, sim_activemask, void)
{
	return sim_warp_active_mask(CALL_SITE());
}

ENTRY(unsigned, sim_ballot, unsigned mask, int predicate)
{
	return sim_warp_ballot("__ballot_sync", mask, predicate != 0, CALL_SITE());
}

ENTRY(int, sim_any, unsigned mask, int predicate)
{
	return sim_warp_ballot("__any_sync", mask, predicate != 0, CALL_SITE()) != 0;
}

/* "All" is "none that does not": lanes outside the mask have no vote. */
ENTRY(int, sim_all, unsigned mask, int predicate)
{
	return sim_warp_ballot("__all_sync", mask, predicate == 0, CALL_SITE()) == 0;
}

/* ---- shuffles: the bits travel as 64, whatever the type ---- */

static uint64_t bits_of_f32(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static uint64_t bits_of_f64(double value)
{
	uint64_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits;
}

static float f32_of_bits(uint64_t bits)
{
	const uint32_t low = (uint32_t)bits;
	float value;
	memcpy(&value, &low, sizeof value);
	return value;
}

static double f64_of_bits(uint64_t bits)
{
	double value;
	memcpy(&value, &bits, sizeof value);
	return value;
}

static const char *const shuffle_names[] = {
	[SIM_SHUFFLE_INDEX] = "__shfl_sync",
	[SIM_SHUFFLE_UP] = "__shfl_up_sync",
	[SIM_SHUFFLE_DOWN] = "__shfl_down_sync",
	[SIM_SHUFFLE_XOR] = "__shfl_xor_sync",
};

#define SHUFFLE(name, kind, type, to_bits, from_bits)                                                                \
	ENTRY(type, sim_##name, unsigned mask, type value, int operand, int width)                                   \
	{                                                                                                            \
		return from_bits(sim_warp_shuffle(                                                                   \
			shuffle_names[kind], kind, mask, to_bits(value), operand, width, CALL_SITE()));              \
	}
#define SHUFFLES(suffix, type, to_bits, from_bits)                                                                   \
	SHUFFLE(shfl_##suffix, SIM_SHUFFLE_INDEX, type, to_bits, from_bits)                                          \
	SHUFFLE(shfl_up_##suffix, SIM_SHUFFLE_UP, type, to_bits, from_bits)                                          \
	SHUFFLE(shfl_down_##suffix, SIM_SHUFFLE_DOWN, type, to_bits, from_bits)                                      \
	SHUFFLE(shfl_xor_##suffix, SIM_SHUFFLE_XOR, type, to_bits, from_bits)

SHUFFLES(i32, uint32_t, (uint64_t), (uint32_t))
SHUFFLES(i64, uint64_t, (uint64_t), (uint64_t))
SHUFFLES(f32, float, bits_of_f32, f32_of_bits)
SHUFFLES(f64, double, bits_of_f64, f64_of_bits)

/* ---- matches: lanes agree on a value when they agree on each of its bits ---- */

/* Of the lanes of the mask that are there; the others, which have left or do not exist, match nothing. */
static unsigned match(
	const char *intrinsic, unsigned mask, uint64_t value, int bits, unsigned *present, uint32_t site)
{
	unsigned same = *present = sim_warp_ballot(intrinsic, mask, 1, site);
	for (int i = 0; i < bits; i++) {
		const int bit = (int)(value >> i & 1);
		const unsigned with_one = sim_warp_ballot(intrinsic, *present, bit, site);
		same &= bit ? with_one : ~with_one;
	}
	return same;
}

#define MATCH(suffix, type, to_bits, bits)                                                                           \
	ENTRY(unsigned, sim_match_any_##suffix, unsigned mask, type value)                                           \
	{                                                                                                            \
		unsigned present;                                                                                    \
                                                                                                                     \
		return match("__match_any_sync", mask, to_bits(value), bits, &present, CALL_SITE());                 \
	}                                                                                                            \
	ENTRY(unsigned, sim_match_all_##suffix, unsigned mask, type value, int *all)                                 \
	{                                                                                                            \
		unsigned present;                                                                                    \
                                                                                                                     \
		*all = match("__match_all_sync", mask, to_bits(value), bits, &present, CALL_SITE()) == present;      \
		return *all ? present : 0;                                                                           \
	}

/* CUDA compares the bits of a float too: 0 does not match -0, and a NaN matches itself */
MATCH(i32, uint32_t, (uint64_t), 32)
MATCH(i64, uint64_t, (uint64_t), 64)
MATCH(f32, float, bits_of_f32, 32)
MATCH(f64, double, bits_of_f64, 64)

/* ---- reductions over the lanes of the mask ---- */

#define REDUCE(intrinsic, name, type, combined)                                                                      \
	ENTRY(type, sim_reduce_##name, unsigned mask, type value)                                                    \
	{                                                                                                            \
		type result = 0;                                                                                     \
		bool is_first = true;                                                                                \
		const unsigned present = sim_warp_ballot(intrinsic, mask, 1, CALL_SITE());                           \
                                                                                                                     \
		for (int lane = 0; lane < 32; lane++) {                                                              \
			type other;                                                                                  \
                                                                                                                     \
			if ((present >> lane & 1) == 0)                                                              \
				continue;                                                                            \
			other = (type)sim_warp_shuffle(                                                              \
				intrinsic, SIM_SHUFFLE_INDEX, present, (uint32_t)value, lane, 32, CALL_SITE());      \
			result = is_first ? other : (combined);                                                      \
			is_first = false;                                                                            \
		}                                                                                                    \
		return result;                                                                                       \
	}

REDUCE("__reduce_add_sync", add, uint32_t, result + other)
REDUCE("__reduce_and_sync", and, uint32_t, result &other)
REDUCE("__reduce_or_sync", or, uint32_t, result | other)
REDUCE("__reduce_xor_sync", xor, uint32_t, result ^ other)
REDUCE("__reduce_min_sync", min_u32, uint32_t, result < other ? result : other)
REDUCE("__reduce_max_sync", max_u32, uint32_t, result > other ? result : other)
REDUCE("__reduce_min_sync", min_i32, int32_t, result < other ? result : other)
REDUCE("__reduce_max_sync", max_i32, int32_t, result > other ? result : other)

/* ---- the rest ---- */

/* Blocks run on several CPU threads, so a fence has work to do. */
ENTRY(void, sim_threadfence, void)
{
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
	sim_note_fence(false);
}

ENTRY(void, sim_threadfence_block, void)
{
	sim_note_fence(true);
}

ENTRY(void, sim_trap, void)
{
	sim_device_abort(cudaErrorLaunchFailure, CALL_SITE(), NULL, 0, "__trap() called");
}

/* Cooperative groups: whose size is known only now. */
ENTRY(void, sim_check_tile, unsigned size)
{
	if (size == 0 || size > 32 || (size & (size - 1)) != 0)
		sim_device_abort(
			cudaErrorLaunchFailure, CALL_SITE(), NULL, 0,
			"tiled_partition: a tile of %u threads; it may have 1, 2, 4, 8, 16 or 32", size);
}

/* Who sleeps waits for another thread. */
ENTRY(void, sim_nanosleep, unsigned nanoseconds)
{
	(void)nanoseconds;
	sim_take_turns();
}

ENTRY(long long, sim_clock64, void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (long long)now.tv_sec * 1000000000 + now.tv_nsec;
}
