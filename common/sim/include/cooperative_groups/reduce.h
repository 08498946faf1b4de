#error "cooperative_groups (cooperative_groups/reduce.h) is not supported by the simulated device"
