#error "asynchronous copies (cuda_pipeline.h) is not supported by the simulated device"
