/* cuSOLVER: cusolver_common.h has what there is. */
#ifndef CUSOLVERSP_H_
#define CUSOLVERSP_H_

#include <cusolver_common.h>

#endif
