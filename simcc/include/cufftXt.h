/* cuFFT's extensions: not on the simulated device, see cufft.h. */
#ifndef _CUFFTXT_H_
#define _CUFFTXT_H_

#include <cufft.h>

#endif
