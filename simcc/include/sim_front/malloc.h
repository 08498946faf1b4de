/* It declares functions of stdlib.h again: for both, as libraries.h does. */
#pragma clang force_cuda_host_device begin
#include_next <malloc.h>
#pragma clang force_cuda_host_device end
