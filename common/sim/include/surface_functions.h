#error "surface memory (surface_functions.h) is not supported by the simulated device"
