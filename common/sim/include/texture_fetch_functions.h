#error "texture memory (texture_fetch_functions.h) is not supported by the simulated device"
