// Two threads write the same value, which is no error, and one of them writes another one before or after it: with that
// it is a race, in whatever order they come. Kills a checker for which a store takes the place of what was before, or
// that takes what a copy leaves for the value that was written before it.
// EXPECT racecheck WAW|WAR|RAW error x3
// ORDERS all
#include "main.cuh"

struct pair {
	int a, b;
};

__global__ void then_other(int *x)
{
	if (threadIdx.x == 0)
		x[0] = 1; // BUG
	if (threadIdx.x == 32) {
		x[0] = 1;
		IF_WRONG(x[0] = 2); // BUG
	}
	__threadfence(); // orders nothing here
}

// A read before it is one, too.
__global__ void after_other(int *x, int *y)
{
	if (threadIdx.x == 0) {
		IF_WRONG(x[0] = 0);    // BUG
		IF_WRONG(y[0] = x[1]); // BUG
		x[0] = 2;              // OTHER
		x[1] = 2;              // OTHER
	}
	if (threadIdx.x == 32) {
		x[0] = 2; // OTHER
		x[1] = 2; // OTHER
	}
	__threadfence();
}

__global__ void copied_over_other(pair *x, const pair *y)
{
	if (threadIdx.x == 0) {
		IF_WRONG(x->a = 1); // BUG
		*x = *y;            // OTHER
	}
	if (threadIdx.x == 32)
		*x = *y; // OTHER
	__threadfence();
}

int main()
{
	int *x = zeros<int>(6);
	then_other<<<1, 64>>>(x);
	after_other<<<1, 64>>>(x, x + 2);
	copied_over_other<<<1, 64>>>((pair *)x, (pair *)(x + 4));
	return end();
}
