// __half and __nv_bfloat16: each is read and written in one access of 2 bytes, a pair in one of 4; arithmetic is
// rounded once, to nearest, ties to even.
#include "check.cuh"

#include <cuda_bf16.h>
#include <cuda_fp16.h>

__device__ __half twice(__half h)
{
	return h + h;
}
__device__ __half first(const __half *p)
{
	return p[0];
}

template <class T>
__global__ void arithmetic(const T *a, const T *b, const T *c, T *y)
{
	const int i = threadIdx.x;
	y[i] = a[i] + b[i];
	y[i + 32] = a[i] - b[i];
	y[i + 64] = a[i] * b[i];
	y[i + 96] = a[i] / b[i];
	y[i + 128] = __hfma(a[i], b[i], c[i]);
}

// The nearest of two neighbors, by hand: a reference that shares no line with the headers.
static double value_of(unsigned bits, int fraction, int bias)
{
	const int exponent = (int)(bits >> fraction & ((1u << (15 - fraction)) - 1));
	const double significand = (double)(bits & ((1u << fraction) - 1)) / (1 << fraction) + (exponent != 0);
	return (bits & 0x8000 ? -1 : 1) * ldexp(significand, (exponent != 0 ? exponent : 1) - bias);
}
static bool is_nearest(long double exact, unsigned bits, int fraction, int bias)
{
	const long double off = fabsl(exact - value_of(bits, fraction, bias));
	if ((bits & 0x7fff) == 0x7fffu >> fraction << fraction) // infinity: as far as the next number would be
		return fabsl(exact) >= ldexpl(2 - ldexpl(1, -fraction - 1), bias);
	for (int step = -1; step <= 1; step += 2) {
		const unsigned next = (bits & 0x7fff) == 0 && step < 0 ? 0x8001 - (bits >> 15) * 0x8000 : bits + step;
		if ((next & 0x7fff) == 0x7fffu >> fraction << fraction)
			continue;
		const long double other = fabsl(exact - value_of(next, fraction, bias));
		if (other < off || (other == off && (bits & 1)))
			return false;
	}
	return true;
}

static unsigned random_state = 12345;
static unsigned short random_bits(int fraction)
{
	random_state = random_state * 1664525 + 1013904223;
	const unsigned bits = random_state >> 16;
	// exponents near 1, so that sums and products do not all overflow; some below the normal numbers
	const unsigned exponent = bits % 16 == 0 ? 0 : (fraction == 10 ? 15 : 127) - 4 + (random_state >> 8) % 8;
	return (unsigned short)((bits & 0x8000) | exponent << fraction | (bits & ((1u << fraction) - 1)));
}

template <class T>
static void check_arithmetic(int fraction, int bias)
{
	T a[32], b[32], c[32], y[160], *da, *db, *dc, *dy = device_zeros<T>(160);
	for (int i = 0; i < 32; i++) {
		unsigned short bits[3] = {random_bits(fraction), random_bits(fraction), random_bits(fraction)};
		if ((bits[1] & 0x7fff) == 0)
			bits[1] = 1;
		memcpy(&a[i], &bits[0], 2);
		memcpy(&b[i], &bits[1], 2);
		memcpy(&c[i], &bits[2], 2);
	}
	da = device_copy(a, 32), db = device_copy(b, 32), dc = device_copy(c, 32);
	arithmetic<T><<<1, 32>>>(da, db, dc, dy);
	fetch(y, dy, 160);
	for (int i = 0; i < 32; i++) {
		unsigned short bits[3], got[5];
		memcpy(&bits[0], &a[i], 2);
		memcpy(&bits[1], &b[i], 2);
		memcpy(&bits[2], &c[i], 2);
		for (int k = 0; k < 5; k++)
			memcpy(&got[k], &y[i + 32 * k], 2);
		const long double p = value_of(bits[0], fraction, bias), q = value_of(bits[1], fraction, bias);
		const long double r = value_of(bits[2], fraction, bias);
		EXPECT((float)p == (float)a[i] && is_nearest(p + q, got[0], fraction, bias));
		EXPECT(is_nearest(p - q, got[1], fraction, bias) && is_nearest(p * q, got[2], fraction, bias));
		EXPECT(is_nearest(p / q, got[3], fraction, bias) && is_nearest(p * q + r, got[4], fraction, bias));
	}
	cudaFree(da), cudaFree(db), cudaFree(dc), cudaFree(dy);
}

int main()
{
	__half x[96], y[64], *dx, *dy = device_zeros<__half>(64);
	__half2 p[64], q[32], *dp, *dq = device_zeros<__half2>(64);
	float *df = device_zeros<float>(32);
	float2 *dg = device_zeros<float2>(32);
	for (int i = 0; i < 96; i++)
		x[i] = __float2half(0.25f * (float)(i - 20));
	for (int i = 0; i < 64; i++)
		p[i] = __floats2half2_rn((float)i, -0.5f * (float)i);
	dx = device_copy(x, 96);
	dp = device_copy(p, 64);

	// x[i] < x[i + 32] holds for all; loads of 4 bytes are f[i]
	//= each load=23*64+64+128/25/23*2+2+4 store=14*64+3*128/17/14*2+3*4 exp=32
	each<<<1, 32>>>([x = dx, y = dy, f = df] __device__(int i) {
		y[i] = x[i];
		__half h = x[i];
		y[i + 32] = h;
		f[i] = __half2float(x[i]);
		f[i] = (float)x[i];
		y[i] = __float2half(f[i]);
		y[i] = x[i] + x[i + 32];
		y[i] += x[i];
		y[i] = __hmul(x[i], x[i + 32]);
		y[i] = twice(x[i]);
		y[i] = first(x + i);
		y[i] = __hfma(x[i], x[i + 32], x[i + 64]);
		y[i] = __hmax(x[i], x[i + 32]);
		if (x[i] < x[i + 32])
			y[i] = -x[i];
		y[i] = __shfl_xor_sync(0xffffffff, x[i], 1);
		y[i] = __ldg(&x[i]);
		f[i] = __half_as_ushort(x[i]);
		y[i] = hexp(x[i]);
	});
	fetch(y, dy, 64);
	for (int i = 0; i < 32; i++)
		EXPECT((float)y[i + 32] == 0.25f * (float)(i - 20) &&
		       fabsf((float)y[i] / expf((float)x[i]) - 1) < 1e-3f);

	//= each load=12*128+64+256+2*64/16/12*4+4+8+2*2 store=7*128+2*128+256/10/7*4+2*4+8
	each<<<1, 32>>>([x = dx, p = dp, q = dq, f = df, g = dg] __device__(int i) {
		q[i] = p[i];
		q[i] = __hadd2(p[i], p[i + 32]);
		q[i] = p[i] * p[i + 32];
		q[i] += p[i];
		q[i] = __hfma2(p[i], p[i + 32], q[i]);
		f[i] = __low2float(p[i]);
		f[i] = p[i].x; // 2 bytes
		g[i] = __half22float2(p[i]);
		q[i] = __float22half2_rn(g[i]);
		q[i] = __halves2half2(x[i], x[i + 32]);
	});
	fetch(q, dq, 32);
	for (int i = 0; i < 32; i++)
		EXPECT((float)q[i].x == (float)x[i] && __high2float(q[i]) == (float)x[i + 32]);
	//= arithmetic<__half> load=11*64/11/22 store=5*64/5/10 x20
	for (int repeat = 0; repeat < 20; repeat++)
		check_arithmetic<__half>(10, 15);
	//= arithmetic<__nv_bfloat16> load=11*64/11/22 store=5*64/5/10 x20
	for (int repeat = 0; repeat < 20; repeat++)
		check_arithmetic<__nv_bfloat16>(7, 127);

	// Ties, what is too large, what is too small, NaN, and a sum that double alone would round wrongly.
	EXPECT(__half_as_ushort(__float2half(2049.0f)) == 0x6800 &&
	       __half_as_ushort(__float2half(2051.0f)) == 0x6802);
	EXPECT(__half_as_ushort(__float2half(65519.0f)) == 0x7bff &&
	       __half_as_ushort(__float2half(65520.0f)) == 0x7c00);
	EXPECT(__half_as_ushort(__float2half(-3e-8f)) == 0x8001 && __half_as_ushort(__float2half(2.9e-8f)) == 0);
	EXPECT(__half_as_ushort(__float2half(0.0f / (float)(x[20]))) == 0x7fff && __hisnan(__float2half(NAN)));
	const __half zero = 0.0f, less = -0.0f;
	EXPECT(__half_as_ushort(__hmax(zero, less)) == 0 && __half_as_ushort(__hmin(zero, less)) == 0x8000);
	const __nv_bfloat16 one = 1.0f, half_way = 1.0f / 256, tiny = 0x1p-100f;
	EXPECT(__bfloat16_as_ushort(__hfma(one, one, half_way)) == 0x3f80); // a tie: to even
	EXPECT(__bfloat16_as_ushort(__hfma(__nv_bfloat16(1.0078125f), __nv_bfloat16(0.99609375f), tiny)) == 0x3f80);
	// 1.5 * 1.0078125 lies half-way between 0x3fc1 and 0x3fc2; what is added is too small for a double beside it
	const __nv_bfloat16 a = 1.5f, b = 1.0078125f;
	EXPECT(__bfloat16_as_ushort(a * b) == 0x3fc2 && __bfloat16_as_ushort(__hfma(a, b, tiny)) == 0x3fc2);
	EXPECT(__bfloat16_as_ushort(__hfma(a, b, -tiny)) == 0x3fc1);
	EXPECT((float)__hfma(one, __nv_bfloat16(0x1.02p-8f), one) == 1.0078125f);

	// To int: the nearest there is, and 0 for a NaN. In a kernel, too.
	EXPECT(__half2int_rn(INFINITY) == INT_MAX && __half2int_rz(-INFINITY) == INT_MIN && __half2int_rz(NAN) == 0);
	EXPECT(__bfloat162int_rn(0x1p31f) == INT_MAX && __bfloat162int_rz(-0x1p31f) == INT_MIN);
	EXPECT(__bfloat162int_rz(-0x1.02p31f) == INT_MIN && __bfloat162int_rn(NAN) == 0);
	EXPECT(__half2int_rn(2.5f) == 2 && __half2int_rz(-2.5f) == -2 && __bfloat162int_rn(-3.5f) == -4);
	// An integer that double has not enough bits for, just above and just below half-way: rounded once.
	const long long middle = (1LL << 62) + (1LL << 54);
	EXPECT((float)__nv_bfloat16(middle) == 0x1p62f && (float)__nv_bfloat16(middle + 1) == 0x1.02p62f);
	EXPECT((float)__nv_bfloat16(-middle - 1) == -0x1.02p62f && (float)__nv_bfloat16(LLONG_MIN) == -0x1p63f);
	EXPECT((float)__nv_bfloat16(middle + (1LL << 55) - 1) == 0x1.02p62f);
	EXPECT((float)__nv_bfloat16(0x8080000000000001u) == 0x1.02p63f && (float)__nv_bfloat16(~0ul) == 0x1p64f);
	EXPECT((float)__half(2049l) == 2048 && (float)__half((1ull << 53) + 1) == INFINITY);
	int whole_numbers[4], *dw = device_zeros<int>(4);
	//= each store=16/4/4
	each<<<1, 1>>>([y = dw, infinity = INFINITY, nan = NAN, number = middle + 1] __device__(int) {
		y[0] = __half2int_rn(infinity);
		y[1] = __bfloat162int_rz(-infinity);
		y[2] = __half2int_rz(nan);
		y[3] = __bfloat16_as_ushort(number);
	});
	fetch(whole_numbers, dw, 4);
	EXPECT(whole_numbers[0] == INT_MAX && whole_numbers[1] == INT_MIN && whole_numbers[2] == 0);
	EXPECT(whole_numbers[3] == 0x5e81);
	return 0;
}
