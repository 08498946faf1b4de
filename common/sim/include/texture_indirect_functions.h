#error "texture memory (texture_indirect_functions.h) is not supported by the simulated device"
