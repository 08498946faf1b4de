/* memcpy_async: an error where it is used, see there. */
#include <cooperative_groups.h>
