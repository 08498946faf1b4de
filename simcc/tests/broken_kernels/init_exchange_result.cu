// atomicExch() on memory that nobody has written, and its result is used: it is a read.
// EXPECT initcheck uninitialized error x4
#include "main.cuh"

template <class T>
__global__ void take(T *slot, T *y)
{
	IF_RIGHT(atomicExch(slot, T(0)));
	y[0] = atomicExch(slot, T(1)); // BUG
}

__global__ void try_once(int *lock, int *y)
{
	IF_RIGHT(atomicExch(lock, 0));
	if (atomicExch(lock, 1) == 0) // BUG
		*y = 1;
}

int main()
{
	char *memory = empty<char>(64);
	double *y = empty<double>(1);
	take<<<1, 1>>>((int *)memory, (int *)y);
	take<<<1, 1>>>((float *)memory + 2, (float *)y);
	take<<<1, 1>>>((unsigned long long *)memory + 2, (unsigned long long *)y);
	try_once<<<1, 1>>>((int *)memory + 8, (int *)y);
	return end();
}
