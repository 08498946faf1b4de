/*
 * A C library that declares more than any does: every function of sim_cuda/math.h that is not C's, of the names
 * with __ and of bits.h some. Put before the real one with -I. With -DPLAIN it does not promise that they do not
 * throw, as a C library that knows nothing of C++ would have it.
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
TWO(float, __fadd_rn)
CONVERT(int, __float2int_rn, float)
ONE(int, __clz)
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
