// Flags of 8 bytes and of 1, read back by the thread that has waited for them. Kills a checker that knows a flag by its
// first word only.
#include "../main.cuh"

__global__ void pass_on(int *x, unsigned long long *wide, unsigned char *narrow, int *y)
{
	if (blockIdx.x == 0) {
		*x = 1;
		__threadfence();
		*(volatile unsigned long long *)wide = 1;
		*(volatile unsigned char *)&narrow[3] = 1;
	} else if (*(volatile unsigned long long *)wide && *(volatile unsigned char *)&narrow[3]) {
		__threadfence();
		*y = *x + (*wide != 0) + narrow[3];
	}
}

MAIN(pass_on<<<2, 1>>>(zeros<int>(1), zeros<unsigned long long>(1), zeros<unsigned char>(4), zeros<int>(1)))
