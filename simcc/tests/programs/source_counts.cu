// A count is that of the source: what a compiler would like to remove, merge or move is counted as it is written; an
// access through a pointer is as wide as the pointer says, whatever array lies behind it; a struct is copied in pieces as
// wide as its type's alignment. (More such kernels are in ../../selftest.cu, which each library is tested with, and in
// test_front.py.)
#include "check.cuh"

#include <cmath>

#undef sincosf // the C library's own
#undef sincos

struct three {
	float a, b, c;
};
struct nested {
	three first;
	float last[5];
};
struct shorts {
	short values[3];
};
// The same bytes as a float2, but aligned to 4.
struct loose {
	float x, y;
};
struct four {
	float a, b, c, d;
};
enum class color : unsigned char { red = 3, blue = 9 };

__device__ float plain[2][136];
__constant__ four of_constants[32];

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

// C's functions that store one of their results through a pointer: a store like any other.
static void check_stores_of_functions()
{
	float x[32], y[128];
	double z[128];
	int n[64], m[64];
	for (int i = 0; i < 32; i++)
		x[i] = 0.75f + 2 * i;
	float *dx = device_copy(x, 32), *dy = device_zeros<float>(128);
	double *dz = device_zeros<double>(128);
	int *dn = device_zeros<int>(64);

	//= each load=128/1/4 store=6*128/6/6*4 sstore=128/1/1/1
	each<<<1, 32>>>([=] __device__(int i) {
		__shared__ float cosine[32];
		const float value = dx[i];
		int kept; // of the thread alone: no access
		dy[i] = modff(value, &dy[32 + i]);
		sincosf(value, &dy[64 + i], &cosine[i]);
		dy[96 + i] = std::frexp(value, &dn[i]) + frexpf(value, &kept);
		remquof(value, 3.0f, &dn[32 + i]);
	});
	fetch(y, dy, 128);
	fetch(n, dn, 64);
	//= each load=128/1/4 store=4*256+2*128/6/4*8+2*4
	each<<<1, 32>>>([=] __device__(int i) {
		const double value = dx[i];
		if (modf(value, &dz[i]) < 0)
			dz[i] = -1;
		sincos(value, &dz[32 + i], &dz[64 + i]);
		dz[96 + i] = remquo(value, 3.0, &dn[i]) + std::frexp(value, &dn[32 + i]);
	});
	fetch(z, dz, 128);
	fetch(m, dn, 64);
	for (int i = 0; i < 32; i++) {
		int exponent, quotient;
		const double mantissa = std::frexp((double)x[i], &exponent);
		const double rest = std::remquo(x[i], 3.0f, &quotient);
		EXPECT(y[i] == 0.75f && y[32 + i] == 2 * i && z[i] == 2 * i);
		EXPECT(std::fabs(y[64 + i] - std::sin(x[i])) < 1e-6f && y[96 + i] == 2 * (float)mantissa);
		EXPECT(std::fabs(z[32 + i] - std::sin((double)x[i])) < 1e-12);
		EXPECT(std::fabs(z[64 + i] - std::cos((double)x[i])) < 1e-12 && z[96 + i] == rest + mantissa);
		EXPECT(n[i] == exponent && n[32 + i] == quotient && m[i] == quotient && m[32 + i] == exponent);
	}
}

int main()
{
	float x[512];
	for (int i = 0; i < 512; i++)
		x[i] = 0.001f * i;
	float *dx = device_copy(x, 512), *dy = device_zeros<float>(512);
	double *dz = device_zeros<double>(32);
	check_stores_of_functions();

	// pieces of 4 bytes
	//= each load=16*4*32/16/16 store=32*4*32/32/32 foot=64/128
	each<<<1, 32>>>([=] __device__(int) {
		memcpy(dy, dx, 16 * sizeof(float));
		memset(dy + 16, 0, 16 * sizeof(float));
	});
	const three p = {1, 2, 3};
	three *dp = device_copy(&p, 1), *dq = device_zeros<three>(33);
	//= each load=20/5/5 store=28/7/7
	each<<<1, 1>>>([=] __device__(int) {
		__builtin_memcpy(dq, dp, sizeof *dq);
		__builtin_memset(dq + 1, 0, 8);
		__builtin_memmove(&dq[1].b, &dp->b, 8); // what lies there may overlap
	});
	EXPECT(element(dq, 0).c == 3 && element(dq, 1).a == 0 && element(dq, 1).b == 2 && element(dq, 1).c == 3);
	// nested is 32 bytes: lanes a sector apart. a: 8 pieces, 3, 1, and 8 of a[0]; dq is 12 bytes: 12 sectors
	//= each load=20*128/20/12*32+8 store=13*128/13/8*32+3*12+32+12 foot=1024/1024+384
	each<<<1, 32>>>([=, a = (const nested *)dx, b = (nested *)dy] __device__(int i) {
		b[i] = a[i];
		dq[i] = a[i].first;
		b[i].last[2] = a[i].first.b;
		nested local = a[0];
		dq[i].a = local.last[4];
	});
	//= each load=192/3/3*6 store=192/3/3*6 foot=192/192
	each<<<1, 32>>>([=] __device__(int i) { ((shorts *)dy)[i] = ((const shorts *)dx)[i]; });
	// 4 bytes into a sector: of the four accesses the last reaches into a 17th, whatever lies at the other end
	//= each load=2*512/8/130 sstore=512/1/4/4 sload=512/4/16/4 store=3*512/12/195
	each<<<1, 32>>>([p = (four *)(device_zeros<float>(132) + 1)] __device__(int i) {
		__shared__ float4 tile[32];
		((four *)(plain[1] + 1))[i] = ((four *)(plain[0] + 1))[i];
		tile[i] = make_float4(1, 2, 3, 4);
		p[i] = *(four *)&tile[i];
		alignas(16) four better = p[i];
		p[i] = better;
	});
	//= each load=256/2/16 sstore=512/4/8/4 sload=512/4/8/4 store=256/2/16 barriers=2
	each<<<1, 32>>>([=] __device__(int i) {
		__shared__ __align__(16) float tile[64];
		__shared__ loose pairs[32];
		((loose *)tile)[i] = ((const loose *)dx)[i];
		__syncthreads();
		pairs[i] = ((loose *)tile)[31 - i];
		__syncthreads();
		((loose *)dy)[i] = pairs[i];
	});
	// in shared memory 4 words apart, wherever the other end lies
	//= each const=512/4 sstore=512/4/16/4/12 sload=512/4/16/4/12 store=512/4/4*16
	each<<<1, 32>>>([p = device_zeros<four>(32)] __device__(int i) {
		__shared__ four s[32];
		s[i] = of_constants[i];
		p[i] = s[i];
	});
	float *quads = device_zeros<float>(128), *pairs = device_zeros<float>(64);
	//= views load=512/1/16 sstore=512+512/2/8/8 sload=512+512+256/3/4+4+2/10 store=512+256/2/16+8 barriers=2
	views<<<1, 32, 512>>>((const float4 *)dx, (float4 *)quads, (float2 *)pairs);
	EXPECT(element(quads, 4) == x[120] && element(quads, 7) == x[123]);
	//= each store=128/1/4 sstore=256+256+512+512+256+128/6/2+2+4+4+2+1/2+2+4+4+2+1
	//+ sload=256+512+256+128+128+32/6/2+4+2+1+4+2/2+4+2+1+1+1
	each<<<1, 32>>>([=] __device__(int t) {
		__shared__ float pairs[64], doubles[64], quads[128], rows[8][16];
		__shared__ __align__(16) char raw[256], words[128];
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
		dy[t] = v.y + w.w + (d == 1.5) + i + quads[4 * t + 3] + raw[8 * t];
	});
	EXPECT(element(dy, 0) == 2 + 0 + 1 + 0 + 4 + 0 && element(dy, 31) == 2 + 31 + 1 + 31 + 4 + 31);
	// each type is as wide as it is: 32 of 1, 4, 1, 2, 8 and 1 bytes
	//= each load=64/1/2 store=32+128+32+64+256+32/6/1+4+1+2+8+1
	each<<<1, 32>>>([=, of = (char *)dy] __device__(int t) {
		((bool *)of)[t] = ((const short *)dx)[t] != 0;
		((uchar4 *)(of + 32))[t] = uchar4();
		((signed char *)of)[160 + t] = (signed char)-t;
		((short *)(of + 192))[t] = (short)(300 * t);
		((long long *)(of + 256))[t] = (long long)t << 40;
		((color *)of)[512 + t] = color::blue;
	});
	EXPECT(element((long long *)dy + 32, 31) == 31LL << 40 && element((color *)dy, 543) == color::blue);
	//= each load=10*128+16/11/10*4+1 store=2*128+256/3/16 exp=32*9+4
	each<<<1, 32>>>([=] __device__(int i) {
		dy[i] = expf(dx[i]) + __expf(dx[i]) + exp2f(dx[i]) + (i < 4 ? exp(dx[i]) : 0);
		dy[i] += exp10f(dx[i]) + expm1f(dx[i]);
		dz[i] = exp((double)dx[i]) + exp2((double)dx[i]) + exp10((double)dx[i]) + expm1((double)dx[i]);
	});
	CHECK(cudaDeviceSynchronize());
	return 0;
}
