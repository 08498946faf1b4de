// More barriers than a cell of racecheck has numbers for: an access must not look as recent as one thousands of barriers
// before. One element is written once and then read between any two barriers; another is read once and then written.
#include "../main.cuh"

__global__ void rounds(int *y, int *z, int barriers)
{
	__shared__ int s[66];
	const int t = threadIdx.x;
	int sum = 0;
	if (t == 0)
		s[64] = y[64] = 1;
	else if (t == 32)
		sum = z[0] + z[1];
	s[t] = y[t] = t;
	for (int i = 0; i < barriers; i++) {
		__syncthreads();
		if (t == 33)
			sum += s[64] + y[64];
		else if (t == 1)
			s[65] = z[0] = z[1] = i;
		sum += s[t] + y[t];
	}
	z[2 + t] = sum;
}

MAIN(rounds<<<1, 34>>>(empty<int>(65), zeros<int>(2 + 34), 70000))
