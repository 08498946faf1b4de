// Atomics of each kind and type, for the device and for the scope of a block. 64 threads on one word: a request for each
// of the two warps, whose lanes take turns, 32 sectors. (In shared memory: oracle.cu.)
#include "check.cuh"

// `f` of 64 threads makes `after` of a word that was `before`, with each of the two; `t` is the thread.
template <class T, class F>
static void expect_both(F f, T before, T after)
{
	for (bool of_block : {false, true}) {
		T *word = device_copy(&before, 1);
		each<<<1, 64>>>([=] __device__(int t) { f(word, t, of_block); });
		EXPECT(element(word, 0) == after);
		CHECK(cudaFree(word));
	}
}
#define EXPECT_ATOMIC(T, atomic, operand, before, after)                                                             \
	expect_both<T>(                                                                                              \
		[] __device__(T * word, int t [[maybe_unused]], bool of_block) {                                     \
			of_block ? atomic##_block(word, operand) : atomic(word, operand);                            \
		},                                                                                                   \
		before, after)
#define CAS(expected, value) expected, value

int main()
{
	//= each atomic=256/2/64 foot=4/4 x44
	EXPECT_ATOMIC(int, atomicAdd, 2, 0, 128);
	EXPECT_ATOMIC(int, atomicSub, 3, 0, -192);
	EXPECT_ATOMIC(int, atomicMax, t - 10, 0, 53);
	EXPECT_ATOMIC(int, atomicMin, t - 10, 0, -10);
	EXPECT_ATOMIC(int, atomicAnd, ~(1 << t % 16), -1, ~0xffff);
	EXPECT_ATOMIC(int, atomicOr, 1 << t % 16, 0, 0xffff);
	// 64 = 2 * 31 + 2: bits 0 and 1 are turned three times, the others twice
	EXPECT_ATOMIC(int, atomicXor, 1 << t % 31, 0, 3);
	EXPECT_ATOMIC(int, atomicExch, 5, 0, 5);
	EXPECT_ATOMIC(int, atomicCAS, CAS(t == 0 ? 0 : 1000, 77), 0, 77);
	EXPECT_ATOMIC(unsigned, atomicAdd, ~0u, 0, 0u - 64);
	EXPECT_ATOMIC(unsigned, atomicSub, 1u, 0, 0u - 64);
	EXPECT_ATOMIC(unsigned, atomicMax, 0x7ffffff0u + t, 0, 0x8000002f); // half of them have the sign's bit
	EXPECT_ATOMIC(unsigned, atomicMin, 0x7ffffff0u + t, ~0u, 0x7ffffff0);
	// 25 is above the limit, so it becomes 0 or 9; 63 more go round in tens
	EXPECT_ATOMIC(unsigned, atomicInc, 9u, 25, 63 % 10);
	EXPECT_ATOMIC(unsigned, atomicDec, 9u, 25, 6);
	EXPECT_ATOMIC(unsigned, atomicAnd, ~(1u << t % 32), ~0u, 0);
	EXPECT_ATOMIC(unsigned, atomicOr, 1u << t % 32, 0, ~0u);
	EXPECT_ATOMIC(unsigned, atomicXor, 1u << t % 31, 0, 3);
	EXPECT_ATOMIC(unsigned, atomicExch, 9u, 0, 9);
	EXPECT_ATOMIC(unsigned, atomicCAS, CAS(0u, 1u), 0, 1);
	EXPECT_ATOMIC(float, atomicAdd, 0.5f, 0, 32);
	EXPECT_ATOMIC(float, atomicExch, 2.5f, 0, 2.5f);
	//= each atomic=512/2/64 foot=8/8 x22
	EXPECT_ATOMIC(double, atomicAdd, 0.25, 0, 16);
	EXPECT_ATOMIC(unsigned long long, atomicAdd, 1ull << 33, 0, 64ull << 33);
	EXPECT_ATOMIC(unsigned long long, atomicMax, (unsigned long long)t << 40, 0, 63ull << 40);
	EXPECT_ATOMIC(unsigned long long, atomicMin, (unsigned long long)t + 5, 1ull << 60, 5);
	EXPECT_ATOMIC(unsigned long long, atomicAnd, ~(1ull << t), ~0ull, 0);
	EXPECT_ATOMIC(unsigned long long, atomicOr, 1ull << t, 0, ~0ull);
	EXPECT_ATOMIC(unsigned long long, atomicXor, 1ull << t, 0, ~0ull);
	EXPECT_ATOMIC(unsigned long long, atomicExch, 42ull, 0, 42);
	EXPECT_ATOMIC(unsigned long long, atomicCAS, CAS(0ull, 7ull), 0, 7);
	EXPECT_ATOMIC(long long, atomicMax, 10ll - t, -99, 10);
	EXPECT_ATOMIC(long long, atomicMin, 10ll - t, 5, -53);
	return 0;
}
