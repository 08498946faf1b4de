/* Qualifiers: simcc reads them, see cuda_runtime_api.h. */
#include <cuda_runtime_api.h>
