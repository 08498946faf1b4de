#error "cuRAND (curand.h) is not supported by the simulated device"
