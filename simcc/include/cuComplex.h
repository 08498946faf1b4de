/* CUDA's complex numbers: float2 and double2, and the functions on them. C11 and C++, host and device. */
#ifndef CU_COMPLEX_H_
#define CU_COMPLEX_H_

#include <math.h>
#include <sim_cuda/both.h>
#include <vector_functions.h>

SIM_FOR_BOTH

/* Results are built in place, as make_float2 does: a value without an address is no memory access. */
#define SIM_COMPLEX(result) static inline __attribute__((always_inline, unused)) result

#define SIM_COMPLEX_FUNCTIONS(complex, real, make, r, i, conj, add, sub, mul, div, abs_of, fma, root, absolute)      \
	SIM_COMPLEX(complex) make(real x, real y)                                                                    \
	{                                                                                                            \
		complex z_ = {x, y};                                                                                 \
		return z_;                                                                                           \
	}                                                                                                            \
	SIM_COMPLEX(real) r(complex a)                                                                               \
	{                                                                                                            \
		return a.x;                                                                                          \
	}                                                                                                            \
	SIM_COMPLEX(real) i(complex a)                                                                               \
	{                                                                                                            \
		return a.y;                                                                                          \
	}                                                                                                            \
	SIM_COMPLEX(complex) conj(complex a)                                                                         \
	{                                                                                                            \
		return make(a.x, -a.y);                                                                              \
	}                                                                                                            \
	SIM_COMPLEX(complex) add(complex a, complex b)                                                               \
	{                                                                                                            \
		return make(a.x + b.x, a.y + b.y);                                                                   \
	}                                                                                                            \
	SIM_COMPLEX(complex) sub(complex a, complex b)                                                               \
	{                                                                                                            \
		return make(a.x - b.x, a.y - b.y);                                                                   \
	}                                                                                                            \
	SIM_COMPLEX(complex) mul(complex a, complex b)                                                               \
	{                                                                                                            \
		return make(a.x * b.x - a.y * b.y, a.x * b.y + a.y * b.x);                                           \
	}                                                                                                            \
	/* Scaled by the divisor's size, so that its square does not overflow. */                                    \
	SIM_COMPLEX(complex) div(complex a, complex b)                                                               \
	{                                                                                                            \
		const real scale_ = 1 / (absolute(b.x) + absolute(b.y));                                             \
		const real ax_ = a.x * scale_, ay_ = a.y * scale_, bx_ = b.x * scale_, by_ = b.y * scale_;           \
		const real square_ = 1 / (bx_ * bx_ + by_ * by_);                                                    \
		return make((ax_ * bx_ + ay_ * by_) * square_, (ay_ * bx_ - ax_ * by_) * square_);                   \
	}                                                                                                            \
	SIM_COMPLEX(real) abs_of(complex a)                                                                          \
	{                                                                                                            \
		return root(a.x, a.y);                                                                               \
	}                                                                                                            \
	SIM_COMPLEX(complex) fma(complex a, complex b, complex c)                                                    \
	{                                                                                                            \
		return add(mul(a, b), c);                                                                            \
	}

typedef float2 cuFloatComplex;
typedef double2 cuDoubleComplex;
typedef cuFloatComplex cuComplex;

SIM_COMPLEX_FUNCTIONS(
	cuFloatComplex, float, make_cuFloatComplex, cuCrealf, cuCimagf, cuConjf, cuCaddf, cuCsubf, cuCmulf, cuCdivf,
	cuCabsf, cuCfmaf, hypotf, fabsf)
SIM_COMPLEX_FUNCTIONS(
	cuDoubleComplex, double, make_cuDoubleComplex, cuCreal, cuCimag, cuConj, cuCadd, cuCsub, cuCmul, cuCdiv,
	cuCabs, cuCfma, hypot, fabs)

SIM_COMPLEX(cuComplex) make_cuComplex(float x, float y)
{
	return make_cuFloatComplex(x, y);
}
SIM_COMPLEX(cuDoubleComplex) cuComplexFloatToDouble(cuFloatComplex a)
{
	return make_cuDoubleComplex(a.x, a.y);
}
SIM_COMPLEX(cuFloatComplex) cuComplexDoubleToFloat(cuDoubleComplex a)
{
	return make_cuFloatComplex((float)a.x, (float)a.y);
}

#undef SIM_COMPLEX
#undef SIM_COMPLEX_FUNCTIONS

SIM_FOR_BOTH_END

#endif
