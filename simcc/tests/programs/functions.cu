// Device functions: recursive, and virtual, whose tables are nobody's data. (What intrinsics compute: ../c_library.)
#include "check.cuh"

#include <new>

__device__ __noinline__ int factorial_sum(int n)
{
	return n <= 0 ? 0 : n + factorial_sum(n - 1);
}

// More calls that lead somewhere else than the device first has room for: each is an access of its own.
__device__ __noinline__ void spread(int *y, int depth, int n)
{
	if (depth > 0) {
		spread(y, depth - 1, 2 * n);
		spread(y, depth - 1, 2 * n + 1);
	} else {
		y[32 * n + threadIdx.x] = n;
	}
}

// The table of virtual functions is nobody's data: reading it is no access.
struct shape {
	int size;
	__device__ virtual int area() const { return size; }
};
struct tile : shape {
	__device__ int area() const override { return size * size; }
};

__device__ int area_of(const shape *one)
{
	return one->area();
}

// What is written once for both sides stays each side's own: no table of one holds the other's functions.
struct base {
	__host__ __device__ virtual int f(int *p) { return p[0]; }
	__device__ virtual int pure(int *) { return 0; }
	__host__ __device__ virtual ~base() {}
};
struct derived : base {
#ifdef __CUDA_ARCH__
	__host__ __device__ int f(int *p) override
	{
		return p[1];
	}
#else
	__host__ __device__ int f(int *) override
	{
		return 1000;
	}
#endif
};
struct abstract {
	__device__ virtual int g(int *) = 0;
};
struct real : abstract {
	__device__ int g(int *p) override { return p[2]; }
};
struct outside {
	int v;
	__host__ __device__ outside(int n);
};
__host__ __device__ outside::outside(int n) : v(n) {}

// A promise of the source that a hook breaks.
__attribute__((const)) __device__ float get(const float *p, int i)
{
	return p[i];
}

// A kernel that calls through a pointer is not known to use this array, and another kernel is. 2 bytes are no whole word.
__device__ int exchange(int i)
{
	__shared__ char s[6];
	s[i] = 10 + i;
	__syncthreads();
	return s[5 - i];
}
__device__ int (*volatile exchanging)(int) = exchange;

int main()
{
	const int values[] = {1, 20, 300, 0};
	int *dv = device_copy(values, 4), host = 0;
	float *x = device_zeros<float>(32), *y = device_zeros<float>(32);
	int *dn = device_zeros<int>(32), *spreads = device_zeros<int>(32 * 4096);
	tile *tiles = (tile *)device_zeros<float>(128);

	//= each load=8/2/2 store=4/1/1
	each<<<1, 1>>>([=] __device__(int) {
		derived d;
		base *b = &d;
		real r;
		abstract *a = &r;
		dv[3] = b->f(dv) + a->g(dv) + outside(100).v;
	});
	EXPECT(element(dv, 3) == 420);
	base *on_host = new derived;
	EXPECT(on_host->f(&host) == 1000);
	delete on_host;
	//= each load=4*128/4/16 store=256/2/8 barriers=1
	each<<<1, 32>>>([=] __device__(int i) {
		y[i] = get(x, i);
		__syncthreads();
		y[i] += get(x, i) + get(x, i);
	});

	//= each load=48/1/1 store=24/1/1 sstore=6/1/1 sload=6/1/1 barriers=1
	each<<<1, 6>>>([=] __device__(int i) { dn[i] = exchanging(i); });
	EXPECT_EACH(dn, 6, i, 15 - i);
	//= each store=24/1/1 sstore=6/1/1 sload=6/1/1 barriers=1
	each<<<1, 6>>>([=] __device__(int i) { dn[i] = exchange(i); });
	EXPECT_EACH(dn, 6, i, 15 - i);

	// The depth of a legal recursion: each thread its own.
	//= each store=128/1/4
	each<<<1, 32>>>([=] __device__(int i) { dn[i] = factorial_sum(i + 200); });
	EXPECT_EACH(dn, 32, i, (i + 200) * (i + 201) / 2);
	//= each store=4096*128/4096/4*4096
	each<<<1, 32>>>([=] __device__(int) { spread(spreads, 12, 0); });
	//= each store=128/1/4
	each<<<1, 32>>>([=] __device__(int i) {
		shape line;
		tile box;
		line.size = box.size = 3;
		int (shape::*member)() const = &shape::area;
		const shape *either = i % 2 ? &line : &box;
		dn[i] = area_of(either) + (either->*member)();
	});
	EXPECT(element(dn, 6) == 18 && element(dn, 7) == 6);
	// An object's pointer to its table is data as any other: written by the constructor of shape, then by that of tile.
	//= each store=2*256/2/2*16
	each<<<1, 32>>>([=] __device__(int i) { new (tiles + i) tile; });
	// size, the pointer, size twice
	//= each load=128+256+2*128/4/4*16 store=128/1/4
	each<<<1, 32>>>([=] __device__(int i) { dn[i] = tiles[i].shape::area() + tiles[i].area(); });
	CHECK(cudaDeviceSynchronize());
	return 0;
}
