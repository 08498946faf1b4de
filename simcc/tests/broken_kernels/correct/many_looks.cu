// Between the flag it has seen and its fence a thread does atomics in thousands of other places.
#include "../main.cuh"

const int BINS = 3000;

__global__ void consume(int *ticket, int *flag, int *data, int *bins, int *sum)
{
	if (atomicAdd(ticket, 1) == 0) {
		*data = 42;
		__threadfence();
		atomicExch(flag, 1);
		return;
	}
	while (atomicAdd(flag, 0) == 0)
		;
	for (int i = 0; i < BINS; i++)
		atomicAdd(&bins[i], 1);
	__threadfence();
	atomicAdd(sum, *data);
}

// As many flags as there are places: more than a thread remembers.
__global__ void consume_all(int *ticket, int *flags, int *data, int *sum)
{
	if (atomicAdd(ticket, 1) == 0) {
		for (int i = 0; i < BINS; i++) {
			data[i] = i;
			__threadfence();
			atomicExch(&flags[i], 1);
		}
		return;
	}
	for (int i = BINS - 1; i >= 0; i--)
		while (atomicAdd(&flags[i], 0) == 0)
			;
	__threadfence();
	int all = 0;
	for (int i = 0; i < BINS; i++)
		all += data[i];
	atomicAdd(sum, all);
}

int main()
{
	int *ticket = zeros<int>(2), *flags = zeros<int>(BINS + 1), *data = zeros<int>(BINS), *sum = zeros<int>(1);
	consume<<<3, 1>>>(ticket, flags, data, zeros<int>(BINS), sum);
	consume_all<<<2, 1>>>(ticket + 1, flags + 1, data, sum);
	return element(sum, 0) != 2 * 42 + BINS * (BINS - 1) / 2 || end();
}
