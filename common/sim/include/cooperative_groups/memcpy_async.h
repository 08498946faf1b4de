#error "cooperative_groups (cooperative_groups/memcpy_async.h) is not supported by the simulated device"
