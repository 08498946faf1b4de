/* The first version of cuBLAS: nothing of it is here; cublas_api.h. */
#ifndef CUBLAS_H_
#define CUBLAS_H_

#include <cublas_api.h>

#endif
