#error "Thrust (thrust/device_ptr.h) is not supported by the simulated device"
