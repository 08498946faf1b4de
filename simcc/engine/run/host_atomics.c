/*
 * Atomics of host code. -fsanitize=thread makes a call of each std::atomic, of what std::shared_ptr counts with and
 * of each __sync_* and __atomic_* in a .cu file; this is what the calls mean. All are sequentially consistent, which
 * is never less than was asked for. Device code may not call them: simcc refuses it (its table of denied calls).
 */
#include <stdint.h>

#define ENTRY(type, name, ...)                                                                                       \
	type name(__VA_ARGS__);                                                                                      \
	type name(__VA_ARGS__)

#define FETCH(bits, operation)                                                                                       \
	ENTRY(uint##bits##_t, __tsan_atomic##bits##_fetch_##operation, volatile uint##bits##_t *at,                  \
	      uint##bits##_t value, int order)                                                                       \
	{                                                                                                            \
		(void)order;                                                                                         \
		return __atomic_fetch_##operation(at, value, __ATOMIC_SEQ_CST);                                      \
	}

#define COMPARE_EXCHANGE(bits, strength)                                                                             \
	ENTRY(int, __tsan_atomic##bits##_compare_exchange_##strength, volatile uint##bits##_t *at,                   \
	      uint##bits##_t *expected, uint##bits##_t value, int order, int failed)                                 \
	{                                                                                                            \
		(void)order, (void)failed;                                                                           \
		return __atomic_compare_exchange_n(at, expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);      \
	}

#define WIDTH(bits)                                                                                                  \
	ENTRY(uint##bits##_t, __tsan_atomic##bits##_load, const volatile uint##bits##_t *at, int order)              \
	{                                                                                                            \
		(void)order;                                                                                         \
		return __atomic_load_n(at, __ATOMIC_SEQ_CST);                                                        \
	}                                                                                                            \
	ENTRY(void, __tsan_atomic##bits##_store, volatile uint##bits##_t *at, uint##bits##_t value, int order)       \
	{                                                                                                            \
		(void)order;                                                                                         \
		__atomic_store_n(at, value, __ATOMIC_SEQ_CST);                                                       \
	}                                                                                                            \
	ENTRY(uint##bits##_t, __tsan_atomic##bits##_exchange, volatile uint##bits##_t *at, uint##bits##_t value,     \
	      int order)                                                                                             \
	{                                                                                                            \
		(void)order;                                                                                         \
		return __atomic_exchange_n(at, value, __ATOMIC_SEQ_CST);                                             \
	}                                                                                                            \
	/* clang's: returns what was there */                                                                        \
	ENTRY(uint##bits##_t, __tsan_atomic##bits##_compare_exchange_val, volatile uint##bits##_t *at,               \
	      uint##bits##_t expected, uint##bits##_t value, int order, int failed)                                  \
	{                                                                                                            \
		(void)order, (void)failed;                                                                           \
		__atomic_compare_exchange_n(at, &expected, value, 0, __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST);            \
		return expected;                                                                                     \
	}                                                                                                            \
	COMPARE_EXCHANGE(bits, strong)                                                                               \
	COMPARE_EXCHANGE(bits, weak)                                                                                 \
	FETCH(bits, add)                                                                                             \
	FETCH(bits, sub)                                                                                             \
	FETCH(bits, and)                                                                                             \
	FETCH(bits, or)                                                                                              \
	FETCH(bits, xor)                                                                                             \
	FETCH(bits, nand)

WIDTH(8)
WIDTH(16)
WIDTH(32)
WIDTH(64)

#ifdef __x86_64__ /* elsewhere nothing is compiled with this sanitizer */
/*
 * 16 bytes. For these __atomic_load_n and the like call libatomic, which not every machine has; libatomic uses the
 * same instruction, so files of C++ that are linked with it agree with these. A load stores the zero it finds, if so.
 */
__extension__ typedef unsigned __int128 uint128_t;

static uint128_t compare_exchange_128(volatile uint128_t *at, uint128_t expected, uint128_t value)
{
	uint64_t low = (uint64_t)expected, high = (uint64_t)(expected >> 64);
	__asm__ volatile("lock cmpxchg16b %0"
	                 : "+m"(*at), "+a"(low), "+d"(high)
	                 : "b"((uint64_t)value), "c"((uint64_t)(value >> 64))
	                 : "memory", "cc");
	return (uint128_t)high << 64 | low;
}

ENTRY(uint128_t, __tsan_atomic128_load, const volatile uint128_t *at, int order)
{
	(void)order;
	return compare_exchange_128((volatile uint128_t *)at, 0, 0);
}

#define FETCH_128(operation, new_value)                                                                              \
	ENTRY(uint128_t, __tsan_atomic128_##operation, volatile uint128_t *at, uint128_t value, int order)           \
	{                                                                                                            \
		(void)order;                                                                                         \
		uint128_t old = compare_exchange_128(at, 0, 0), expected;                                            \
		do {                                                                                                 \
			expected = old;                                                                              \
			old = compare_exchange_128(at, expected, new_value);                                         \
		} while (old != expected);                                                                           \
		return old;                                                                                          \
	}

FETCH_128(exchange, value)
FETCH_128(fetch_add, expected + value)
FETCH_128(fetch_sub, expected - value)
FETCH_128(fetch_and, expected &value)
FETCH_128(fetch_or, expected | value)
FETCH_128(fetch_xor, expected ^ value)
FETCH_128(fetch_nand, ~(expected &value))

ENTRY(void, __tsan_atomic128_store, volatile uint128_t *at, uint128_t value, int order)
{
	__tsan_atomic128_exchange(at, value, order);
}

ENTRY(uint128_t, __tsan_atomic128_compare_exchange_val, volatile uint128_t *at, uint128_t expected, uint128_t value,
      int order, int failed)
{
	(void)order, (void)failed;
	return compare_exchange_128(at, expected, value);
}

#define COMPARE_EXCHANGE_128(strength)                                                                               \
	ENTRY(int, __tsan_atomic128_compare_exchange_##strength, volatile uint128_t *at, uint128_t *expected,        \
	      uint128_t value, int order, int failed)                                                                \
	{                                                                                                            \
		(void)order, (void)failed;                                                                           \
		const uint128_t wanted = *expected;                                                                  \
		*expected = compare_exchange_128(at, wanted, value);                                                 \
		return *expected == wanted;                                                                          \
	}

COMPARE_EXCHANGE_128(strong)
COMPARE_EXCHANGE_128(weak)
#endif

ENTRY(void, __tsan_atomic_thread_fence, int order)
{
	(void)order;
	__atomic_thread_fence(__ATOMIC_SEQ_CST);
}

ENTRY(void, __tsan_atomic_signal_fence, int order)
{
	(void)order;
	__atomic_signal_fence(__ATOMIC_SEQ_CST);
}
