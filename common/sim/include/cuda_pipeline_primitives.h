#error "asynchronous copies (cuda_pipeline_primitives.h) is not supported by the simulated device"
