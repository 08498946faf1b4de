#error "cooperative_groups (cooperative_groups.h) is not supported by the simulated device"
