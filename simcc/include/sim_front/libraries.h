/*
 * What device code may call of the C and the C++ library, where clang reads the qualifiers: C's functions are declared for
 * both (which of them the simulated device has, the plugin knows), C++'s own are the host's unless they are constexpr,
 * with a few beside them for the device.
 */
#ifndef SIM_FRONT_LIBRARIES_H
#define SIM_FRONT_LIBRARIES_H

#define _GLIBCXX_INCLUDE_NEXT_C_HEADERS /* libstdc++: of math.h and stdlib.h, C's */
SIM_FOR_BOTH
#include <assert.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
SIM_FOR_BOTH_END
#undef _GLIBCXX_INCLUDE_NEXT_C_HEADERS

#include <cmath>
#include <cstdlib>
#include <new>

inline __device__ void *operator new(size_t, void *place) noexcept
{
	return place;
}
inline __device__ void *operator new[](size_t, void *place) noexcept
{
	return place;
}
inline __device__ void operator delete(void *, void *) noexcept {}
inline __device__ void operator delete[](void *, void *) noexcept {}

namespace std
{
inline __device__ long abs(long x)
{
	return x < 0 ? -x : x;
}
inline __device__ long long abs(long long x)
{
	return x < 0 ? -x : x;
}
} // namespace std

#endif
