// 16-byte loads into shared memory, 4-byte reads and back; float2 and double2 too.
#include "../main.cuh"

__global__ void work(const float4 *x, float4 *y, double2 *z)
{
	__shared__ __align__(16) float s[256];
	__shared__ double2 d[64];
	int t = threadIdx.x;
	reinterpret_cast<float4 *>(s)[t] = x[t];
	d[t] = make_double2(t, 2 * t);
	__syncthreads();
	float2 a = *(float2 *)&s[2 * (63 - t)];
	float4 v = make_float4(s[t], s[t + 64], s[t + 128], s[t + 192] + a.x + a.y);
	__syncthreads();
	*(float4 *)&s[4 * t] = v;
	__syncthreads();
	y[t] = ((float4 *)s)[63 - t];
	double2 e = d[t ^ 33];
	e.x += e.y;
	z[t] = e;
}

MAIN(work<<<1, 64>>>(zeros<float4>(64), empty<float4>(64), empty<double2>(64)))
