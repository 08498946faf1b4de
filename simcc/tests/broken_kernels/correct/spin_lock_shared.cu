// A lock in shared memory; every thread takes it in turn, in the way that also works in one warp.
#include "../main.cuh"

__global__ void push(const int *x, int *y, int *n)
{
	__shared__ int lock, top, stack[128];
	int t = threadIdx.x;
	if (t == 0)
		lock = top = 0;
	__syncthreads();
	bool done = false;
	while (!done) {
		if (atomicCAS(&lock, 0, 1) == 0) {
			__threadfence_block();
			if (x[t] > 0) {
				stack[top] = x[t];
				top = top + 1;
			}
			__threadfence_block();
			atomicExch(&lock, 0);
			done = true;
		}
	}
	__syncthreads();
	if (t < top)
		y[t] = stack[t];
	if (t == 0)
		*n = top;
}

int main()
{
	int *n = empty<int>(1);
	push<<<1, 128>>>(upwards<int>(128, -42), empty<int>(128), n);
	return element(n, 0) != 85 || end();
}
