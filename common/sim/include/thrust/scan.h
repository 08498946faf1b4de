#error "Thrust (thrust/scan.h) is not supported by the simulated device"
