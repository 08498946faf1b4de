/*
 * atomicAdd and its kin. Each is one access of the calling thread, checked and counted, then an atomic operation
 * of the host: blocks run on several CPU threads. Relaxed, as CUDA's are.
 *
 * The number in a name says which argument, counted in integer registers, is the site (tables.h).
 */
#include <string.h>

#include "engine.h"

#define RELAXED __ATOMIC_RELAXED

/* A plain build has no sites, checks nothing and counts nothing: only the operation is left, and a turn for the
 * other threads, should this one be waiting for them. */
#define ENTER(address, site)                                                                                         \
	do {                                                                                                         \
		if ((site) != NULL)                                                                                  \
			sim_access(address, sizeof *(address), SIM_OP_ATOMIC, site);                                 \
		else                                                                                                 \
			sim_take_turns();                                                                            \
	} while (0)

/* Declared here for -Wmissing-prototypes: device code reaches them by symbol, no C caller exists. */
#define ATOMIC(name, type, builtin)                                                                                  \
	type sim_atomic_##name##_s3(type *address, type value, const void *site);                                    \
	type sim_atomic_##name##_s3(type *address, type value, const void *site)                                     \
	{                                                                                                            \
		ENTER(address, site);                                                                                \
		return builtin(address, value, RELAXED);                                                             \
	}

ATOMIC(add_i32, uint32_t, __atomic_fetch_add)
ATOMIC(add_i64, uint64_t, __atomic_fetch_add)
ATOMIC(sub_i32, uint32_t, __atomic_fetch_sub)
ATOMIC(and_i32, uint32_t, __atomic_fetch_and)
ATOMIC(and_i64, uint64_t, __atomic_fetch_and)
ATOMIC(or_i32, uint32_t, __atomic_fetch_or)
ATOMIC(or_i64, uint64_t, __atomic_fetch_or)
ATOMIC(xor_i32, uint32_t, __atomic_fetch_xor)
ATOMIC(xor_i64, uint64_t, __atomic_fetch_xor)
ATOMIC(exch_i32, uint32_t, __atomic_exchange_n)
ATOMIC(exch_i64, uint64_t, __atomic_exchange_n)

/* What the host has no instruction for: compute the new value from the old one until nobody came between. */
#define ATOMIC_LOOP(symbol, type, bits_type, new_value)                                                              \
	type symbol(type *address, type value, const void *site);                                                    \
	type symbol(type *address, type value, const void *site)                                                     \
	{                                                                                                            \
		bits_type *place = (bits_type *)(void *)address, seen, wanted;                                       \
		type old, next;                                                                                      \
                                                                                                                     \
		ENTER(address, site);                                                                                \
		seen = __atomic_load_n(place, RELAXED);                                                              \
		do {                                                                                                 \
			memcpy(&old, &seen, sizeof old);                                                             \
			next = (new_value);                                                                          \
			memcpy(&wanted, &next, sizeof wanted);                                                       \
		} while (!__atomic_compare_exchange_n(place, &seen, wanted, true, RELAXED, RELAXED));                \
		return old;                                                                                          \
	}

ATOMIC_LOOP(sim_atomic_add_f32_s2, float, uint32_t, old + value)
ATOMIC_LOOP(sim_atomic_add_f64_s2, double, uint64_t, old + value)
ATOMIC_LOOP(sim_atomic_exch_f32_s2, float, uint32_t, value)
ATOMIC_LOOP(sim_atomic_max_i32_s3, int32_t, uint32_t, old > value ? old : value)
ATOMIC_LOOP(sim_atomic_max_u32_s3, uint32_t, uint32_t, old > value ? old : value)
ATOMIC_LOOP(sim_atomic_max_i64_s3, int64_t, uint64_t, old > value ? old : value)
ATOMIC_LOOP(sim_atomic_max_u64_s3, uint64_t, uint64_t, old > value ? old : value)
ATOMIC_LOOP(sim_atomic_min_i32_s3, int32_t, uint32_t, old < value ? old : value)
ATOMIC_LOOP(sim_atomic_min_u32_s3, uint32_t, uint32_t, old < value ? old : value)
ATOMIC_LOOP(sim_atomic_min_i64_s3, int64_t, uint64_t, old < value ? old : value)
ATOMIC_LOOP(sim_atomic_min_u64_s3, uint64_t, uint64_t, old < value ? old : value)
/* CUDA's counters: up to `value` and then 0; down to 0 and then `value` */
ATOMIC_LOOP(sim_atomic_inc_u32_s3, uint32_t, uint32_t, old >= value ? 0 : old + 1)
ATOMIC_LOOP(sim_atomic_dec_u32_s3, uint32_t, uint32_t, old == 0 || old > value ? value : old - 1)

#define ATOMIC_CAS(name, type)                                                                                       \
	type sim_atomic_cas_##name##_s4(type *address, type compare, type value, const void *site);                  \
	type sim_atomic_cas_##name##_s4(type *address, type compare, type value, const void *site)                   \
	{                                                                                                            \
		ENTER(address, site);                                                                                \
		__atomic_compare_exchange_n(address, &compare, value, false, RELAXED, RELAXED);                      \
		return compare; /* what was there, whether or not it was exchanged */                                \
	}

ATOMIC_CAS(i16, uint16_t)
ATOMIC_CAS(i32, uint32_t)
ATOMIC_CAS(i64, uint64_t)
