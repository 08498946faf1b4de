// Arrays of floats and bytes accessed through wider pointers, as every vectorized kernel does: one access each, as
// wide as the pointer says, whatever the compiler knows about the array behind it.
#include "check.cuh"

__device__ float table[128];

__global__ void shared_casts(float *y)
{
	__shared__ float pairs[64], doubles[64], quads[128], rows[8][16];
	__shared__ __align__(16) char raw[256], words[128];
	int t = threadIdx.x;
	*(float2 *)&pairs[2 * t] = make_float2(1, 2);
	*(double *)&doubles[2 * t] = 1.5;
	*(float4 *)&quads[4 * t] = make_float4((float)t, 2, 3, 4);
	*reinterpret_cast<float4 *>(&rows[t / 4][t % 4 * 4]) = make_float4(1, 2, 3, (float)t);
	*(long long *)&raw[8 * t] = t;
	*(int *)(words + 4 * t) = t;
	float2 v = *(float2 *)&pairs[2 * t];
	float4 w = *(float4 *)&rows[t / 4][t % 4 * 4];
	double d = *(double *)&doubles[2 * t];
	int i = *(int *)&words[4 * t];
	y[t] = v.y + w.w + (d == 1.5) + i + quads[4 * t + 3] + raw[8 * t];
}

__global__ void global_casts(const float *x, float *y)
{
	int t = threadIdx.x;
	float2 v = *(const float2 *)&x[2 * t];
	float4 w = reinterpret_cast<const float4 *>(x)[t];
	float2 u = *(float2 *)&table[2 * t];
	*(float2 *)&table[64 + 2 * t] = v;
	*(float2 *)&y[2 * t] = make_float2(v.x + w.w, u.y);
}

int main()
{
	float x[128];
	for (int i = 0; i < 128; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 128), *dy = device_zeros<float>(64);
	CHECK(cudaMemcpyToSymbol(table, x, sizeof x));
	//= shared_casts store=128/1/4 sstore=256+256+512+512+256+128/6/2+2+4+4+2+1/2+2+4+4+2+1
	//+ sload=256+512+256+128+128+32/6/2+4+2+1+4+2/2+4+2+1+1+1
	shared_casts<<<1, 32>>>(dy);
	EXPECT(element(dy, 0) == 2 + 0 + 1 + 0 + 4 + 0 && element(dy, 31) == 2 + 31 + 1 + 31 + 4 + 31);
	//= global_casts load=256+512+256/3/8+16+8 store=256+256/2/8+8
	global_casts<<<1, 32>>>(dx, dy);
	EXPECT(element(dy, 2) == 2 + 7 && element(dy, 3) == 3);
	return 0;
}
