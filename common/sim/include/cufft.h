#error "cuFFT (cufft.h) is not supported by the simulated device"
