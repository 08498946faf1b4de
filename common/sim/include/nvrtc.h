#error "run-time compilation (nvrtc.h) is not supported by the simulated device"
