// Arrays accessed through wider pointers, as every vectorized kernel does: one access each, as wide as the pointer says,
// whatever the compiler knows about the array behind it; and structs that lie better than their type asks for.
// (Vectors and structs where they belong are in ../../selftest.cu.)
#include "check.cuh"

__global__ void small(const uchar4 *a, uchar4 *b, const short *c, unsigned char *d)
{
	int t = threadIdx.x;
	b[t] = a[t];
	d[t] = (unsigned char)c[t];
}

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

// The type that is said counts at both ends of a copy, also where neither end tells it.
__global__ void views(const float4 *a, float4 *b, float2 *c)
{
	__shared__ float fixed[128];
	extern __shared__ float dynamic[];
	int t = threadIdx.x;
	((float4 *)fixed)[t] = a[t];
	__syncthreads();
	reinterpret_cast<float4 *>(dynamic)[t] = reinterpret_cast<float4 *>(fixed)[31 - t];
	__syncthreads();
	b[t] = *(float4 *)&dynamic[4 * t];
	c[t] = ((float2 *)dynamic)[t];
}

// The same bytes as a float2, but aligned to 4: two accesses of 4 bytes, whatever the array would allow.
struct loose {
	float x, y;
};

__global__ void loose_views(const loose *a, loose *b)
{
	__shared__ __align__(16) float tile[64];
	__shared__ loose pairs[32];
	int t = threadIdx.x;
	((loose *)tile)[t] = a[t];
	__syncthreads();
	pairs[t] = ((loose *)tile)[31 - t];
	__syncthreads();
	b[t] = pairs[t];
}

// 16 bytes, aligned to 4: four accesses, whether what it is copied from or to is a variable, lies better or is of float4.
struct four {
	float a, b, c, d;
};
__device__ float plain[2][136];

__global__ void fours(four *p)
{
	__shared__ float4 tile[32];
	int t = threadIdx.x;
	((four *)(plain[1] + 1))[t] = ((four *)(plain[0] + 1))[t];
	tile[t] = make_float4(1, 2, 3, 4);
	p[t] = *(four *)&tile[t];
	alignas(16) four better = p[t];
	p[t] = better;
}

int main()
{
	float x[128];
	int2 c[32];
	for (int i = 0; i < 128; i++)
		x[i] = (float)i;
	for (int i = 0; i < 32; i++)
		c[i] = make_int2(i, -i);
	float *dx = device_copy(x, 128), *dy = device_zeros<float>(128);
	int2 *dc = device_copy(c, 32), *dd = device_zeros<int2>(32);
	CHECK(cudaMemcpyToSymbol(table, x, sizeof x));

	//= small load=128+64/2/4+2 store=128+32/2/4+1
	small<<<1, 32>>>((const uchar4 *)dc, (uchar4 *)dd, (const short *)dc, (unsigned char *)dy);
	//= shared_casts store=128/1/4 sstore=256+256+512+512+256+128/6/2+2+4+4+2+1/2+2+4+4+2+1
	//+ sload=256+512+256+128+128+32/6/2+4+2+1+4+2/2+4+2+1+1+1
	shared_casts<<<1, 32>>>(dy);
	EXPECT(element(dy, 0) == 2 + 0 + 1 + 0 + 4 + 0 && element(dy, 31) == 2 + 31 + 1 + 31 + 4 + 31);
	//= global_casts load=256+512+256/3/8+16+8 store=256+256/2/8+8
	global_casts<<<1, 32>>>(dx, dy);
	EXPECT(element(dy, 2) == 2 + 7 && element(dy, 3) == 3);
	//= views load=512/1/16 sstore=512+512/2/8/8 sload=512+512+256/3/4+4+2/10 store=512+256/2/16+8 barriers=2
	views<<<1, 32, 512>>>((const float4 *)dx, (float4 *)dy, (float2 *)dd);
	EXPECT(element(dy, 4) == 120 && element(dy, 7) == 123);
	//= loose_views load=256/2/16 sstore=512/4/8/4 sload=512/4/8/4 store=256/2/16 barriers=2
	loose_views<<<1, 32>>>((const loose *)dx, (loose *)dy);
	// 4 bytes into a sector: of the four accesses the last reaches into a 17th
	//= fours load=2*512/8/130 sstore=512/1/4/4 sload=512/4/16/4 store=3*512/12/195
	fours<<<1, 32>>>((four *)(device_zeros<float>(132) + 1));
	return 0;
}
