#error "Thrust (thrust/sequence.h) is not supported by the simulated device"
