#error "cuSPARSE (cusparse.h) is not supported by the simulated device"
