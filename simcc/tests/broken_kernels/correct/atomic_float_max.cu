// atomicCAS loops for float max and double add, on global and shared memory. In each launch the reads before them are
// looked at anew.
#include "../main.cuh"

__device__ float atomic_max(float *address, float v)
{
	int *word = (int *)address, old = *word, assumed;
	do {
		assumed = old;
		if (__int_as_float(assumed) >= v)
			break;
		old = atomicCAS(word, assumed, __float_as_int(v));
	} while (assumed != old);
	return __int_as_float(old);
}

__device__ double atomic_add(double *address, double v)
{
	unsigned long long *word = (unsigned long long *)address, old = *word, assumed;
	do {
		assumed = old;
		old = atomicCAS(word, assumed, __double_as_longlong(v + __longlong_as_double(assumed)));
	} while (assumed != old);
	return __longlong_as_double(old);
}

__global__ void reduce(const float *x, float *most, double *sum, int n)
{
	__shared__ float s;
	__shared__ double d;
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	if (threadIdx.x == 0) {
		s = -1e30f;
		d = 0;
	}
	__syncthreads();
	if (i < n) {
		atomic_max(&s, x[i]);
		atomic_add(&d, x[i]);
	}
	__syncthreads();
	if (threadIdx.x == 0) {
		atomic_max(most, s);
		atomic_add(sum, d);
	}
}

int main()
{
	const float least[] = {-1e30f};
	float *x = upwards<float>(300), *most = copy_of(least);
	double *sum = zeros<double>(1);
	reduce<<<3, 128>>>(x, most, sum, 300);
	reduce<<<3, 128>>>(x, most, sum, 300);
	return element(most, 0) != 299 || element(sum, 0) != 2 * 299 * 150 || end();
}
