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

// What a function keeps is a __device__ variable, const or not.
__device__ float kept(int i)
{
	static const float fixed[4] = {1, 2, 4, 8};
	static constexpr float folded[4] = {1, 2, 4, 8};
	static float changing[4] = {1, 2, 4, 8};
	return fixed[i] + folded[i] + changing[i];
}

int main()
{
	float x[64], w[4] = {1, 0, 0, 10}, *address;
	for (int i = 0; i < 64; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 64), *dy = device_zeros<float>(64);
	int zero = 0, counted = -1;
	size_t size;
	CHECK(cudaMemcpyToSymbol(counter, &zero, sizeof zero));
	CHECK(cudaMemcpyToSymbol(table, x, sizeof x));
	CHECK(cudaMemcpyToSymbol(weights, w, sizeof w));
	w[0] = 2;
	CHECK(cudaMemcpyToSymbol(weights, w, sizeof(float), 2 * sizeof(float)));
	CHECK(cudaGetSymbolAddress((void **)&address, table));
	CHECK(cudaGetSymbolSize(&size, table));
	EXPECT(size == 256);

	//= each atomic=256/2/64 tensor:counter=0/0/4/4
	each<<<1, 64>>>([] __device__(int) { atomicAdd(&counter, 1); });
	CHECK(cudaMemcpyFromSymbol(&counted, counter, sizeof counted));
	EXPECT(counted == 64);
	// table: 4 sectors a warp; initialized: 16 bytes
	//= each load=512/4/10 store=256/2/8 tensor:table=256/0/256/0 tensor:initialized=256/0/16/0
	//+ tensor:alloc1=0/256/0/256
	each<<<1, 64>>>([=] __device__(int i) { dy[i] = table[i] * 2 + initialized[i % 4]; });
	EXPECT(element(dy, 5) == 12 && element(dy, 63) == 134);
	//= each load=3*128/3/3 store=128/1/4 tensor:fixed=128/0/16/0 tensor:folded=128/0/16/0
	//+ tensor:changing=128/0/16/0 tensor:alloc1=0/128/0/128
	each<<<1, 32>>>([=] __device__(int i) { dy[i] = kept(i % 4); });
	EXPECT(element(dy, 3) == 24);
	// x + k: the warp's 128 bytes start 4 k bytes into a sector. One request for each access of a constant; how a constant
	// cache serves it is not modeled. Of settings, all read n and 10 lanes scale.
	//= each load=512/4/4+5+5+5 store=128/1/4 const=4*128+128+40/6
	each<<<1, 32>>>([=] __device__(int i) {
		float sum = 0;
		for (int k = 0; k < 4; k++)
			sum += weights[k] * dx[i + k];
		dy[i] = i < settings.n ? sum * settings.scale : 0;
	});
	EXPECT(element(dy, 3) == 0.5f * (3 + 2 * 5 + 10 * 6) && element(dy, 10) == 0);
	//= each load=256/2/2 store=128/1/4 tensor:table=128/0/4/0 tensor:pairs=128/0/4/0
	each<<<1, 32>>>([=] __device__(int i) { dy[i] = address[7] + pairs[1].y; });
	EXPECT(element(dy, 0) == 11);
	// More blocks than one CPU thread has time for. Kills: constants that the last one of them read only.
	float *dz = device_zeros<float>(200);
	//= each atomic=4*32*200/200/32*200 const=4*32*200/200
	each<<<200, 32>>>([=] __device__(int) { atomicAdd(&dz[blockIdx.x], weights[0]); });
	EXPECT(element(dz, 199) == 32);
	return 0;
}
