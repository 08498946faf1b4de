// C's functions that store one of their results through a pointer: a store like any other.
#include "check.cuh"

#include <cmath>

#undef sincosf // the C library's own
#undef sincos

__global__ void floats(const float *x, float *y, int *n)
{
	__shared__ float cosine[32];
	const int i = threadIdx.x;
	const float value = x[i];
	int kept; // of the thread alone: no access
	y[i] = modff(value, &y[32 + i]);
	sincosf(value, &y[64 + i], &cosine[i]);
	y[96 + i] = std::frexp(value, &n[i]) + frexpf(value, &kept);
	remquof(value, 3.0f, &n[32 + i]);
}

__global__ void doubles(const float *x, double *y, int *n)
{
	const int i = threadIdx.x;
	const double value = x[i];
	if (modf(value, &y[i]) < 0)
		y[i] = -1;
	sincos(value, &y[32 + i], &y[64 + i]);
	y[96 + i] = remquo(value, 3.0, &n[i]) + std::frexp(value, &n[32 + i]);
}

int main()
{
	float x[32], y[128];
	double z[128];
	int n[64], m[64];
	for (int i = 0; i < 32; i++)
		x[i] = 0.75f + 2 * i;
	float *dx = device_copy(x, 32), *dy = device_zeros<float>(128);
	double *dz = device_zeros<double>(128);
	int *dn = device_zeros<int>(64);

	//= floats load=128/1/4 store=6*128/6/6*4 sstore=128/1/1/1
	floats<<<1, 32>>>(dx, dy, dn);
	fetch(y, dy, 128);
	fetch(n, dn, 64);
	//= doubles load=128/1/4 store=4*256+2*128/6/4*8+2*4
	doubles<<<1, 32>>>(dx, dz, dn);
	fetch(z, dz, 128);
	fetch(m, dn, 64);
	for (int i = 0; i < 32; i++) {
		int exponent, quotient;
		const double mantissa = std::frexp((double)x[i], &exponent),
			     rest = std::remquo(x[i], 3.0f, &quotient);
		EXPECT(y[i] == 0.75f && y[32 + i] == 2 * i && z[i] == 2 * i);
		EXPECT(std::fabs(y[64 + i] - std::sin(x[i])) < 1e-6f && y[96 + i] == 2 * (float)mantissa);
		EXPECT(std::fabs(z[32 + i] - std::sin((double)x[i])) < 1e-12);
		EXPECT(std::fabs(z[64 + i] - std::cos((double)x[i])) < 1e-12 && z[96 + i] == rest + mantissa);
		EXPECT(n[i] == exponent && n[32 + i] == quotient && m[i] == quotient && m[32 + i] == exponent);
	}
	return 0;
}
