// Two kernels, each with its own type and name for dynamic shared memory, one of which needs more than 48 KB.
#include "check.cuh"

// One array, carved into parts by hand.
__global__ void parts(int *y)
{
	extern __shared__ char raw[];
	int *ints = reinterpret_cast<int *>(raw);
	short *shorts = reinterpret_cast<short *>(ints + blockDim.x);
	ints[threadIdx.x] = threadIdx.x;
	shorts[threadIdx.x] = (short)(2 * threadIdx.x);
	__syncthreads();
	y[threadIdx.x] = ints[blockDim.x - 1 - threadIdx.x] + shorts[threadIdx.x];
}

const int BIG = 64 * 1024 / sizeof(float);

__global__ void big(float *y)
{
	extern __shared__ float sram[];
	float total = 0;
	for (int i = threadIdx.x; i < BIG; i += blockDim.x)
		sram[i] = (float)i;
	__syncthreads();
	for (int i = threadIdx.x; i < BIG; i += blockDim.x)
		total += sram[BIG - 1 - i];
	y[threadIdx.x] = total;
}

int main()
{
	static float y[1024];
	float *dy = device_zeros<float>(1024);
	int *dp = device_zeros<int>(64);

	// shorts: two lanes share a word
	//= parts store=256/2/8 sstore=256+128/4/4/4 sload=256+128/4/4/4 barriers=1 dyn=384
	parts<<<1, 64, 64 * (sizeof(int) + sizeof(short))>>>(dp);
	EXPECT_EACH(dp, 64, i, 63 + i);

	big<<<1, 1024, 64 * 1024>>>(dy); // refused: not opted in
	EXPECT(cudaGetLastError() == cudaErrorInvalidValue);
	CHECK(cudaFuncSetAttribute(big, cudaFuncAttributeMaxDynamicSharedMemorySize, 64 * 1024));
	//= big store=4096/32/128 sstore=65536/512/512/512 sload=65536/512/512/512 barriers=1 dyn=65536
	big<<<1, 1024, 64 * 1024>>>(dy);
	fetch(y, dy, 1024);
	for (int i = 0; i < 1024; i++) {
		float expected = 0;
		for (int j = i; j < BIG; j += 1024)
			expected += (float)(BIG - 1 - j);
		EXPECT(y[i] == expected);
	}
	return 0;
}
