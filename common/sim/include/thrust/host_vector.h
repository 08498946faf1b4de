#error "Thrust (thrust/host_vector.h) is not supported by the simulated device"
