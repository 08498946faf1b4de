#error "tensor cores (mma.h, wmma) is not supported by the simulated device"
