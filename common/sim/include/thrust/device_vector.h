#error "Thrust (thrust/device_vector.h) is not supported by the simulated device"
