/*
 * Arithmetic that CUDA has and C does not: min and max, fast intrinsics, conversions with a rounding mode.
 *
 * Fast intrinsics are the accurate functions here. Names rounding toward zero, up or down (__fadd_rz, ...) are
 * left out: a wrong last digit would be worse than a message. So are functions that need a library of their
 * own (erfcxf, normcdfinvf, ...). min and max take values: a reference would count as an access.
 *
 * A newer C library declares some of these names itself (glibc 2.41 sinpi, 2.42 rsqrt). So the functions are defined
 * as C would declare them (SIM_C_INLINE): a declaration before or after them is then one more of the same function,
 * whichever names that library has.
 */
#ifndef SIM_CUDA_MATH_H
#define SIM_CUDA_MATH_H

#include <math.h>

#include <sim_cuda/bits.h>

/*
 * SIM_C_INLINE for a name that a C library may have declared before, and with or without noexcept: then it is
 * declared so here. Overload resolution tells: noexcept(name(0.0)) asks the library's function, or, if there is none,
 * the one that takes anything.
 */
#define SIM_C_FUNCTION(type, name, parameters, arguments)                                                            \
	namespace sim_otherwise                                                                                      \
	{                                                                                                            \
	int name(...) noexcept;                                                                                      \
	}                                                                                                            \
	namespace sim_declared                                                                                       \
	{                                                                                                            \
	using namespace sim_otherwise;                                                                               \
	constexpr bool name##_as_noexcept = noexcept(name arguments);                                                \
	}                                                                                                            \
	SIM_C_INLINE type name parameters noexcept(sim_declared::name##_as_noexcept)

/* ---- min and max ---- */

#define SIM_MIN_MAX(linkage, result, a_type, b_type)                                                                 \
	linkage result min(a_type a, b_type b) noexcept                                                              \
	{                                                                                                            \
		const result first_ = static_cast<result>(a), second_ = static_cast<result>(b);                      \
		return second_ < first_ ? second_ : first_;                                                          \
	}                                                                                                            \
	linkage result max(a_type a, b_type b) noexcept                                                              \
	{                                                                                                            \
		const result first_ = static_cast<result>(a), second_ = static_cast<result>(b);                      \
		return first_ < second_ ? second_ : first_;                                                          \
	}
/* of a number and a NaN, the number: as fminf and fmaxf */
#define SIM_MIN_MAX_REAL(linkage, result, a_type, b_type)                                                            \
	linkage result min(a_type a, b_type b) noexcept                                                              \
	{                                                                                                            \
		const result first_ = a, second_ = b;                                                                \
		return first_ < second_ || second_ != second_ ? first_ : second_;                                    \
	}                                                                                                            \
	linkage result max(a_type a, b_type b) noexcept                                                              \
	{                                                                                                            \
		const result first_ = a, second_ = b;                                                                \
		return first_ > second_ || second_ != second_ ? first_ : second_;                                    \
	}
SIM_MIN_MAX(SIM_C_INLINE, int, int, int)
SIM_MIN_MAX(SIM_INLINE, unsigned, unsigned, unsigned)
SIM_MIN_MAX(SIM_INLINE, unsigned, int, unsigned)
SIM_MIN_MAX(SIM_INLINE, unsigned, unsigned, int)
SIM_MIN_MAX(SIM_INLINE, long, long, long)
SIM_MIN_MAX(SIM_INLINE, unsigned long, unsigned long, unsigned long)
SIM_MIN_MAX(SIM_INLINE, unsigned long, long, unsigned long)
SIM_MIN_MAX(SIM_INLINE, unsigned long, unsigned long, long)
SIM_MIN_MAX(SIM_INLINE, long long, long long, long long)
SIM_MIN_MAX(SIM_INLINE, unsigned long long, unsigned long long, unsigned long long)
SIM_MIN_MAX(SIM_INLINE, unsigned long long, long long, unsigned long long)
SIM_MIN_MAX(SIM_INLINE, unsigned long long, unsigned long long, long long)
SIM_MIN_MAX_REAL(SIM_INLINE, float, float, float)
SIM_MIN_MAX_REAL(SIM_INLINE, double, double, double)
SIM_MIN_MAX_REAL(SIM_INLINE, double, float, double)
SIM_MIN_MAX_REAL(SIM_INLINE, double, double, float)
#undef SIM_MIN_MAX
#undef SIM_MIN_MAX_REAL

SIM_C_FUNCTION(unsigned, umin, (unsigned a, unsigned b), (0u, 0u))
{
	return min(a, b);
}
SIM_C_FUNCTION(unsigned, umax, (unsigned a, unsigned b), (0u, 0u))
{
	return max(a, b);
}
SIM_C_FUNCTION(long long, llmin, (long long a, long long b), (0ll, 0ll))
{
	return min(a, b);
}
SIM_C_FUNCTION(long long, llmax, (long long a, long long b), (0ll, 0ll))
{
	return max(a, b);
}
SIM_C_FUNCTION(unsigned long long, ullmin, (unsigned long long a, unsigned long long b), (0ull, 0ull))
{
	return min(a, b);
}
SIM_C_FUNCTION(unsigned long long, ullmax, (unsigned long long a, unsigned long long b), (0ull, 0ull))
{
	return max(a, b);
}

/*
 * ---- fast intrinsics, single precision ----
 *
 * Other names of C's functions, for the C library declares some of these names itself. Exponentials among them
 * are counted as expf is: simcc sends device code's calls of expf and its kin to the engine.
 */
extern "C" float exp10f(float) noexcept; /* GNU's: not every C library declares them */
extern "C" double exp10(double) noexcept;
#define __expf   expf
#define __exp10f exp10f
#define __logf   logf
#define __log2f  log2f
#define __log10f log10f
#define __powf   powf
#define __sinf   sinf
#define __cosf   cosf
#define __tanf   tanf
#define __tanhf  tanhf

/* Not the C library's sincosf: its stores would go unseen. */
#define SIM_SINCOS(linkage, name, type, sine_of, cosine_of)                                                          \
	linkage void name(type x, type *sine, type *cosine) noexcept                                                 \
	{                                                                                                            \
		*sine = sine_of(x);                                                                                  \
		*cosine = cosine_of(x);                                                                              \
	}
SIM_SINCOS(SIM_C_INLINE, sim_sincosf, float, sinf, cosf)
SIM_SINCOS(SIM_C_INLINE, sim_sincos, double, sin, cos)
SIM_SINCOS(SIM_INLINE, sim_sincos, float, sinf, cosf)
#undef SIM_SINCOS
#define sincos    sim_sincos
#define sincosf   sim_sincosf
#define __sincosf sim_sincosf

SIM_C_INLINE float __fdividef(float a, float b) noexcept
{
	return a / b;
}
SIM_C_FUNCTION(float, fdividef, (float a, float b), (0.0f, 0.0f))
{
	return a / b;
}
SIM_C_INLINE float __saturatef(float x) noexcept
{
	return x > 0.0f ? (x < 1.0f ? x : 1.0f) : 0.0f;
}
SIM_C_INLINE float __fsqrt_rn(float x) noexcept
{
	return sqrtf(x);
}
SIM_C_INLINE float __frcp_rn(float x) noexcept
{
	return 1.0f / x;
}
SIM_C_INLINE float __frsqrt_rn(float x) noexcept
{
	return static_cast<float>(1.0 / sqrt(static_cast<double>(x)));
}
SIM_C_INLINE float __fdiv_rn(float a, float b) noexcept
{
	return a / b;
}
SIM_C_INLINE float __fmaf_rn(float a, float b, float c) noexcept
{
	return fmaf(a, b, c);
}
SIM_C_INLINE double __fma_rn(double a, double b, double c) noexcept
{
	return fma(a, b, c);
}
SIM_C_INLINE double __dsqrt_rn(double x) noexcept
{
	return sqrt(x);
}
SIM_C_INLINE double __ddiv_rn(double a, double b) noexcept
{
	return a / b;
}
SIM_C_INLINE double __drcp_rn(double x) noexcept
{
	return 1.0 / x;
}

/* These promise not to be merged into a multiply-add: the result passes through the empty asm. */
#ifdef __aarch64__
#define SIM_IN_REGISTER(value) "+w"(value)
#else
#define SIM_IN_REGISTER(value) "+x"(value)
#endif
#define SIM_ROUNDED(name, type, operation)                                                                           \
	SIM_C_INLINE type name(type a, type b) noexcept                                                              \
	{                                                                                                            \
		type result_ = a operation b;                                                                        \
		__asm__("" : SIM_IN_REGISTER(result_));                                                              \
		return result_;                                                                                      \
	}
SIM_ROUNDED(__fadd_rn, float, +)
SIM_ROUNDED(__fsub_rn, float, -)
SIM_ROUNDED(__fmul_rn, float, *)
SIM_ROUNDED(__dadd_rn, double, +)
SIM_ROUNDED(__dsub_rn, double, -)
SIM_ROUNDED(__dmul_rn, double, *)
#undef SIM_ROUNDED
#undef SIM_IN_REGISTER

/* ---- functions beyond C's ---- */

SIM_C_FUNCTION(float, rsqrtf, (float x), (0.0f))
{
	return 1.0f / sqrtf(x);
}
SIM_C_FUNCTION(double, rsqrt, (double x), (0.0))
{
	return 1.0 / sqrt(x);
}
/* The overload for float is C++, beside C's function. */
SIM_INLINE float rsqrt(float x)
{
	return rsqrtf(x);
}
SIM_C_FUNCTION(float, rcbrtf, (float x), (0.0f))
{
	return 1.0f / cbrtf(x);
}
SIM_C_FUNCTION(double, rcbrt, (double x), (0.0))
{
	return 1.0 / cbrt(x);
}
SIM_C_FUNCTION(double, sinpi, (double x), (0.0))
{
	return sin(3.14159265358979323846 * fmod(x, 2.0));
}
SIM_C_FUNCTION(double, cospi, (double x), (0.0))
{
	return cos(3.14159265358979323846 * fmod(x, 2.0));
}
SIM_C_FUNCTION(float, sinpif, (float x), (0.0f))
{
	return static_cast<float>(sinpi(static_cast<double>(x)));
}
SIM_C_FUNCTION(float, cospif, (float x), (0.0f))
{
	return static_cast<float>(cospi(static_cast<double>(x)));
}
SIM_C_FUNCTION(double, rhypot, (double x, double y), (0.0, 0.0))
{
	return 1.0 / hypot(x, y);
}
SIM_C_FUNCTION(float, rhypotf, (float x, float y), (0.0f, 0.0f))
{
	return 1.0f / hypotf(x, y);
}
SIM_C_FUNCTION(double, norm3d, (double x, double y, double z), (0.0, 0.0, 0.0))
{
	return hypot(hypot(x, y), z);
}
SIM_C_FUNCTION(float, norm3df, (float x, float y, float z), (0.0f, 0.0f, 0.0f))
{
	return static_cast<float>(
		sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z));
}
SIM_C_FUNCTION(float, rnorm3df, (float x, float y, float z), (0.0f, 0.0f, 0.0f))
{
	return 1.0f / norm3df(x, y, z);
}
SIM_C_FUNCTION(float, norm4df, (float x, float y, float z, float w), (0.0f, 0.0f, 0.0f, 0.0f))
{
	return static_cast<float>(
		sqrt(static_cast<double>(x) * x + static_cast<double>(y) * y + static_cast<double>(z) * z +
	             static_cast<double>(w) * w));
}
SIM_C_FUNCTION(double, normcdf, (double x), (0.0))
{
	return 0.5 * erfc(-0.70710678118654752440 * x);
}
SIM_C_FUNCTION(float, normcdff, (float x), (0.0f))
{
	return static_cast<float>(normcdf(static_cast<double>(x)));
}

/* ---- conversions: the PTX rules, which saturate; a NaN is 0 from float to 32 bits, else the lowest value ---- */

#define SIM_CONVERT(name, to, from, round, low, limit, nan)                                                          \
	SIM_C_INLINE to name(from x) noexcept                                                                        \
	{                                                                                                            \
		const from whole_ = round(x);                                                                        \
		if (whole_ != whole_)                                                                                \
			return nan;                                                                                  \
		if (whole_ < static_cast<from>(low))                                                                 \
			return low;                                                                                  \
		return whole_ >= limit ? static_cast<to>(~static_cast<to>(low)) : static_cast<to>(whole_);           \
	}
#define SIM_CONVERSIONS(name, to, from, suffix, low, limit, nan)                                                     \
	SIM_CONVERT(name##_rn, to, from, rint##suffix, low, limit, nan)                                              \
	SIM_CONVERT(name##_rz, to, from, trunc##suffix, low, limit, nan)                                             \
	SIM_CONVERT(name##_ru, to, from, ceil##suffix, low, limit, nan)                                              \
	SIM_CONVERT(name##_rd, to, from, floor##suffix, low, limit, nan)
/* ~low is the highest value of both the signed and the unsigned types */
SIM_CONVERSIONS(__float2int, int, float, f, INT_MIN, 2147483648.0f, 0)
SIM_CONVERSIONS(__float2uint, unsigned, float, f, 0u, 4294967296.0f, 0u)
SIM_CONVERSIONS(__float2ll, long long, float, f, LLONG_MIN, 9223372036854775808.0f, LLONG_MIN)
SIM_CONVERSIONS(__float2ull, unsigned long long, float, f, 0ull, 18446744073709551616.0f, 1ull << 63)
SIM_CONVERSIONS(__double2int, int, double, , INT_MIN, 2147483648.0, INT_MIN)
SIM_CONVERSIONS(__double2uint, unsigned, double, , 0u, 4294967296.0, 1u << 31)
SIM_CONVERSIONS(__double2ll, long long, double, , LLONG_MIN, 9223372036854775808.0, LLONG_MIN)
SIM_CONVERSIONS(__double2ull, unsigned long long, double, , 0ull, 18446744073709551616.0, 1ull << 63)
#undef SIM_CONVERSIONS
#undef SIM_CONVERT

SIM_C_INLINE float __int2float_rn(int x) noexcept
{
	return static_cast<float>(x);
}
SIM_C_INLINE float __uint2float_rn(unsigned x) noexcept
{
	return static_cast<float>(x);
}
SIM_C_INLINE float __ll2float_rn(long long x) noexcept
{
	return static_cast<float>(x);
}
SIM_C_INLINE float __ull2float_rn(unsigned long long x) noexcept
{
	return static_cast<float>(x);
}
SIM_C_INLINE double __int2double_rn(int x) noexcept
{
	return x;
}
SIM_C_INLINE double __uint2double_rn(unsigned x) noexcept
{
	return x;
}
SIM_C_INLINE double __ll2double_rn(long long x) noexcept
{
	return static_cast<double>(x);
}
SIM_C_INLINE double __ull2double_rn(unsigned long long x) noexcept
{
	return static_cast<double>(x);
}
SIM_C_INLINE float __double2float_rn(double x) noexcept
{
	return static_cast<float>(x);
}

#endif
