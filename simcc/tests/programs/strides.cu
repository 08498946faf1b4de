// One warp reads floats k apart, k = 1 ... 64, from a start that is 0 ... 3 floats past a sector: test_counts.c works
// out the sectors of each launch from the addresses.
#include "check.cuh"

__global__ void stride(const float *x, float *y, int k, int offset)
{
	y[threadIdx.x] = x[offset + k * threadIdx.x];
}

template <typename T>
__global__ void shared_stride(T *y, int k)
{
	__shared__ T tile[33 * 32];
	tile[k * threadIdx.x] = (T)threadIdx.x;
	__syncthreads();
	y[threadIdx.x] = tile[k * threadIdx.x];
}

struct __align__(16) sixteen
{
	int value, rest[3];
	sixteen() = default;
	__host__ __device__ explicit sixteen(int v) : value(v), rest() {}
};

// The first and the last lane take the same element, the others one each, far apart.
__global__ void ends_meet(const float *x, float *y)
{
	__shared__ float tile[32 * 32];
	int i = threadIdx.x, far = i % 31;
	tile[32 * i] = x[16 * far];
	__syncwarp();
	y[i] = tile[32 * far];
}

template <typename T>
static void run_shared(T *y)
{
	for (int k = 1; k <= 33; k++)
		shared_stride<T><<<1, 32>>>(y, k);
	CHECK(cudaDeviceSynchronize());
}

int main()
{
	static float x[64 * 32 + 4], y[32];
	for (int i = 0; i < 64 * 32 + 4; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 64 * 32 + 4), *dy = device_zeros<float>(256);
	//= stride ANY x256
	for (int offset = 0; offset < 4; offset++)
		for (int k = 1; k <= 64; k++) {
			stride<<<1, 32>>>(dx, dy, k, offset);
			fetch(y, dy, 32);
			EXPECT(y[31] == 31 * k + offset);
		}
	//= shared_stride<unsignedchar> ANY x33
	run_shared((unsigned char *)dy);
	//= shared_stride<short> ANY x33
	run_shared((short *)dy);
	//= shared_stride<float> ANY x33
	run_shared(dy);
	//= shared_stride<double> ANY x33
	run_shared((double *)dy);
	//= shared_stride<sixteen> ANY x33
	run_shared((sixteen *)dy);
	//= ends_meet load=128/1/31 store=128/1/4 sstore=128/1/32/1/31 sload=128/1/31/1/30
	ends_meet<<<1, 32>>>(dx, dy);
	return 0;
}
