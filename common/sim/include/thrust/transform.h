#error "Thrust (thrust/transform.h) is not supported by the simulated device"
