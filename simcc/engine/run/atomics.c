/*
 * atomicAdd and its kin. Each is one access of the calling thread, checked and counted, then an atomic operation
 * of the host: blocks run on several CPU threads. Relaxed, as CUDA's are.
 */
#include <string.h>

#include "run/run.h"

#define RELAXED __ATOMIC_RELAXED

/* A plain build has no sites, checks nothing and counts nothing: only the operation is left, and a turn for the
 * other threads, should this one be waiting for them. */
#define ENTER(address, kind)                                                                                         \
	do {                                                                                                         \
		const uint32_t site = CALL_SITE();                                                                   \
		if (site != NO_SITE)                                                                                 \
			sim_atomic_access(address, __builtin_ctz(sizeof *(address)), kind, site);                    \
		else                                                                                                 \
			sim_take_turns();                                                                            \
	} while (0)

/* Each exists for the device (and the system, which is the same here) and for the scope of a block: racecheck tells
 * them apart. Declared here for -Wmissing-prototypes: device code reaches them by symbol, no C caller exists. */
#define ATOMIC_KIND(symbol, type, builtin, kind)                                                                     \
	type symbol(type *address, type value);                                                                      \
	type symbol(type *address, type value)                                                                       \
	{                                                                                                            \
		ENTER(address, kind);                                                                                \
		const type old = builtin(address, value, RELAXED);                                                   \
		type next = old;                                                                                     \
		builtin(&next, value, RELAXED);                                                                      \
		sim_note_change(address, old, next, 0);                                                              \
		return old;                                                                                          \
	}
#define ATOMIC(name, type, builtin)                                                                                  \
	ATOMIC_KIND(sim_atomic_##name, type, builtin, 0)                                                             \
	ATOMIC_KIND(sim_atomic_block_##name, type, builtin, SIM_ATOMIC_BLOCK)
#define EXCHANGE_KIND(symbol, type, kind)                                                                            \
	type symbol(type *address, type value);                                                                      \
	type symbol(type *address, type value)                                                                       \
	{                                                                                                            \
		ENTER(address, kind | SIM_ATOMIC_OVERWRITES);                                                        \
		const type old = __atomic_exchange_n(address, value, RELAXED);                                       \
		sim_note_change(address, old, value, SIM_ATOMIC_EXCHANGES);                                          \
		return old;                                                                                          \
	}
#define EXCHANGE(name, type)                                                                                         \
	EXCHANGE_KIND(sim_atomic_##name, type, 0)                                                                    \
	EXCHANGE_KIND(sim_atomic_block_##name, type, SIM_ATOMIC_BLOCK)

ATOMIC(add_i32, uint32_t, __atomic_fetch_add)
ATOMIC(add_i64, uint64_t, __atomic_fetch_add)
ATOMIC(sub_i32, uint32_t, __atomic_fetch_sub)
ATOMIC(and_i32, uint32_t, __atomic_fetch_and)
ATOMIC(and_i64, uint64_t, __atomic_fetch_and)
ATOMIC(or_i32, uint32_t, __atomic_fetch_or)
ATOMIC(or_i64, uint64_t, __atomic_fetch_or)
ATOMIC(xor_i32, uint32_t, __atomic_fetch_xor)
ATOMIC(xor_i64, uint64_t, __atomic_fetch_xor)
EXCHANGE(exch_i32, uint32_t)
EXCHANGE(exch_i64, uint64_t)

/* What the host has no instruction for: compute the new value from the old one until nobody came between. */
#define ATOMIC_LOOP_KIND(symbol, type, bits_type, new_value, kind)                                                   \
	type symbol(type *address, type value);                                                                      \
	type symbol(type *address, type value)                                                                       \
	{                                                                                                            \
		bits_type *place = (bits_type *)(void *)address, seen, wanted;                                       \
		type old, next;                                                                                      \
                                                                                                                     \
		ENTER(address, kind);                                                                                \
		seen = __atomic_load_n(place, RELAXED);                                                              \
		do {                                                                                                 \
			memcpy(&old, &seen, sizeof old);                                                             \
			next = (new_value);                                                                          \
			memcpy(&wanted, &next, sizeof wanted);                                                       \
		} while (!__atomic_compare_exchange_n(place, &seen, wanted, true, RELAXED, RELAXED));                \
		sim_note_change(address, seen, wanted, kind);                                                        \
		return old;                                                                                          \
	}

#define ATOMIC_LOOP(name, type, bits_type, new_value)                                                                \
	ATOMIC_LOOP_KIND(sim_atomic_##name, type, bits_type, new_value, 0)                                           \
	ATOMIC_LOOP_KIND(sim_atomic_block_##name, type, bits_type, new_value, SIM_ATOMIC_BLOCK)

ATOMIC_LOOP(add_f32, float, uint32_t, old + value)
ATOMIC_LOOP(add_f64, double, uint64_t, old + value)
ATOMIC_LOOP_KIND(sim_atomic_exch_f32, float, uint32_t, value, SIM_ATOMIC_OVERWRITES | SIM_ATOMIC_EXCHANGES)
ATOMIC_LOOP_KIND(
	sim_atomic_block_exch_f32, float, uint32_t, value,
	SIM_ATOMIC_BLOCK | SIM_ATOMIC_OVERWRITES | SIM_ATOMIC_EXCHANGES)
ATOMIC_LOOP(max_i32, int32_t, uint32_t, old > value ? old : value)
ATOMIC_LOOP(max_u32, uint32_t, uint32_t, old > value ? old : value)
ATOMIC_LOOP(max_i64, int64_t, uint64_t, old > value ? old : value)
ATOMIC_LOOP(max_u64, uint64_t, uint64_t, old > value ? old : value)
ATOMIC_LOOP(min_i32, int32_t, uint32_t, old < value ? old : value)
ATOMIC_LOOP(min_u32, uint32_t, uint32_t, old < value ? old : value)
ATOMIC_LOOP(min_i64, int64_t, uint64_t, old < value ? old : value)
ATOMIC_LOOP(min_u64, uint64_t, uint64_t, old < value ? old : value)
/* CUDA's counters: up to `value` and then 0; down to 0 and then `value` */
ATOMIC_LOOP(inc_u32, uint32_t, uint32_t, old >= value ? 0 : old + 1)
ATOMIC_LOOP(dec_u32, uint32_t, uint32_t, old == 0 || old > value ? value : old - 1)

#define ATOMIC_CAS_KIND(symbol, type, kind)                                                                          \
	type symbol(type *address, type compare, type value);                                                        \
	type symbol(type *address, type compare, type value)                                                         \
	{                                                                                                            \
		ENTER(address, kind);                                                                                \
		if (CALL_SITE() != NO_SITE)                                                                          \
			note_at_site(CALL_SITE(), SITE_COMPARES);                                                    \
		if (__atomic_compare_exchange_n(address, &compare, value, false, RELAXED, RELAXED))                  \
			sim_note_change(address, compare, value, SIM_ATOMIC_EXCHANGES);                              \
		return compare; /* what was there, whether or not it was exchanged */                                \
	}
#define ATOMIC_CAS(name, type)                                                                                       \
	ATOMIC_CAS_KIND(sim_atomic_cas_##name, type, 0)                                                              \
	ATOMIC_CAS_KIND(sim_atomic_block_cas_##name, type, SIM_ATOMIC_BLOCK)

ATOMIC_CAS_KIND(sim_atomic_cas_i16, uint16_t, 0)
ATOMIC_CAS(i32, uint32_t)
ATOMIC_CAS(i64, uint64_t)
