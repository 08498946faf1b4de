// A count is that of the source: what a compiler would like to remove, merge or move is counted as it is written.
// Most such kernels are in ../../selftest.cu, which each library is tested with; here are the others.
#include "check.cuh"

struct three {
	float a, b, c;
};

struct nested {
	three first;
	float last[5];
};

__global__ void library_copies(const float *x, float *y)
{
	memcpy(y, x, 16 * sizeof(float));
	memset(y + 16, 0, 16 * sizeof(float));
}

__global__ void builtin_copies(const three *x, three *y)
{
	__builtin_memcpy(y, x, sizeof *y);
	__builtin_memset(y + 1, 0, 8);
	__builtin_memmove(&y[1].b, &x->b, 8); // what lies there may overlap
}

__global__ void structs(const nested *a, nested *b, three *c)
{
	int i = threadIdx.x;
	b[i] = a[i];
	c[i] = a[i].first;
	b[i].last[2] = a[i].first.b;
	nested local = a[0];
	c[i].a = local.last[4];
}

__global__ void compound(int *a)
{
	int i = threadIdx.x;
	a[i]++;
	--a[i];
	a[i] <<= 1;
	a[i] = 3;
}

__global__ void exponentials(const float *x, float *y, double *z)
{
	int i = threadIdx.x;
	y[i] = expf(x[i]) + __expf(x[i]) + exp2f(x[i]) + (i < 4 ? exp(x[i]) : 0);
	y[i] += exp10f(x[i]) + expm1f(x[i]);
	z[i] = exp((double)x[i]) + exp2((double)x[i]) + exp10((double)x[i]) + expm1((double)x[i]);
}

// A struct of three shorts is copied in pieces of 2 bytes.
struct shorts {
	short values[3];
};
__global__ void copy_shorts(const shorts *x, shorts *y)
{
	y[threadIdx.x] = x[threadIdx.x];
}

int main()
{
	float x[512];
	for (int i = 0; i < 512; i++)
		x[i] = 0.001f * i;
	float *dx = device_copy(x, 512), *dy = device_zeros<float>(512);
	double *dz = device_zeros<double>(32);
	int *di = device_zeros<int>(32);

	// pieces of 4 bytes
	//= library_copies load=16*4*32/16/16 store=32*4*32/32/32 foot=64/128
	library_copies<<<1, 32>>>(dx, dy);
	const three p = {1, 2, 3};
	three *dp = device_copy(&p, 1), *dq = device_zeros<three>(2);
	//= builtin_copies load=20/5/5 store=28/7/7
	builtin_copies<<<1, 1>>>(dp, dq);
	EXPECT(element(dq, 0).c == 3 && element(dq, 1).a == 0 && element(dq, 1).b == 2 && element(dq, 1).c == 3);
	// nested is 32 bytes: lanes a sector apart, pieces of 4 bytes. a: 8 pieces, 3, 1, and 8 of a[0]; c is 12
	// bytes: 12 sectors
	//= structs load=20*128/20/12*32+8 store=13*128/13/8*32+3*12+32+12 foot=1024/1024+384
	structs<<<1, 32>>>((const nested *)dx, (nested *)dy, (three *)device_zeros<three>(32));
	//= compound load=384/3/12 store=4*128/4/16
	compound<<<1, 32>>>(di);
	//= exponentials load=10*128+16/11/10*4+1 store=2*128+256/3/16 exp=32*9+4
	exponentials<<<1, 32>>>(dx, dy, dz);
	//= copy_shorts load=192/3/3*6 store=192/3/3*6 foot=192/192
	copy_shorts<<<1, 32>>>((const shorts *)dx, (shorts *)dy);
	CHECK(cudaDeviceSynchronize());
	return 0;
}
