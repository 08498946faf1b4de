#error "texture memory (texture_types.h) is not supported by the simulated device"
