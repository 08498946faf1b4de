/* cudaProfilerStart and cudaProfilerStop: accepted, without effect. */
#include <cuda_runtime_api.h>
