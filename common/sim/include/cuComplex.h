#error "complex numbers (cuComplex.h) is not supported by the simulated device"
