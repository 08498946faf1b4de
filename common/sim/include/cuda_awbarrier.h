#error "asynchronous barriers (cuda_awbarrier.h) is not supported by the simulated device"
