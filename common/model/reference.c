/* The operations in double precision: what every other filling is compared with. */
#define REFERENCE
#include "plain.c"
