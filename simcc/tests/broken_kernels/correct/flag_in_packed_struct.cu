// A volatile flag of 4 bytes that is not aligned in its type, where it lies so and where not. Kills a front end that counts
// such an access as a plain one.
#include "../main.cuh"

struct __attribute__((packed)) mail {
	char kind;
	int flag;
};

__global__ void hand_over(volatile mail *m, int *x, int *y)
{
	if (blockIdx.x == 0) {
		*x = 1;
		__threadfence();
		m->flag = 1;
	} else if (m->flag) {
		__threadfence();
		*y = *x;
	}
}

int main()
{
	int *x = zeros<int>(1), *y = zeros<int>(1);
	char *m = zeros<char>(16);
	hand_over<<<2, 1>>>((mail *)(m + 3), x, y);
	hand_over<<<2, 1>>>((mail *)(m + 9), x, y);
	return end();
}
