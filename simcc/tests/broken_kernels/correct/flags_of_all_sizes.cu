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

int main()
{
	int *x = zeros<int>(1), *y = zeros<int>(1);
	unsigned long long *wide = zeros<unsigned long long>(1);
	unsigned char *narrow = zeros<unsigned char>(4);
	pass_on<<<2, 1>>>(x, wide, narrow, y);
	return end(x, y, wide, narrow);
}
