#error "cuDNN (cudnn.h) is not supported by the simulated device"
