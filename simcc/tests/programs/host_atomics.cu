// Atomics of C++ and of the compiler in host code, in a file with kernels: they are not the kernels'.
#include <atomic>
#include <memory>
#include <thread>

#include "check.cuh"

static int destroyed;
struct Counted {
	int value = 7;
	~Counted() { destroyed += value; }
};

static std::atomic<int> counter{0};
static std::atomic<unsigned char> byte{1};
static std::atomic<unsigned short> word{2};
static std::atomic<long long> big{3};
static std::atomic<bool> flag{false};
static std::atomic_flag spin = ATOMIC_FLAG_INIT;

__global__ void one(int *p)
{
	*p = 1;
}

static void check_cxx()
{
	counter.fetch_add(5);
	counter++;
	counter -= 2;
	counter |= 8;
	counter &= ~4;
	counter ^= 3; // ((5 + 1 - 2) | 8) & ~4 ^ 3
	EXPECT(counter.load() == 11);
	int expected = 11;
	EXPECT(counter.compare_exchange_strong(expected, 100) && counter == 100 && expected == 11);
	expected = 1;
	EXPECT(!counter.compare_exchange_weak(expected, 5, std::memory_order_acq_rel, std::memory_order_relaxed));
	EXPECT(expected == 100 && counter == 100);
	EXPECT(byte.exchange(9) == 1 && byte == 9 && word.fetch_sub(1) == 2 && word == 1);
	big.store(-77, std::memory_order_release);
	flag = true;
	EXPECT(big.load(std::memory_order_acquire) == -77 && flag);
	EXPECT(!spin.test_and_set() && spin.test_and_set());
	spin.clear();
	EXPECT(!spin.test_and_set());
	std::atomic_signal_fence(std::memory_order_acq_rel);
}

static void check_builtins()
{
	int n = 1;
	long l = 5;
	EXPECT(__sync_fetch_and_add(&n, 4) == 1 && __sync_add_and_fetch(&n, 4) == 9);
	EXPECT(__sync_bool_compare_and_swap(&n, 9, 10) && !__sync_bool_compare_and_swap(&n, 9, 11));
	EXPECT(__sync_val_compare_and_swap(&n, 10, 12) == 10 && __sync_lock_test_and_set(&n, 3) == 12);
	__sync_lock_release(&n);
	__sync_synchronize();
	EXPECT(n == 0 && __sync_fetch_and_or(&l, 8) == 5 && __sync_fetch_and_and(&l, 12) == 13 && l == 12);
	EXPECT(__atomic_load_n(&l, __ATOMIC_SEQ_CST) == 12 && __atomic_add_fetch(&n, 3, __ATOMIC_RELAXED) == 3);
	EXPECT(__atomic_fetch_nand(&l, 4, __ATOMIC_SEQ_CST) == 12 && l == ~4);
}

int main()
{
	int *p = device_zeros<int>(1);
	//= one store=4/1/1
	one<<<1, 1>>>(p);
	EXPECT(element(p, 0) == 1);
	{
		std::shared_ptr<Counted> first = std::make_shared<Counted>(), second = first;
		std::weak_ptr<Counted> weak = second;
		first.reset();
		EXPECT(second.use_count() == 1 && weak.lock() == second && destroyed == 0);
	}
	EXPECT(destroyed == 7);
	check_cxx();
	check_builtins();
	counter = 0;
	std::thread other([] {
		for (int i = 0; i < 50000; i++)
			counter.fetch_add(1);
	});
	for (int i = 0; i < 50000; i++)
		counter.fetch_add(1);
	other.join();
	EXPECT(counter == 100000);
	return 0;
}
