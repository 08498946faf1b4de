#error "Thrust (thrust/execution_policy.h) is not supported by the simulated device"
