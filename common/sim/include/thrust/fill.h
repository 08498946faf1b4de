#error "Thrust (thrust/fill.h) is not supported by the simulated device"
