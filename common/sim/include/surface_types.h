#error "surface memory (surface_types.h) is not supported by the simulated device"
