/* Integer intrinsics, and values reinterpreted as bits. */
#ifndef SIM_CUDA_BITS_H
#define SIM_CUDA_BITS_H

#define SIM_INLINE static inline __attribute__((always_inline, unused))
/* A function that a C library may declare too: to declare it again is no error then, before this system header (there
 * with noexcept) or after it. */
#define SIM_C_INLINE extern "C" inline __attribute__((always_inline))

SIM_C_INLINE int __popc(unsigned x) noexcept
{
	return __builtin_popcount(x);
}
SIM_C_INLINE int __popcll(unsigned long long x) noexcept
{
	return __builtin_popcountll(x);
}
SIM_C_INLINE int __ffs(int x) noexcept
{
	return __builtin_ffs(x);
}
SIM_C_INLINE int __ffsll(long long x) noexcept
{
	return __builtin_ffsll(x);
}
SIM_C_INLINE int __clz(int x) noexcept
{
	return x == 0 ? 32 : __builtin_clz(static_cast<unsigned>(x));
}
SIM_C_INLINE int __clzll(long long x) noexcept
{
	return x == 0 ? 64 : __builtin_clzll(static_cast<unsigned long long>(x));
}

SIM_C_INLINE unsigned __brev(unsigned x) noexcept
{
	x = (x & 0x55555555u) << 1 | (x >> 1 & 0x55555555u);
	x = (x & 0x33333333u) << 2 | (x >> 2 & 0x33333333u);
	x = (x & 0x0f0f0f0fu) << 4 | (x >> 4 & 0x0f0f0f0fu);
	return __builtin_bswap32(x);
}
SIM_C_INLINE unsigned long long __brevll(unsigned long long x) noexcept
{
	return static_cast<unsigned long long>(__brev(static_cast<unsigned>(x))) << 32 |
	       __brev(static_cast<unsigned>(x >> 32));
}

/* One byte of the eight in {y, x} for each selector; bit 3 of a selector spreads that byte's sign instead. */
SIM_C_INLINE unsigned __byte_perm(unsigned x, unsigned y, unsigned selectors) noexcept
{
	const unsigned long long bytes = static_cast<unsigned long long>(y) << 32 | x;
	unsigned result = 0;

	for (unsigned i = 0; i < 4; i++) {
		const unsigned selector = selectors >> 4 * i & 15;
		unsigned byte = static_cast<unsigned>(bytes >> 8 * (selector & 7)) & 255;

		if (selector & 8)
			byte = byte & 128 ? 255 : 0;
		result |= byte << 8 * i;
	}
	return result;
}

/* {high, low} shifted; _l and _r take the shift modulo 32, _lc and _rc clamp it at 32 */
SIM_C_INLINE unsigned __funnelshift_lc(unsigned low, unsigned high, unsigned shift) noexcept
{
	const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
	return static_cast<unsigned>((both << (shift < 32 ? shift : 32)) >> 32);
}
SIM_C_INLINE unsigned __funnelshift_rc(unsigned low, unsigned high, unsigned shift) noexcept
{
	const unsigned long long both = static_cast<unsigned long long>(high) << 32 | low;
	return static_cast<unsigned>(both >> (shift < 32 ? shift : 32));
}
SIM_C_INLINE unsigned __funnelshift_l(unsigned low, unsigned high, unsigned shift) noexcept
{
	return __funnelshift_lc(low, high, shift & 31);
}
SIM_C_INLINE unsigned __funnelshift_r(unsigned low, unsigned high, unsigned shift) noexcept
{
	return __funnelshift_rc(low, high, shift & 31);
}

SIM_C_INLINE int __mul24(int a, int b) noexcept
{
	const long long product = static_cast<long long>(static_cast<int>(static_cast<unsigned>(a) << 8) >> 8) *
	                          (static_cast<int>(static_cast<unsigned>(b) << 8) >> 8);
	return static_cast<int>(product);
}
SIM_C_INLINE unsigned __umul24(unsigned a, unsigned b) noexcept
{
	return (a & 0xffffffu) * (b & 0xffffffu);
}
SIM_C_INLINE int __mulhi(int a, int b) noexcept
{
	return static_cast<int>(static_cast<long long>(a) * b >> 32);
}
SIM_C_INLINE unsigned __umulhi(unsigned a, unsigned b) noexcept
{
	return static_cast<unsigned>(static_cast<unsigned long long>(a) * b >> 32);
}
SIM_C_INLINE long long __mul64hi(long long a, long long b) noexcept
{
	return static_cast<long long>(static_cast<__int128>(a) * b >> 64);
}
SIM_C_INLINE unsigned long long __umul64hi(unsigned long long a, unsigned long long b) noexcept
{
	return static_cast<unsigned long long>(static_cast<unsigned __int128>(a) * b >> 64);
}
SIM_C_INLINE unsigned __sad(int a, int b, unsigned sum) noexcept
{
	return (a > b ? static_cast<unsigned>(a) - static_cast<unsigned>(b)
	              : static_cast<unsigned>(b) - static_cast<unsigned>(a)) +
	       sum;
}
SIM_C_INLINE unsigned __usad(unsigned a, unsigned b, unsigned sum) noexcept
{
	return (a > b ? a - b : b - a) + sum;
}
SIM_C_INLINE int __hadd(int a, int b) noexcept
{
	return static_cast<int>((static_cast<long long>(a) + b) >> 1);
}
SIM_C_INLINE int __rhadd(int a, int b) noexcept
{
	return static_cast<int>((static_cast<long long>(a) + b + 1) >> 1);
}
SIM_C_INLINE unsigned __uhadd(unsigned a, unsigned b) noexcept
{
	return static_cast<unsigned>((static_cast<unsigned long long>(a) + b) >> 1);
}
SIM_C_INLINE unsigned __urhadd(unsigned a, unsigned b) noexcept
{
	return static_cast<unsigned>((static_cast<unsigned long long>(a) + b + 1) >> 1);
}

SIM_C_INLINE int __dp4a(int a, int b, int sum) noexcept
{
	for (int i = 0; i < 32; i += 8)
		sum += static_cast<signed char>(a >> i) * static_cast<signed char>(b >> i);
	return sum;
}
SIM_INLINE unsigned __dp4a(unsigned a, unsigned b, unsigned sum)
{
	for (int i = 0; i < 32; i += 8)
		sum += (a >> i & 255) * (b >> i & 255);
	return sum;
}

/* Through a union, and not memcpy: the counters would take that for an access of the program's. */
#define SIM_REINTERPRET(name, to, from)                                                                              \
	SIM_C_INLINE to name(from value) noexcept                                                                    \
	{                                                                                                            \
		union {                                                                                              \
			from in_;                                                                                    \
			to out_;                                                                                     \
		} bits_ = {value};                                                                                   \
		return bits_.out_;                                                                                   \
	}
SIM_REINTERPRET(__float_as_int, int, float)
SIM_REINTERPRET(__float_as_uint, unsigned, float)
SIM_REINTERPRET(__int_as_float, float, int)
SIM_REINTERPRET(__uint_as_float, float, unsigned)
SIM_REINTERPRET(__double_as_longlong, long long, double)
SIM_REINTERPRET(__longlong_as_double, double, long long)
#undef SIM_REINTERPRET

SIM_C_INLINE int __double2hiint(double x) noexcept
{
	return static_cast<int>(__double_as_longlong(x) >> 32);
}
SIM_C_INLINE int __double2loint(double x) noexcept
{
	return static_cast<int>(__double_as_longlong(x));
}
SIM_C_INLINE double __hiloint2double(int high, int low) noexcept
{
	return __longlong_as_double(static_cast<long long>(
		static_cast<unsigned long long>(static_cast<unsigned>(high)) << 32 | static_cast<unsigned>(low)));
}

#endif
