// Dynamic shared memory carved into arrays of several types and sizes.
#include "../main.cuh"

__global__ void work(const float *x, double *y, unsigned char *flags, int n)
{
	extern __shared__ double raw[];
	double *d = raw;
	float *f = (float *)(d + n);
	short *h = (short *)(f + n + 1);
	unsigned char *c = (unsigned char *)(h + n);
	int t = threadIdx.x;
	d[t] = x[t];
	f[t] = x[t];
	if (t == 0)
		f[n] = 0;
	h[t] = (short)t;
	c[t] = t & 1;
	__syncthreads();
	y[t] = d[n - 1 - t] + f[t + 1] + h[t ^ 1];
	flags[t] = c[(t + 1) % n];
}

int main()
{
	const int n = 65;
	float *x = zeros<float>(n);
	double *y = empty<double>(n);
	unsigned char *flags = empty<unsigned char>(n);
	work<<<1, n - 1, n * 15 + 4>>>(x, y, flags, n - 1);
	return end();
}
