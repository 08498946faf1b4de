#error "fp8 (cuda_fp8.h) is not supported by the simulated device"
