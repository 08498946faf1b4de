/*
 * A C library that declares more than any does: every function of sim_cuda/math.h that is not C's, and some of
 * bits.h. Put before the real one with -I. With -DPLAIN it does not promise that they do not throw, as a C library that
 * knows nothing of C++ would have it.
 */
#include_next <math.h>

#ifndef NEWER_MATH_H
#define NEWER_MATH_H

#if !defined(__cplusplus)
#define NOT_THROWING
#elif defined(PLAIN)
#define NOT_THROWING
extern "C" {
#else
#define NOT_THROWING noexcept
extern "C" {
#endif
#define ONE(type, name)         extern type name(type) NOT_THROWING;
#define TWO(type, name)         extern type name(type, type) NOT_THROWING;
#define THREE(type, name)       extern type name(type, type, type) NOT_THROWING;
#define CONVERT(to, name, from) extern to name(from) NOT_THROWING;

ONE(double, rsqrt)
ONE(float, rsqrtf)
ONE(double, rcbrt)
ONE(float, rcbrtf)
ONE(double, sinpi)
ONE(float, sinpif)
ONE(double, cospi)
ONE(float, cospif)
TWO(double, rhypot)
TWO(float, rhypotf)
THREE(double, norm3d)
THREE(float, norm3df)
THREE(float, rnorm3df)
extern float norm4df(float, float, float, float) NOT_THROWING;
ONE(double, normcdf)
ONE(float, normcdff)
TWO(float, fdividef)
TWO(unsigned, umin)
TWO(unsigned, umax)
TWO(long long, llmin)
TWO(long long, llmax)
TWO(unsigned long long, ullmin)
TWO(unsigned long long, ullmax)

/* In glibc 2.42 or later, and not ours (yet). */
ONE(double, tanpi)
ONE(float, tanpif)
ONE(double, exp10m1)
ONE(float, exp10m1f)
extern double rootn(double, long long) NOT_THROWING;
extern double pown(double, long long) NOT_THROWING;
TWO(double, powr)

#ifndef PLAIN
/* Names that belong to the implementation: another part of it may have them, too. */
extern int min(int, int) NOT_THROWING;
extern int max(int, int) NOT_THROWING;
ONE(float, __expf)
ONE(float, __exp10f)
ONE(float, __logf)
ONE(float, __log2f)
ONE(float, __log10f)
TWO(float, __powf)
ONE(float, __sinf)
ONE(float, __cosf)
ONE(float, __tanf)
ONE(float, __tanhf)
extern void __sincosf(float, float *, float *) NOT_THROWING;
TWO(float, __fdividef)
ONE(float, __saturatef)
ONE(float, __fsqrt_rn)
ONE(float, __frcp_rn)
ONE(float, __frsqrt_rn)
TWO(float, __fdiv_rn)
THREE(float, __fmaf_rn)
THREE(double, __fma_rn)
ONE(double, __dsqrt_rn)
TWO(double, __ddiv_rn)
ONE(double, __drcp_rn)
TWO(float, __fadd_rn)
TWO(float, __fsub_rn)
TWO(float, __fmul_rn)
TWO(double, __dadd_rn)
TWO(double, __dsub_rn)
TWO(double, __dmul_rn)
CONVERT(int, __float2int_rn, float)
CONVERT(int, __float2int_rz, float)
CONVERT(unsigned, __float2uint_rd, float)
CONVERT(long long, __float2ll_ru, float)
CONVERT(int, __double2int_rn, double)
CONVERT(unsigned long long, __double2ull_rz, double)
CONVERT(float, __int2float_rn, int)
CONVERT(float, __uint2float_rn, unsigned)
CONVERT(float, __ll2float_rn, long long)
CONVERT(float, __ull2float_rn, unsigned long long)
CONVERT(double, __int2double_rn, int)
CONVERT(double, __uint2double_rn, unsigned)
CONVERT(double, __ll2double_rn, long long)
CONVERT(double, __ull2double_rn, unsigned long long)
CONVERT(float, __double2float_rn, double)
ONE(int, __clz)
ONE(int, __ffs)
CONVERT(int, __popc, unsigned)
ONE(unsigned, __brev)
#endif

#ifdef __cplusplus
}
#endif
#undef NOT_THROWING
#undef ONE
#undef TWO
#undef THREE
#undef CONVERT
#endif
