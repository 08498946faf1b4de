/* make_float4(x, y, z, w) and the like. */
#ifndef __VECTOR_FUNCTIONS_H__
#define __VECTOR_FUNCTIONS_H__

#include <vector_types.h>

/* Built in place. */
#define SIM_MAKE(tag, type)                                                                                          \
	SIM_MAKE_(tag##1, (type x), (x))                                                                             \
	SIM_MAKE_(tag##2, (type x, type y), (x, y))                                                                  \
	SIM_MAKE_(tag##3, (type x, type y, type z), (x, y, z))                                                       \
	SIM_MAKE_(tag##4, (type x, type y, type z, type w), (x, y, z, w))
#define SIM_LIST(...) __VA_ARGS__
#define SIM_MAKE_(name, parameters, values)                                                                          \
	static inline __attribute__((always_inline, unused)) name make_##name parameters                             \
	{                                                                                                            \
		name vector_ = {SIM_LIST values};                                                                    \
		return vector_;                                                                                      \
	}

SIM_MAKE(char, signed char)
SIM_MAKE(uchar, unsigned char)
SIM_MAKE(short, short)
SIM_MAKE(ushort, unsigned short)
SIM_MAKE(int, int)
SIM_MAKE(uint, unsigned)
SIM_MAKE(float, float)
SIM_MAKE(long, long)
SIM_MAKE(ulong, unsigned long)
SIM_MAKE(longlong, long long)
SIM_MAKE(ulonglong, unsigned long long)
SIM_MAKE(double, double)

#endif
