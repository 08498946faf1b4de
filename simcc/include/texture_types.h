/* There are no textures and surfaces: an error where one of their types or functions is used. */
#include <cuda_runtime.h>
