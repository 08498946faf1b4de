#error "Thrust (thrust/copy.h) is not supported by the simulated device"
