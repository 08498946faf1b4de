#include <sim_cuda/cub.h>
