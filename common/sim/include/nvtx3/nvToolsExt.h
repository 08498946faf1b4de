#error "NVTX (nvtx3/nvToolsExt.h) is not supported by the simulated device"
