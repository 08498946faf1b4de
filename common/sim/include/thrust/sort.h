#error "Thrust (thrust/sort.h) is not supported by the simulated device"
