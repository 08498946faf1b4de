/* CUDA's vector types: plain aggregates with CUDA's sizes and alignments. A device reads or writes an aligned one in one
 * access. */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#define SIM_VECTOR(name, alignment, fields)                                                                          \
	struct __attribute__((aligned(alignment))) name {                                                            \
		fields                                                                                               \
	};                                                                                                           \
	typedef struct name name;

#define SIM_FIELDS1(type) type x;
#define SIM_FIELDS2(type) type x, y;
#define SIM_FIELDS3(type) type x, y, z;
#define SIM_FIELDS4(type) type x, y, z, w;

/* type1 .. type4 of an element of 1, 2, 4 or 8 bytes; the three-element ones are aligned like one element */
#define SIM_VECTORS_1(tag, type)                                                                                     \
	SIM_VECTOR(tag##1, 1, SIM_FIELDS1(type))                                                                     \
	SIM_VECTOR(tag##2, 2, SIM_FIELDS2(type))                                                                     \
	SIM_VECTOR(tag##3, 1, SIM_FIELDS3(type))                                                                     \
	SIM_VECTOR(tag##4, 4, SIM_FIELDS4(type))
#define SIM_VECTORS_2(tag, type)                                                                                     \
	SIM_VECTOR(tag##1, 2, SIM_FIELDS1(type))                                                                     \
	SIM_VECTOR(tag##2, 4, SIM_FIELDS2(type))                                                                     \
	SIM_VECTOR(tag##3, 2, SIM_FIELDS3(type))                                                                     \
	SIM_VECTOR(tag##4, 8, SIM_FIELDS4(type))
#define SIM_VECTORS_4(tag, type)                                                                                     \
	SIM_VECTOR(tag##1, 4, SIM_FIELDS1(type))                                                                     \
	SIM_VECTOR(tag##2, 8, SIM_FIELDS2(type))                                                                     \
	SIM_VECTOR(tag##3, 4, SIM_FIELDS3(type))                                                                     \
	SIM_VECTOR(tag##4, 16, SIM_FIELDS4(type))
#define SIM_VECTORS_8(tag, type)                                                                                     \
	SIM_VECTOR(tag##1, 8, SIM_FIELDS1(type))                                                                     \
	SIM_VECTOR(tag##2, 16, SIM_FIELDS2(type))                                                                    \
	SIM_VECTOR(tag##3, 8, SIM_FIELDS3(type))                                                                     \
	SIM_VECTOR(tag##4, 16, SIM_FIELDS4(type))

SIM_VECTORS_1(char, signed char)
SIM_VECTORS_1(uchar, unsigned char)
SIM_VECTORS_2(short, short)
SIM_VECTORS_2(ushort, unsigned short)
SIM_VECTORS_4(int, int)
SIM_VECTORS_4(uint, unsigned)
SIM_VECTORS_4(float, float)
SIM_VECTORS_8(long, long)
SIM_VECTORS_8(ulong, unsigned long)
SIM_VECTORS_8(longlong, long long)
SIM_VECTORS_8(ulonglong, unsigned long long)
SIM_VECTORS_8(double, double)

struct dim3 {
	unsigned x, y, z;
#ifdef __cplusplus
	constexpr dim3(unsigned x_ = 1, unsigned y_ = 1, unsigned z_ = 1) : x(x_), y(y_), z(z_) {}
	constexpr dim3(uint3 v) : x(v.x), y(v.y), z(v.z) {}
#if defined(__CUDACC__) && defined(__clang__)
	template <class X, int (*)[X(0.5) * 2 == 1] = nullptr> /* float and double */
	constexpr dim3(X x_, unsigned y_ = 1, unsigned z_ = 1) __attribute__((diagnose_if(
		!__builtin_constant_p(x_) || x_ != unsigned(x_),
		"the size of a grid or a block is a whole number: this floating-point value loses its fraction",
		"warning")))
	: x(unsigned(x_)), y(y_), z(z_)
	{
	}
#endif
	constexpr operator uint3() const
	{
		return uint3{x, y, z};
	}
#endif
};
typedef struct dim3 dim3;

#endif
