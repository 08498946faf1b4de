#include <sim_cuda/thrust.h>
