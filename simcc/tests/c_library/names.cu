/*
 * Every function of sim_cuda/math.h that is not C's, called by device and host code, with a result known beforehand.
 * The C library's headers are read again after ours.
 */
#include <cmath>
#include <cstdio>
#include <cuda_runtime.h>
#include <math.h>

#define CASES(CASE)                                                                                                  \
	CASE(rsqrt(4.0), 0.5)                                                                                        \
	CASE(rsqrt(4.0f), 0.5)                                                                                       \
	CASE(rsqrtf(4.0f), 0.5)                                                                                      \
	CASE(rcbrt(8.0), 0.5)                                                                                        \
	CASE(rcbrtf(8.0f), 0.5)                                                                                      \
	CASE(sinpi(0.5), 1)                                                                                          \
	CASE(sinpif(1.5f), -1)                                                                                       \
	CASE(cospi(1.0), -1)                                                                                         \
	CASE(cospif(2.0f), 1)                                                                                        \
	CASE(rhypot(3.0, 4.0), 0.2)                                                                                  \
	CASE(rhypotf(3.0f, 4.0f), 0.2)                                                                               \
	CASE(norm3d(2.0, 3.0, 6.0), 7)                                                                               \
	CASE(norm3df(2.0f, 3.0f, 6.0f), 7)                                                                           \
	CASE(rnorm3df(2.0f, 3.0f, 6.0f), 1.0 / 7)                                                                    \
	CASE(norm4df(2.0f, 4.0f, 5.0f, 6.0f), 9)                                                                     \
	CASE(normcdf(0.0), 0.5)                                                                                      \
	CASE(normcdff(0.0f), 0.5)                                                                                    \
	CASE(fdividef(1.0f, 4.0f), 0.25)                                                                             \
	CASE(__fdividef(1.0f, 4.0f), 0.25)                                                                           \
	CASE(umin(3u, 4u) + umax(3u, 5u), 8)                                                                         \
	CASE(llmin(-3, 4) + llmax(-3, 5), 2)                                                                         \
	CASE(ullmin(3, 4) + ullmax(3, 5), 8)                                                                         \
	CASE(min(3, 4) + max(3, 5), 8)                                                                               \
	CASE(min(3.5f, 4.0f) + max(3.0, 5.0), 8.5)                                                                   \
	CASE(exp10(2.0), 100)                                                                                        \
	CASE(exp10f(2.0f), 100)                                                                                      \
	CASE(__exp10f(2.0f), 100)                                                                                    \
	CASE(__expf(0.0f) + __logf(1.0f) + __log2f(8.0f) + __log10f(10.0f), 5)                                       \
	CASE(__powf(2.0f, 3.0f) + __sinf(0.0f) + __cosf(0.0f) + __tanf(0.0f) + __tanhf(0.0f), 9)                     \
	CASE(__saturatef(3.0f), 1)                                                                                   \
	CASE(__fsqrt_rn(4.0f) + __frcp_rn(4.0f) + __frsqrt_rn(4.0f) + __fdiv_rn(1.0f, 4.0f), 3)                      \
	CASE(__fmaf_rn(2.0f, 3.0f, 4.0f) + __fma_rn(2.0, 3.0, 4.0), 20)                                              \
	CASE(__dsqrt_rn(4.0) + __ddiv_rn(1.0, 4.0) + __drcp_rn(4.0), 2.5)                                            \
	CASE(__fadd_rn(1.0f, 2.0f) + __fsub_rn(1.0f, 2.0f) + __fmul_rn(1.0f, 2.0f), 4)                               \
	CASE(__dadd_rn(1.0, 2.0) + __dsub_rn(1.0, 2.0) + __dmul_rn(1.0, 2.0), 4)                                     \
	CASE(__float2int_rn(2.5f) + __float2int_rz(2.5f) + __float2uint_rd(2.5f) + __float2ll_ru(2.5f), 9)           \
	CASE(__double2int_rn(2.5) + __double2ull_rz(2.5), 4)                                                         \
	CASE(__int2float_rn(2) + __uint2float_rn(3) + __ll2float_rn(4) + __ull2float_rn(5), 14)                      \
	CASE(__int2double_rn(2) + __uint2double_rn(3) + __ll2double_rn(4) + __ull2double_rn(5), 14)                  \
	CASE(__double2float_rn(2.5), 2.5)                                                                            \
	CASE(__clz(0) + __clz(1) + __ffs(8) + __popc(7), 70)                                                         \
	CASE(__brev(1u) >> 31, 1)                                                                                    \
	CASE(sine_and_cosine(), 1)

enum { MOST = 64 };

static __host__ __device__ double sine_and_cosine()
{
	double sine, cosine, sum;
	float sinef, cosinef;

	sincos(0.0, &sine, &cosine);
	sum = sine + cosine;
	sincosf(0.0f, &sinef, &cosinef);
	sum *= sinef + cosinef;
	sincos(0.0f, &sinef, &cosinef);
	sum *= sinef + cosinef;
	__sincosf(0.0f, &sinef, &cosinef);
	return sum * (sinef + cosinef);
}

__global__ void call(double *results)
{
	int i = 0;

#define STORE(expression, want) results[i++] = static_cast<double>(expression);
	CASES(STORE)
}

static int is_wrong(const char *where, const char *expression, double result, double want)
{
	if (fabs(result - want) <= 1e-6 * fabs(want))
		return 0;
	printf("%s: %s is %.9g, not %.9g\n", where, expression, result, want);
	return 1;
}

int main()
{
	double *device, results[MOST];
	double (*volatile root)(double) = rsqrt; // a function has an address, too
	int i = 0, wrong = is_wrong("host", "*root", root(4.0), 0.5);

	cudaMalloc(reinterpret_cast<void **>(&device), sizeof results);
	call<<<1, 1>>>(device);
	if (cudaMemcpy(results, device, sizeof results, cudaMemcpyDeviceToHost) != cudaSuccess)
		return 1;
#define COMPARE(expression, want)                                                                                    \
	wrong += is_wrong("device", #expression, results[i++], want);                                                \
	wrong += is_wrong("host", #expression, static_cast<double>(expression), want);
	CASES(COMPARE)
	printf("%d of %d calls are wrong\n", wrong, 2 * i + 1);
	return wrong > 0;
}
