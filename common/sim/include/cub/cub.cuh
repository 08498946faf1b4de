#error "CUB (cub/cub.cuh) is not supported by the simulated device"
