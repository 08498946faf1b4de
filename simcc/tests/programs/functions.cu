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

int main()
{
	int *dn = device_zeros<int>(32), *spreads = device_zeros<int>(32 * 4096);
	tile *tiles = (tile *)device_zeros<float>(128);

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
