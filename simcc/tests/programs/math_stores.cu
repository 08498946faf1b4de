// C's functions that store one of their results through a pointer: a store like any other.
#include "check.cuh"

#include <cmath>

__global__ void split(const float *x, float *whole, float *rest)
{
	int i = threadIdx.x;
	rest[i] = modff(x[i], &whole[i]);
}

__global__ void split_double(const float *x, double *whole)
{
	int i = threadIdx.x;
	if (modf((double)x[i], &whole[i]) < 0)
		whole[i] = -1;
}

__global__ void exponents(const float *x, int *exponent, int *quotient)
{
	int i = threadIdx.x;
	int kept; // of the thread alone: no access
	float mantissa = std::frexp(x[i], &exponent[i]);
	quotient[32] = (int)(mantissa + frexpf(x[i], &kept));
	remquof(x[i], 3.0f, &quotient[i]);
}

#undef sincosf // the C library's own
__global__ void circle(const float *x, float *sine)
{
	__shared__ float cosine[32];
	int i = threadIdx.x;
	sincosf(x[i], &sine[i], &cosine[i]);
}

#undef sincos
__global__ void doubles(const float *x, double *y, int *quotient)
{
	int i = threadIdx.x;
	sincos((double)x[i], &y[i], &y[32 + i]);
	y[64 + i] = remquo((double)x[i], 3.0, &quotient[i]);
}

int main()
{
	float x[32];
	for (int i = 0; i < 32; i++)
		x[i] = 0.75f + 2 * i;
	float *dx = device_copy(x, 32), *dy = device_zeros<float>(32), *dw = device_zeros<float>(32);
	double *dz = device_zeros<double>(32);
	int *dn = device_zeros<int>(32), *dq = device_zeros<int>(33);

	//= split load=128/1/4 store=2*128/2/2*4
	split<<<1, 32>>>(dx, dw, dy);
	EXPECT(element(dw, 3) == 6);
	//= split_double load=128/1/4 store=256/1/8
	split_double<<<1, 32>>>(dx, dz);
	EXPECT(element(dz, 5) == 10);
	//= exponents load=3*128/3/3*4 store=3*128/3/4+1+4
	exponents<<<1, 32>>>(dx, dn, dq);
	EXPECT(element(dn, 1) == 2 && element(dn, 31) == 6);
	//= circle load=128/1/4 store=128/1/4 sstore=128/1/1/1
	circle<<<1, 32>>>(dx, dy);
	EXPECT(std::fabs(element(dy, 2) - std::sin(4.75f)) < 1e-6f);
	double *dd = device_zeros<double>(96);
	//= doubles load=2*128/2/2*4 store=3*256+128/4/3*8+4
	doubles<<<1, 32>>>(dx, dd, dn);
	EXPECT(std::fabs(element(dd, 2) - std::sin(4.75)) + std::fabs(element(dd, 34) - std::cos(4.75)) < 1e-12);
	EXPECT(element(dd, 66) == -1.25 && element(dn, 2) == 2);
	return 0;
}
