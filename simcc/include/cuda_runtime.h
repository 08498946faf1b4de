/*
 * What a CUDA C++ program gets, with or without including it (as with nvcc). C programs get the API and the types.
 *
 * In a .cu file (simcc defines __CUDACC__) it is all here: the language's built-in variables and functions, one
 * small header for each purpose in sim_cuda/. Functions of device code that the engine has to know of are declared
 * with the engine's symbol as their name, so that a call lands there with no wrapper between; which
 * call it is the plugin has noted before it.
 */
#ifndef __CUDA_RUNTIME_H__
#define __CUDA_RUNTIME_H__

#include <cuda_runtime_api.h>

#ifdef __CUDACC__
#include <sim_front/libraries.h>
#endif

SIM_FOR_BOTH
#include <vector_functions.h>

#ifdef __cplusplus
#include <sim_cuda/api_templates.h>
#include <sim_cuda/launch.h>

#ifdef __CUDACC__
/* The compiler that programs ask about. (The GPU, __CUDA_ARCH__, is simcc's -arch.) */
#define __CUDACC_VER_MAJOR__ 13
#define __CUDACC_VER_MINOR__ 0
#define __CUDACC_VER_BUILD__ 0

SIM_FOR_BOTH_END
#include <cassert>
#include <climits>
#include <cmath>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <initializer_list> /* for (int b : {1, 2}) */
#include <math.h>           /* the float overloads of exp, sqrt, ... without std:: */
#include <stdint.h>
#include <stdlib.h>
#include <utility>

#include <sim_cuda/atomics.h>
#include <sim_cuda/builtins.h>
#include <sim_cuda/warp.h>
SIM_FOR_BOTH
#include <sim_cuda/bits.h>
#include <sim_cuda/lanes.h>
#include <sim_cuda/math.h>

#endif
#endif
SIM_FOR_BOTH_END

#endif
