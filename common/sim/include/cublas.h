#error "cuBLAS (cublas.h) is not supported by the simulated device"
