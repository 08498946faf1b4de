#error "cuBLAS (cublas_v2.h) is not supported by the simulated device"
