/* cuRAND in device code is not on the simulated device: its states are types, its functions an error where called. */
#ifndef CURAND_KERNEL_H_
#define CURAND_KERNEL_H_

#include <curand.h>

/* Sizes as CUDA's: programs allocate arrays of them. */
typedef struct curandStateXORWOW {
	unsigned words[12];
} curandStateXORWOW_t;
typedef struct curandStateXORWOW curandState;
typedef struct curandStateXORWOW curandState_t;
typedef struct curandStatePhilox4_32_10 {
	unsigned words[16];
} curandStatePhilox4_32_10_t;
typedef struct curandStateMRG32k3a {
	unsigned words[12];
} curandStateMRG32k3a_t;

#endif
