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
static std::atomic<long long> big{3};
static std::atomic_flag spin = ATOMIC_FLAG_INIT;

__global__ void one(int *p)
{
	*p = 1;
}

int main()
{
	int *p = device_zeros<int>(1), n = 1, expected = 5;
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
	big.store(-77, std::memory_order_release);
	EXPECT(byte.exchange(9) == 1 && byte == 9 && big.load(std::memory_order_acquire) == -77);
	EXPECT(!spin.test_and_set() && spin.test_and_set());
	EXPECT(__sync_fetch_and_add(&n, 4) == 1 && __sync_val_compare_and_swap(&n, 5, 12) == 5);
	EXPECT(__atomic_add_fetch(&n, 3, __ATOMIC_RELAXED) == 15);
	__sync_synchronize();
	std::thread other([] {
		for (int i = 0; i < 50000; i++)
			counter++;
	});
	for (int i = 0; i < 50000; i++)
		counter.fetch_add(1);
	other.join();
	EXPECT(!counter.compare_exchange_strong(expected, 7) && expected == 100000);
	return 0;
}
