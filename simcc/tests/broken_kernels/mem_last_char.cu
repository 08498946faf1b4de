// A line is ended behind its last character, of which the array has no place: an access of one byte.
// EXPECT memcheck out_of_bounds error
#include "main.cuh"

__global__ void end_line(char *text, int length)
{
	if (threadIdx.x == 0)
		text[length] = '\n'; // BUG
}

MAIN(end_line<<<1, 32>>>(empty<char>(80), WRONG(80, 79)))
