// Device functions: recursive, and virtual, whose tables are nobody's data; intrinsics.
#include "check.cuh"
#include <cmath>
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

__global__ void spreads(int *y)
{
	spread(y, 12, 0);
}

// The depth of a legal recursion: each thread its own.
__global__ void recurse(int *y)
{
	y[threadIdx.x] = factorial_sum(threadIdx.x + 200);
}

__global__ void mathematics(float *y)
{
	float v = 0;
	v += fabsf(__expf(1.0f) - expf(1.0f)) < 1e-5f;
	v += fabsf(exp2f(3.0f) - 8) < 1e-5f;
	v += fabsf(rsqrtf(4.0f) - 0.5f) < 1e-5f;
	v += fabsf(__fdividef(1.0f, 4.0f) - 0.25f) < 1e-6f;
	v += fmaxf(1.0f, 2.0f) == 2 && fminf(1.0f, 2.0f) == 1;
	v += __float_as_int(1.0f) == 0x3f800000 && __int_as_float(0x40000000) == 2;
	v += __popc(0xff) == 8 && __ffs(8) == 4 && __clz(1) == 31 && __clz(0) == 32 && __brev(1) == 0x80000000u;
	v += max(3, 4) == 4 && min(3u, 4u) == 3u;
	v += isinf(-INFINITY) && isnan(NAN) && fmaf(2, 3, 4) == 10;
	v += warpSize == 32;
	y[threadIdx.x] = v;
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

__global__ void call_virtual(int *y)
{
	shape line;
	tile box;
	line.size = box.size = 3;
	int (shape::*member)() const = &shape::area;
	const shape *either = threadIdx.x % 2 ? &line : &box;
	y[threadIdx.x] = area_of(either) + (either->*member)();
}

// An object's pointer to its table is data as any other: written by the constructor of shape, then by that of tile.
__global__ void make_virtual(tile *to)
{
	new (to + threadIdx.x) tile;
}

__global__ void ask_virtual(const tile *of, int *y)
{
	y[threadIdx.x] = of[threadIdx.x].shape::area() + of[threadIdx.x].area();
}

int main()
{
	float *dy = device_zeros<float>(32);
	int *dn = device_zeros<int>(32);

	//= recurse store=128/1/4
	recurse<<<1, 32>>>(dn);
	EXPECT_EACH(dn, 32, i, (i + 200) * (i + 201) / 2);
	//= spreads store=4096*128/4096/4*4096
	spreads<<<1, 32>>>(device_zeros<int>(32 * 4096));
	//= call_virtual store=128/1/4
	call_virtual<<<1, 32>>>(dn);
	EXPECT(element(dn, 6) == 18 && element(dn, 7) == 6);
	tile *tiles = (tile *)device_zeros<float>(128);
	//= make_virtual store=2*256/2/2*16
	make_virtual<<<1, 32>>>(tiles);
	// size, the pointer, size twice
	//= ask_virtual load=128+256+2*128/4/4*16 store=128/1/4
	ask_virtual<<<1, 32>>>(tiles, dn);
	//= mathematics store=128/1/4 exp=3*32
	mathematics<<<1, 32>>>(dy);
	EXPECT_EACH(dy, 32, i, 10);
	return 0;
}
