/* What it declares comes with cuda_runtime.h. */
#ifndef __DEVICE_ATOMIC_FUNCTIONS_H__
#define __DEVICE_ATOMIC_FUNCTIONS_H__

#include <cuda_runtime.h>

#endif
