#define THIS_FILE 2
#include "definitions.cuh"

void run_other_file(int (*host_counter)())
{
	run_file<2>(host_counter);
}
