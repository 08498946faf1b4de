/*
 * CUDA's vector types: plain aggregates with CUDA's sizes and alignments.
 *
 * A device reads or writes an aligned vector in one access, and the counters must see one. Compilers store
 * `a[i] = float4{...}` field by field. So, for
 * device code that is counted, assignment is an operator that moves the whole value at once; the types
 * stay aggregates, and their layout and calling convention stay the same.
 */
#ifndef __VECTOR_TYPES_H__
#define __VECTOR_TYPES_H__

#if defined(__cplusplus) && defined(__CUDACC__) && !defined(SIM_FAST)
typedef unsigned short sim_unit2 __attribute__((may_alias));
typedef unsigned sim_unit4 __attribute__((may_alias));
typedef unsigned long sim_unit8 __attribute__((may_alias));
typedef unsigned sim_unit16 __attribute__((vector_size(16), may_alias));
typedef unsigned char sim_unit1 __attribute__((may_alias));

/* C++20 knows no aggregate with a declared constructor; before it, silence about the implicit copy needs one. */
#if __cplusplus >= 202002L
#define SIM_COPYABLE(name)
#else
#define SIM_COPYABLE(name)                                                                                           \
	name() = default;                                                                                            \
	name(const name &) = default;
#endif

/* Assignment in accesses of `unit`, as many as the type has: one for an aligned vector of up to 16 bytes. */
#define SIM_ASSIGN(name, unit)                                                                                       \
	SIM_COPYABLE(name)                                                                                           \
	__attribute__((always_inline)) inline name &operator=(const name &other)                                     \
	{                                                                                                            \
		unit *to_ = reinterpret_cast<unit *>(this);                                                          \
		const unit *from_ = reinterpret_cast<const unit *>(&other);                                          \
		to_[0] = from_[0];                                                                                   \
		if (sizeof(name) > sizeof(unit))                                                                     \
			to_[sizeof(name) > sizeof(unit) ? 1 : 0] = from_[sizeof(name) > sizeof(unit) ? 1 : 0];       \
		if (sizeof(name) > 2 * sizeof(unit))                                                                 \
			to_[sizeof(name) > 2 * sizeof(unit) ? 2 : 0] =                                               \
				from_[sizeof(name) > 2 * sizeof(unit) ? 2 : 0];                                      \
		return *this;                                                                                        \
	}
#else
#define SIM_ASSIGN(name, unit)
#endif

#define SIM_VECTOR(name, alignment, unit, fields)                                                                    \
	struct __attribute__((aligned(alignment))) name {                                                            \
		fields SIM_ASSIGN(name, unit)                                                                        \
	};                                                                                                           \
	typedef struct name name;

#define SIM_FIELDS1(type) type x;
#define SIM_FIELDS2(type) type x, y;
#define SIM_FIELDS3(type) type x, y, z;
#define SIM_FIELDS4(type) type x, y, z, w;

/* type1 .. type4 of an element of 1, 2, 4 or 8 bytes; the three-element ones are aligned like one element */
#define SIM_VECTORS_1(tag, type)                                                                                     \
	SIM_VECTOR(tag##1, 1, sim_unit1, SIM_FIELDS1(type))                                                          \
	SIM_VECTOR(tag##2, 2, sim_unit2, SIM_FIELDS2(type))                                                          \
	SIM_VECTOR(tag##3, 1, sim_unit1, SIM_FIELDS3(type))                                                          \
	SIM_VECTOR(tag##4, 4, sim_unit4, SIM_FIELDS4(type))
#define SIM_VECTORS_2(tag, type)                                                                                     \
	SIM_VECTOR(tag##1, 2, sim_unit2, SIM_FIELDS1(type))                                                          \
	SIM_VECTOR(tag##2, 4, sim_unit4, SIM_FIELDS2(type))                                                          \
	SIM_VECTOR(tag##3, 2, sim_unit2, SIM_FIELDS3(type))                                                          \
	SIM_VECTOR(tag##4, 8, sim_unit8, SIM_FIELDS4(type))
#define SIM_VECTORS_4(tag, type)                                                                                     \
	SIM_VECTOR(tag##1, 4, sim_unit4, SIM_FIELDS1(type))                                                          \
	SIM_VECTOR(tag##2, 8, sim_unit8, SIM_FIELDS2(type))                                                          \
	SIM_VECTOR(tag##3, 4, sim_unit4, SIM_FIELDS3(type))                                                          \
	SIM_VECTOR(tag##4, 16, sim_unit16, SIM_FIELDS4(type))
#define SIM_VECTORS_8(tag, type)                                                                                     \
	SIM_VECTOR(tag##1, 8, sim_unit8, SIM_FIELDS1(type))                                                          \
	SIM_VECTOR(tag##2, 16, sim_unit16, SIM_FIELDS2(type))                                                        \
	SIM_VECTOR(tag##3, 8, sim_unit8, SIM_FIELDS3(type))                                                          \
	SIM_VECTOR(tag##4, 16, sim_unit16, SIM_FIELDS4(type))

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
	constexpr operator uint3() const
	{
		return uint3{x, y, z};
	}
#endif
};
typedef struct dim3 dim3;

#endif
