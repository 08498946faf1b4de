/* cuBLAS, of which cublas_api.h has what there is. */
#ifndef CUBLAS_V2_H_
#define CUBLAS_V2_H_

#include <cublas_api.h>

#endif
