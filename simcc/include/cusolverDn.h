/* cuSOLVER: cusolver_common.h has what there is. */
#ifndef CUSOLVERDN_H_
#define CUSOLVERDN_H_

#include <cusolver_common.h>

#endif
