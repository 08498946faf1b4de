/*
 * Floating point in 16 bits: what __half and __nv_bfloat16 have in common. C++ only.
 *
 * A value is two bytes, and each operation is the exact result rounded once, to nearest, ties to even, as on a GPU:
 * the operands are exact as double, double rounds with so many bits more that rounding again changes nothing, and
 * where that is not enough (a fused multiply-add) the rounding to double is made odd. Functions of mathematics are
 * the C library's, rounded: the last digit may differ from a GPU's.
 *
 * Operands of 2 bytes are references, so that each is read once, where the program reads it; pairs are copied, so
 * that they are read in one access of 4 bytes.
 *
 * Not here: rounding toward zero, up or down; comparisons of pairs; atomics.
 */
#ifndef SIM_CUDA_SIXTEEN_BITS_H
#define SIM_CUDA_SIXTEEN_BITS_H

#include <math.h>
#include <string.h>
#include <type_traits>
#include <vector_functions.h>

#ifdef __clang__
#define SIM_16 __attribute__((always_inline, nodebug, unused)) inline
#else
#define SIM_16 __attribute__((always_inline, unused)) inline
#endif

namespace sim
{

/* `value` in a format of so many fraction bits and this exponent bias, to nearest, ties to even. */
SIM_16 unsigned short narrow_to(double value, int fraction_bits, int bias)
{
	unsigned long bits;
	__builtin_memcpy(&bits, &value, sizeof bits);
	const unsigned sign = static_cast<unsigned>(bits >> 48) & 0x8000u;
	const int exponent = static_cast<int>(bits >> 52 & 0x7ff) - 1023;
	const unsigned long fraction = bits & 0xfffffffffffffUL;
	const unsigned infinity = 0x7fffu >> fraction_bits << fraction_bits;

	if (exponent == 1024 && fraction != 0)
		return 0x7fff;
	if (exponent > bias)
		return static_cast<unsigned short>(sign | infinity);
	/* Below the smallest normal number there are fewer bits, down to none. */
	const int missing = 1 - bias - exponent > 0 ? 1 - bias - exponent : 0, shift = 52 - fraction_bits + missing;
	if (shift > 53)
		return static_cast<unsigned short>(sign);
	const unsigned long significand = fraction | 1UL << 52;
	const unsigned long rest = significand & ((1UL << shift) - 1), half = 1UL << (shift - 1);
	unsigned long kept = significand >> shift;
	kept += rest > half || (rest == half && (kept & 1));
	if (missing == 0) /* a carry goes on into the exponent, as it must */
		kept += static_cast<unsigned long>(exponent + bias - 1) << fraction_bits;
	return static_cast<unsigned short>(sign | static_cast<unsigned>(kept));
}

/* a*b+c for a product that is exact, rounded to odd: who rounds it again rounds as from the exact value. */
SIM_16 double fused_odd(double product, double c)
{
	const double sum = product + c, moved = sum - product;
	const double error = (product - (sum - moved)) + (c - moved); /* sum + error is exact */
	long bits;

	__builtin_memcpy(&bits, &sum, sizeof bits);
	if (error == 0 || error != error || (bits & 1))
		return sum;
	bits += (error > 0) == (sum > 0) ? 1 : -1;
	double odd;
	__builtin_memcpy(&odd, &bits, sizeof odd);
	return odd;
}

/* As double, which rounded again is what the exact value would be: an integer of 64 bits is rounded to odd where
 * double has not enough bits for it. */
template <class Type_>
SIM_16 double as_double(Type_ value)
{
	return static_cast<double>(value);
}
SIM_16 double as_double(unsigned long value)
{
	enum { MISSING = 64 - 53 };
	if (value >> 53 != 0)
		value = (value >> MISSING | ((value & ((1UL << MISSING) - 1)) != 0)) << MISSING;
	return static_cast<double>(value);
}
SIM_16 double as_double(unsigned long long value)
{
	return as_double(static_cast<unsigned long>(value));
}
SIM_16 double as_double(long value)
{
	const unsigned long bits = static_cast<unsigned long>(value);

	return value < 0 ? -as_double(0 - bits) : as_double(bits);
}
SIM_16 double as_double(long long value)
{
	return as_double(static_cast<long>(value));
}

/* A whole number as an int, as a GPU converts: the nearest there is, and 0 for a NaN. */
SIM_16 int saturated(float whole)
{
	if (whole != whole)
		return 0;
	if (whole >= 0x1p31f)
		return 0x7fffffff;
	return whole < -0x1p31f ? -0x7fffffff - 1 : static_cast<int>(whole);
}

SIM_16 float float_of_bits(unsigned bits)
{
	float value;
	__builtin_memcpy(&value, &bits, sizeof value);
	return value;
}

template <class Type_>
using if_number = typename std::enable_if<std::is_arithmetic<Type_>::value>::type;

struct half_format {
	SIM_16 static unsigned short narrow(double value) { return narrow_to(value, 10, 15); }
	SIM_16 static float widen(unsigned bits)
	{
		const unsigned sign = (bits & 0x8000u) << 16, rest = bits & 0x7fffu;

		if (rest >= 0x7c00u) /* infinity, NaN */
			return float_of_bits(sign | 0x7f800000u | (rest & 0x3ffu) << 13);
		if (rest < 0x0400u) /* zero and what lies below the normal numbers */
			return (sign ? -1.0f : 1.0f) * static_cast<float>(rest) * 0x1p-24f;
		return float_of_bits(sign | ((rest << 13) + (112u << 23)));
	}
};

struct bfloat16_format {
	SIM_16 static unsigned short narrow(double value) { return narrow_to(value, 7, 127); }
	SIM_16 static float widen(unsigned bits) { return float_of_bits(bits << 16); }
};

} // namespace sim

#define SIM_16_OPERATOR(type, operation, name)                                                                       \
	SIM_16 type name(const type &a, const type &b)                                                               \
	{                                                                                                            \
		return type(a.sim_double() operation b.sim_double());                                                \
	}                                                                                                            \
	SIM_16 type operator operation(const type &a, const type &b)                                                 \
	{                                                                                                            \
		return name(a, b);                                                                                   \
	}                                                                                                            \
	SIM_16 type &operator operation##=(type &a, const type &b)                                                   \
	{                                                                                                            \
		return a = name(a, b);                                                                               \
	}
#define SIM_16_COMPARISON(type, operation, name)                                                                     \
	SIM_16 bool name(const type &a, const type &b)                                                               \
	{                                                                                                            \
		return a.sim_double() operation b.sim_double();                                                      \
	}                                                                                                            \
	SIM_16 bool operator operation(const type &a, const type &b)                                                 \
	{                                                                                                            \
		return name(a, b);                                                                                   \
	}
#define SIM_16_MATH(type, name, expression)                                                                          \
	SIM_16 type name(const type &a)                                                                              \
	{                                                                                                            \
		const float x = a;                                                                                   \
		return type(expression);                                                                             \
	}
#define SIM_16_PAIR(type, pair, operation, name, single)                                                             \
	SIM_16 pair name(pair a, pair b)                                                                             \
	{                                                                                                            \
		return pair(single(a.x, b.x), single(a.y, b.y));                                                     \
	}                                                                                                            \
	SIM_16 pair operator operation(pair a, pair b)                                                               \
	{                                                                                                            \
		return name(a, b);                                                                                   \
	}                                                                                                            \
	SIM_16 pair &operator operation##=(pair &a, pair b)                                                          \
	{                                                                                                            \
		return a = name(a, b);                                                                               \
	}
#define SIM_16_SHUFFLE(type, unit, name, operand)                                                                    \
	SIM_16 type name(unsigned mask, type value, operand lane, int width = 32)                                    \
	{                                                                                                            \
		unsigned word = 0;                                                                                   \
		__builtin_memcpy(&word, &value, sizeof value);                                                       \
		word = name(mask, word, lane, width);                                                                \
		__builtin_memcpy(&value, &word, sizeof value);                                                       \
		return value;                                                                                        \
	}
#ifdef __CUDACC__
#define SIM_16_SHUFFLES(type, unit)                                                                                  \
	SIM_16_SHUFFLE(type, unit, __shfl_sync, int)                                                                 \
	SIM_16_SHUFFLE(type, unit, __shfl_up_sync, unsigned)                                                         \
	SIM_16_SHUFFLE(type, unit, __shfl_down_sync, unsigned)                                                       \
	SIM_16_SHUFFLE(type, unit, __shfl_xor_sync, int)
#else
#define SIM_16_SHUFFLES(type, unit)
#endif

/* A type, its pair and the functions on both that go by one name for all such types. */
#define SIM_16_TYPE(type, pair, raw, format)                                                                         \
	struct __attribute__((aligned(2))) raw {                                                                     \
		unsigned short x;                                                                                    \
	};                                                                                                           \
	struct __attribute__((aligned(2))) type {                                                                    \
		unsigned short sim_bits;                                                                             \
                                                                                                                     \
		type() = default;                                                                                    \
		template <class Type_, class = sim::if_number<Type_>>                                                \
		SIM_16 type(Type_ value) : sim_bits(sim::format::narrow(sim::as_double(value)))                      \
		{                                                                                                    \
		}                                                                                                    \
		SIM_16 type(raw bits) : sim_bits(bits.x) {}                                                          \
		SIM_16 operator raw() const { return raw{sim_bits}; }                                                \
		SIM_16 operator float() const { return sim::format::widen(sim_bits); }                               \
		SIM_16 double sim_double() const { return sim::format::widen(sim_bits); }                            \
	};                                                                                                           \
	struct __attribute__((aligned(4))) pair {                                                                    \
		type x, y;                                                                                           \
                                                                                                                     \
		pair() = default;                                                                                    \
		SIM_16 pair(const type &low, const type &high) : x(low), y(high) {}                                  \
	};                                                                                                           \
	SIM_16_OPERATOR(type, +, __hadd)                                                                             \
	SIM_16_OPERATOR(type, -, __hsub)                                                                             \
	SIM_16_OPERATOR(type, *, __hmul)                                                                             \
	SIM_16_OPERATOR(type, /, __hdiv)                                                                             \
	SIM_16_COMPARISON(type, ==, __heq)                                                                           \
	SIM_16_COMPARISON(type, !=, __hneu)                                                                          \
	SIM_16_COMPARISON(type, <, __hlt)                                                                            \
	SIM_16_COMPARISON(type, <=, __hle)                                                                           \
	SIM_16_COMPARISON(type, >, __hgt)                                                                            \
	SIM_16_COMPARISON(type, >=, __hge)                                                                           \
	SIM_16 bool __hisnan(const type &a)                                                                          \
	{                                                                                                            \
		return a.sim_double() != a.sim_double();                                                             \
	}                                                                                                            \
	SIM_16 type __hneg(const type &a)                                                                            \
	{                                                                                                            \
		return type(raw{static_cast<unsigned short>(a.sim_bits ^ 0x8000)});                                  \
	}                                                                                                            \
	SIM_16 type __habs(const type &a)                                                                            \
	{                                                                                                            \
		return type(raw{static_cast<unsigned short>(a.sim_bits & 0x7fff)});                                  \
	}                                                                                                            \
	SIM_16 type operator-(const type &a)                                                                         \
	{                                                                                                            \
		return __hneg(a);                                                                                    \
	}                                                                                                            \
	SIM_16 type operator+(const type &a)                                                                         \
	{                                                                                                            \
		return a;                                                                                            \
	}                                                                                                            \
	SIM_16 type __hfma(const type &a, const type &b, const type &c)                                              \
	{                                                                                                            \
		return type(sim::fused_odd(a.sim_double() * b.sim_double(), c.sim_double()));                        \
	}                                                                                                            \
	/* of a number and a NaN, the number; +0 is more than -0 */                                                  \
	SIM_16 type __hmax(const type &a, const type &b)                                                             \
	{                                                                                                            \
		const raw x = a, y = b;                                                                              \
		const double p = type(x).sim_double(), q = type(y).sim_double();                                     \
		const unsigned both = x.x & y.x;                                                                     \
		return p == q ? type(raw{static_cast<unsigned short>(both)}) : type(fmax(p, q));                     \
	}                                                                                                            \
	SIM_16 type __hmin(const type &a, const type &b)                                                             \
	{                                                                                                            \
		const raw x = a, y = b;                                                                              \
		const double p = type(x).sim_double(), q = type(y).sim_double();                                     \
		const unsigned either = x.x | y.x;                                                                   \
		return p == q ? type(raw{static_cast<unsigned short>(either)}) : type(fmin(p, q));                   \
	}                                                                                                            \
	SIM_16_MATH(type, hexp, expf(x))                                                                             \
	SIM_16_MATH(type, hexp2, exp2f(x))                                                                           \
	SIM_16_MATH(type, hlog, logf(x))                                                                             \
	SIM_16_MATH(type, hlog2, log2f(x))                                                                           \
	SIM_16_MATH(type, hsin, sinf(x))                                                                             \
	SIM_16_MATH(type, hcos, cosf(x))                                                                             \
	SIM_16_MATH(type, hsqrt, sqrt(static_cast<double>(x)))                                                       \
	SIM_16_MATH(type, hrsqrt, 1 / sqrt(static_cast<double>(x)))                                                  \
	SIM_16_MATH(type, hrcp, 1 / static_cast<double>(x))                                                          \
	SIM_16_MATH(type, hfloor, floorf(x))                                                                         \
	SIM_16_MATH(type, hceil, ceilf(x))                                                                           \
	SIM_16_PAIR(type, pair, +, __hadd2, __hadd)                                                                  \
	SIM_16_PAIR(type, pair, -, __hsub2, __hsub)                                                                  \
	SIM_16_PAIR(type, pair, *, __hmul2, __hmul)                                                                  \
	SIM_16_PAIR(type, pair, /, __h2div, __hdiv)                                                                  \
	SIM_16 pair __hfma2(pair a, pair b, pair c)                                                                  \
	{                                                                                                            \
		return pair(__hfma(a.x, b.x, c.x), __hfma(a.y, b.y, c.y));                                           \
	}                                                                                                            \
	SIM_16 pair __hmax2(pair a, pair b)                                                                          \
	{                                                                                                            \
		return pair(__hmax(a.x, b.x), __hmax(a.y, b.y));                                                     \
	}                                                                                                            \
	SIM_16 pair __hmin2(pair a, pair b)                                                                          \
	{                                                                                                            \
		return pair(__hmin(a.x, b.x), __hmin(a.y, b.y));                                                     \
	}                                                                                                            \
	SIM_16 pair __hneg2(pair a)                                                                                  \
	{                                                                                                            \
		return pair(__hneg(a.x), __hneg(a.y));                                                               \
	}                                                                                                            \
	SIM_16 pair __habs2(pair a)                                                                                  \
	{                                                                                                            \
		return pair(__habs(a.x), __habs(a.y));                                                               \
	}                                                                                                            \
	SIM_16 pair operator-(pair a)                                                                                \
	{                                                                                                            \
		return __hneg2(a);                                                                                   \
	}                                                                                                            \
	SIM_16 float __low2float(pair a)                                                                             \
	{                                                                                                            \
		return a.x;                                                                                          \
	}                                                                                                            \
	SIM_16 float __high2float(pair a)                                                                            \
	{                                                                                                            \
		return a.y;                                                                                          \
	}                                                                                                            \
	SIM_16_SHUFFLES(type, unsigned short)                                                                        \
	SIM_16_SHUFFLES(pair, unsigned)

/* The functions whose names say which of the types they are of: `word` is half, or bfloat16. */
#define SIM_16_NAMED(word, type, pair, raw)                                                                          \
	SIM_16 float __##word##2float(const type &a)                                                                 \
	{                                                                                                            \
		return a;                                                                                            \
	}                                                                                                            \
	SIM_16 type __float2##word(float a)                                                                          \
	{                                                                                                            \
		return type(a);                                                                                      \
	}                                                                                                            \
	SIM_16 type __float2##word##_rn(float a)                                                                     \
	{                                                                                                            \
		return type(a);                                                                                      \
	}                                                                                                            \
	SIM_16 type __double2##word(double a)                                                                        \
	{                                                                                                            \
		return type(a);                                                                                      \
	}                                                                                                            \
	SIM_16 type __int2##word##_rn(int a)                                                                         \
	{                                                                                                            \
		return type(a);                                                                                      \
	}                                                                                                            \
	SIM_16 type __uint2##word##_rn(unsigned a)                                                                   \
	{                                                                                                            \
		return type(a);                                                                                      \
	}                                                                                                            \
	SIM_16 int __##word##2int_rn(const type &a)                                                                  \
	{                                                                                                            \
		return sim::saturated(rintf(a));                                                                     \
	}                                                                                                            \
	SIM_16 int __##word##2int_rz(const type &a)                                                                  \
	{                                                                                                            \
		return sim::saturated(truncf(a));                                                                    \
	}                                                                                                            \
	SIM_16 unsigned short __##word##_as_ushort(const type &a)                                                    \
	{                                                                                                            \
		return a.sim_bits;                                                                                   \
	}                                                                                                            \
	SIM_16 short __##word##_as_short(const type &a)                                                              \
	{                                                                                                            \
		return static_cast<short>(a.sim_bits);                                                               \
	}                                                                                                            \
	SIM_16 type __ushort_as_##word(unsigned short bits)                                                          \
	{                                                                                                            \
		return type(raw{bits});                                                                              \
	}                                                                                                            \
	SIM_16 type __short_as_##word(short bits)                                                                    \
	{                                                                                                            \
		return type(raw{static_cast<unsigned short>(bits)});                                                 \
	}                                                                                                            \
	SIM_16 pair make_##word##2(const type &low, const type &high)                                                \
	{                                                                                                            \
		return pair(low, high);                                                                              \
	}                                                                                                            \
	SIM_16 pair __halves2##word##2(const type &low, const type &high)                                            \
	{                                                                                                            \
		return pair(low, high);                                                                              \
	}                                                                                                            \
	SIM_16 pair __##word##2##word##2(const type &a)                                                              \
	{                                                                                                            \
		const type copy = a;                                                                                 \
		return pair(copy, copy);                                                                             \
	}                                                                                                            \
	SIM_16 pair __floats2##word##2_rn(float low, float high)                                                     \
	{                                                                                                            \
		return pair(low, high);                                                                              \
	}                                                                                                            \
	SIM_16 pair __float2##word##2_rn(float a)                                                                    \
	{                                                                                                            \
		return pair(a, a);                                                                                   \
	}                                                                                                            \
	SIM_16 pair __float22##word##2_rn(float2 a)                                                                  \
	{                                                                                                            \
		return pair(a.x, a.y);                                                                               \
	}                                                                                                            \
	SIM_16 float2 __##word##22float2(pair a)                                                                     \
	{                                                                                                            \
		return make_float2(a.x, a.y);                                                                        \
	}                                                                                                            \
	SIM_16 type __low2##word(pair a)                                                                             \
	{                                                                                                            \
		return a.x;                                                                                          \
	}                                                                                                            \
	SIM_16 type __high2##word(pair a)                                                                            \
	{                                                                                                            \
		return a.y;                                                                                          \
	}                                                                                                            \
	SIM_16 pair __lowhigh2highlow(pair a)                                                                        \
	{                                                                                                            \
		return pair(a.y, a.x);                                                                               \
	}

#endif
