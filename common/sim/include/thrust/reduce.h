#error "Thrust (thrust/reduce.h) is not supported by the simulated device"
