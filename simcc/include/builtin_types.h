/* What it declares comes with cuda_runtime.h. */
#include <cuda_runtime.h>
