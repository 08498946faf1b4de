// Asynchronous copies: each is a request of global memory and one of shared memory, where it is issued.
#include "check.cuh"
#include <cuda/pipeline>

__device__ unsigned address(const void *shared)
{
	return (unsigned)__cvta_generic_to_shared(shared);
}

// What is not read is 0, and not asked for. Lanes 0 to 7 read 16 bytes, lane 8 reads 8 of them, lane 9 one (which is 0),
// the others none: one request.
__global__ void ragged(const float *x, float *y, int count)
{
	alignas(16) __shared__ float s[128];
	int c = 4 * threadIdx.x, left = count - c, bytes = left >= 4 ? 16 : left > 0 ? 4 * left : left > -4;
	asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address(s + c)), "l"(x + c), "r"(bytes));
	asm volatile("cp.async.commit_group;");
	asm volatile("cp.async.wait_group %0;" ::"n"(0));
	__syncthreads();
	y[threadIdx.x] = s[threadIdx.x + 16];
}

// One thread's pipeline of two stages.
__global__ void stages(const float *x, float *y, int count)
{
	__shared__ float s[2][32];
	int t = threadIdx.x;
	float sum = 0;
	auto pipe = cuda::make_pipeline();
	for (int stage = 0; stage <= count; stage++) {
		if (stage < count) {
			pipe.producer_acquire();
			cuda::memcpy_async(&s[stage % 2][t], x + 32 * stage + t, sizeof(float), pipe);
			pipe.producer_commit();
		}
		if (stage == 0)
			continue;
		if (stage < count)
			cuda::pipeline_consumer_wait_prior<1>(pipe);
		else
			pipe.consumer_wait();
		__syncthreads();
		sum += s[(stage - 1) % 2][31 - t];
		__syncthreads();
		pipe.consumer_release();
	}
	y[t] = sum;
}

int main()
{
	float x[128];
	for (int i = 0; i < 128; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 128), *dy = device_zeros<float>(32);

	// In every width: 32 lanes side by side are 4, 8 and 16 sectors and 1, 2 and 4 wavefronts.
	//= each load=128+256+512+512/4/4+8+16+16 store=128/1/4 sstore=128+256+512+512/4/1+2+4+4 sload=4*128/4/4 static=3584 barriers=1
	each<<<1, 32>>>([x = dx, y = dy] __device__(int t) {
		alignas(16) __shared__ float s[7][128];
		asm volatile("cp.async.ca.shared.global [%0], [%1], 4;" ::"r"(address(&s[0][t])), "l"(x + t));
		asm volatile(
			"cp.async.ca.shared.global [%0], [%1], %2;" ::"r"(address(&s[1][2 * t])), "l"(x + 2 * t),
			"n"(8));
		asm volatile("cp.async.cg.shared.global.L2::128B [ %0 ],[%1], 16 ;\n\tcp.async.commit_group;\n" ::"r"(
				     address(&s[2][4 * t])),
		             "l"(x + 4 * t)
		             : "memory");
		__pipeline_memcpy_async(&s[3][4 * t], x + 4 * t, 16);
		asm volatile("cp.async.wait_all;");
		__syncthreads();
		y[t] = s[0][t] + s[1][63 - t] + s[2][127 - t] + s[3][64 + t];
	});
	EXPECT_EACH(dy, 32, t, t + (63 - t) + (127 - t) + (64 + t));

	//= ragged load=8*16+8+1/1/5 store=128/1/4 sstore=512/1/4 sload=128/1/1 barriers=1
	ragged<<<1, 32>>>(dx, dy, 34);
	EXPECT_EACH(dy, 32, t, t + 16 < 34 ? t + 16 : 0);

	// The last bytes of each 16 are zeros: none of lane 0's, all of lane 4's.
	//= each load=16+12+8+4/1/2 store=5*16/4/12 sstore=80/1/1 sload=5*16/4/4 static=80
	each<<<1, 5>>>([x = dx, y = dy] __device__(int t) {
		alignas(16) __shared__ float s[20];
		__pipeline_memcpy_async(s + 4 * t, x + 4 * t, 16, 4 * t);
		__pipeline_commit();
		__pipeline_wait_prior(0);
		for (int i = 4 * t; i < 4 * t + 4; i++)
			y[i] = s[i];
	});
	EXPECT_EACH(dy, 20, i, i % 4 < 4 - i / 4 ? (float)i : 0);

	//= stages load=3*128/3/12 store=128/1/4 sstore=3*128/3/3 sload=3*128/3/3 barriers=6
	stages<<<1, 32>>>(dx, dy, 3);
	EXPECT_EACH(dy, 32, t, (31 - t) + (63 - t) + (95 - t));

	// Four copies of 4 bytes, since float * promises no more; one of 16; 4 bytes and an ordinary copy of the last 2; and
	// nothing but an ordinary one. What lies behind the end stays.
	//= each load=16+16+4+2+4/8/8 store=17*4/17/17 sstore=16*4+16+16+4+2+4/16+8/16+8 sload=20*4/20/20 static=64
	each<<<1, 1>>>([x = dx, y = dy] __device__(int) {
		alignas(16) __shared__ float s[16];
		auto pipe = cuda::make_pipeline();
		for (int i = 0; i < 16; i++)
			s[i] = -1;
		cuda::memcpy_async(s + 1, x + 1, 16, pipe);
		cuda::memcpy_async(s + 8, x + 8, cuda::aligned_size_t<16>(16), pipe);
		cuda::memcpy_async(s + 12, x + 12, 6, pipe);
		cuda::memcpy_async((char *)(s + 14), (const char *)(x + 14), (size_t)4, pipe);
		float untouched = s[0] + s[5] + s[7] + s[15];
		pipe.producer_commit();
		pipe.consumer_wait();
		for (int i = 0; i < 16; i++)
			y[i] = s[i];
		y[0] = untouched;
	});
	// of element 13 half was copied, which is 0
	EXPECT_EACH(dy, 16, i, i == 0 ? -4 : 0x5f1e >> i & 1 ? (float)i : -1);

	//= each load=128/1/4 store=128/1/4 exp=32
	each<<<1, 32>>>([x = dx, y = dy] __device__(int) {
		asm("ex2.approx.ftz.f32 %0, %1;" : "=f"(y[threadIdx.x]) : "f"(x[threadIdx.x] - 140));
	});
	EXPECT_EACH(dy, 32, t, t < 14 ? 0.0f : exp2f(t - 140.0f));
	return 0;
}
