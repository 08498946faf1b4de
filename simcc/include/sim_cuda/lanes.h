/* Arithmetic on the two halves (names ending in 2) or the four bytes (4) of a word. __vavgs2 and __vavgs4 are left out. */
#ifndef SIM_CUDA_LANES_H
#define SIM_CUDA_LANES_H

#include <sim_cuda/bits.h>

namespace sim
{
/* As a saturating instruction does. */
inline __attribute__((always_inline)) int clamped(int value, int least, int most)
{
	return value < least ? least : value > most ? most : value;
}
} // namespace sim

/* Each lane of the result is `expression` of the lanes x of a and y of b, which have type `lane_`. */
#define SIM_OF_LANES(name, parameters, b_, lane_, expression)                                                        \
	SIM_C_INLINE unsigned name parameters noexcept                                                               \
	{                                                                                                            \
		const unsigned bits_ = 8 * sizeof(lane_), mask_ = (1u << bits_) - 1;                                 \
		unsigned result_ = 0;                                                                                \
		for (unsigned i_ = 0; i_ < 32; i_ += bits_) {                                                        \
			const int x = static_cast<lane_>(a >> i_), y = static_cast<lane_>(b_ >> i_);                 \
			(void)y;                                                                                     \
			result_ |= (static_cast<unsigned>(expression) & mask_) << i_;                                \
		}                                                                                                    \
		return result_;                                                                                      \
	}
#define SIM_ONE(name, lane_, expression) SIM_OF_LANES(name, (unsigned a), 0u, lane_, expression)
#define SIM_TWO(name, lane_, expression) SIM_OF_LANES(name, (unsigned a, unsigned b), b, lane_, expression)
#define SIM_DIFFERENCES(name, lane_)                                                                                 \
	SIM_C_INLINE unsigned name(unsigned a, unsigned b) noexcept                                                  \
	{                                                                                                            \
		unsigned sum_ = 0;                                                                                   \
		for (unsigned i_ = 0; i_ < 32; i_ += 8 * sizeof(lane_)) {                                            \
			const int x = static_cast<lane_>(a >> i_), y = static_cast<lane_>(b >> i_);                  \
			sum_ += static_cast<unsigned>(x < y ? y - x : x - y);                                        \
		}                                                                                                    \
		return sum_;                                                                                         \
	}

/* __vcmp: all bits of the lane; __vset: 1 */
#define SIM_COMPARISON(name, lane_, operation)                                                                       \
	SIM_TWO(__vcmp##name, lane_, -(x operation y))                                                               \
	SIM_TWO(__vset##name, lane_, (x operation y))

#define SIM_ALL_OF_WIDTH(n, signed_, unsigned_, least, most)                                                         \
	SIM_TWO(__vadd##n, unsigned_, x + y)                                                                         \
	SIM_TWO(__vaddss##n, signed_, sim::clamped(x + y, least, most))                                              \
	SIM_TWO(__vaddus##n, unsigned_, sim::clamped(x + y, 0, (most) - (least)))                                    \
	SIM_TWO(__vsub##n, unsigned_, x - y)                                                                         \
	SIM_TWO(__vsubss##n, signed_, sim::clamped(x - y, least, most))                                              \
	SIM_TWO(__vsubus##n, unsigned_, sim::clamped(x - y, 0, (most) - (least)))                                    \
	SIM_ONE(__vneg##n, signed_, -x)                                                                              \
	SIM_ONE(__vnegss##n, signed_, sim::clamped(-x, least, most))                                                 \
	SIM_ONE(__vabs##n, signed_, x < 0 ? -x : x)                                                                  \
	SIM_ONE(__vabsss##n, signed_, sim::clamped(x < 0 ? -x : x, least, most))                                     \
	SIM_TWO(__vabsdiffs##n, signed_, x < y ? y - x : x - y)                                                      \
	SIM_TWO(__vabsdiffu##n, unsigned_, x < y ? y - x : x - y)                                                    \
	SIM_TWO(__vavgu##n, unsigned_, (x + y + 1) / 2)                                                              \
	SIM_TWO(__vhaddu##n, unsigned_, (x + y) / 2)                                                                 \
	SIM_TWO(__vmaxs##n, signed_, x > y ? x : y)                                                                  \
	SIM_TWO(__vmaxu##n, unsigned_, x > y ? x : y)                                                                \
	SIM_TWO(__vmins##n, signed_, x < y ? x : y)                                                                  \
	SIM_TWO(__vminu##n, unsigned_, x < y ? x : y)                                                                \
	SIM_COMPARISON(eq##n, unsigned_, ==)                                                                         \
	SIM_COMPARISON(ne##n, unsigned_, !=)                                                                         \
	SIM_COMPARISON(ges##n, signed_, >=)                                                                          \
	SIM_COMPARISON(geu##n, unsigned_, >=)                                                                        \
	SIM_COMPARISON(gts##n, signed_, >)                                                                           \
	SIM_COMPARISON(gtu##n, unsigned_, >)                                                                         \
	SIM_COMPARISON(les##n, signed_, <=)                                                                          \
	SIM_COMPARISON(leu##n, unsigned_, <=)                                                                        \
	SIM_COMPARISON(lts##n, signed_, <)                                                                           \
	SIM_COMPARISON(ltu##n, unsigned_, <)                                                                         \
	SIM_DIFFERENCES(__vsads##n, signed_)                                                                         \
	SIM_DIFFERENCES(__vsadu##n, unsigned_)

SIM_ALL_OF_WIDTH(2, short, unsigned short, -32768, 32767)
SIM_ALL_OF_WIDTH(4, signed char, unsigned char, -128, 127)

#undef SIM_ALL_OF_WIDTH
#undef SIM_COMPARISON
#undef SIM_DIFFERENCES
#undef SIM_TWO
#undef SIM_ONE
#undef SIM_OF_LANES

#endif
