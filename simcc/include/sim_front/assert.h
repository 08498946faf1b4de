/* To be read again and again, as C's: what it declares is for the device, too. */
#pragma clang force_cuda_host_device begin
#include_next <assert.h>
#pragma clang force_cuda_host_device end
