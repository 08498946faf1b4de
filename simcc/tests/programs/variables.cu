// __device__ and __constant__ variables: by symbol on the host, by name in the kernel and in the report.
#include "check.cuh"

__device__ int counter;
__device__ float table[64];
__device__ float2 pairs[2] = {{1, 2}, {3, 4}};
__constant__ float weights[16];
__constant__ struct {
	int n;
	float scale;
} settings = {10, 0.5f};
static __device__ const float initialized[4] = {1, 2, 4, 8};

__global__ void count()
{
	atomicAdd(&counter, 1);
}

__global__ void use_table(float *y)
{
	y[threadIdx.x] = table[threadIdx.x] * 2 + initialized[threadIdx.x % 4];
}

// What a function keeps is a __device__ variable, const or not.
__device__ float kept(int i)
{
	static const float fixed[4] = {1, 2, 4, 8};
	static constexpr float folded[4] = {1, 2, 4, 8};
	static float changing[4] = {1, 2, 4, 8};
	return fixed[i] + folded[i] + changing[i];
}

__global__ void use_kept(float *y)
{
	y[threadIdx.x] = kept(threadIdx.x % 4);
}

// One request for each access; how a constant cache serves it is not modeled.
__global__ void convolve(const float *x, float *y)
{
	float sum = 0;
	for (int k = 0; k < 4; k++)
		sum += weights[k] * x[threadIdx.x + k];
	y[threadIdx.x] = (int)threadIdx.x < settings.n ? sum * settings.scale : 0;
}

__global__ void through_pointer(const float *p, float *y)
{
	y[threadIdx.x] = p[0] + pairs[1].y;
}

int main()
{
	float x[64];
	for (int i = 0; i < 64; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 64), *dy = device_zeros<float>(64);
	int zero = 0, counted = -1;
	CHECK(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
	CHECK(cudaMemcpyToSymbol(table, x, sizeof x));

	//= count atomic=256/2/64 tensor:counter=0/0/4/4
	count<<<1, 64>>>();
	CHECK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
	EXPECT(counted == 64);
	// table: 4 sectors a warp; initialized: 16 bytes
	//= use_table load=512/4/10 store=256/2/8 tensor:table=256/0/256/0 tensor:initialized=256/0/16/0
	//+ tensor:alloc1=0/256/0/256
	use_table<<<1, 64>>>(dy);
	EXPECT(element(dy, 5) == 12 && element(dy, 63) == 134);

	//= use_kept load=3*128/3/3 store=128/1/4 tensor:fixed=128/0/16/0 tensor:folded=128/0/16/0
	//+ tensor:changing=128/0/16/0 tensor:alloc1=0/128/0/128
	use_kept<<<1, 32>>>(dy);
	EXPECT(element(dy, 3) == 24);

	float w[4] = {1, 0, 0, 10};
	CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
	w[0] = 2;
	CHECK(cudaMemcpyToSymbol(weights, w, sizeof(float), 2 * sizeof(float)));
	// x + k: the warp's 128 bytes start 4 k bytes into a sector. Of settings, all read n and 10 lanes scale.
	//= convolve load=512/4/4+5+5+5 store=128/1/4 const=4*128+128+40/6
	convolve<<<1, 32>>>(dx, dy);
	EXPECT(element(dy, 3) == 0.5f * (3 + 2 * 5 + 10 * 6) && element(dy, 10) == 0);

	float *address;
	size_t size;
	CHECK(cudaGetSymbolAddress((void **)&address, table));
	CHECK(cudaGetSymbolSize(&size, table));
	EXPECT(size == 256);
	//= through_pointer load=256/2/2 store=128/1/4 tensor:table=128/0/4/0 tensor:pairs=128/0/4/0
	through_pointer<<<1, 32>>>(address + 7, dy);
	EXPECT(element(dy, 0) == 11);
	return 0;
}
