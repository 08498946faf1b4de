#error "cuRAND (curand_kernel.h) is not supported by the simulated device"
