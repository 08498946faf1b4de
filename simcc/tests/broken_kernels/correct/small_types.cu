// char, short and bool arrays in shared and global memory: neighbors in one word are different elements.
#include "../main.cuh"

__global__ void work(const signed char *x, short *y, bool *odd, unsigned char *mixed)
{
	__shared__ signed char c[95];
	__shared__ short s[95];
	__shared__ bool b[95];
	int t = threadIdx.x;
	if (t < 95) {
		c[t] = x[t];
		s[t] = (short)(c[t] * 3);
		b[t] = (x[t] & 1) != 0;
	}
	__syncthreads();
	if (t < 95) {
		y[t] = s[94 - t] + c[94 - t];
		odd[t] = b[(t + 31) % 95];
	}
	/* Bytes of one word belong to threads of different warps and blocks. */
	mixed[t % 32 * 4 + t / 32 + blockIdx.x * 0] = 1;
	__syncthreads();
	if (t / 32 == 2)
		mixed[t % 32 * 4 + 2]++;
}

__global__ void interleaved(unsigned char *bytes, short *halves)
{
	int t = threadIdx.x;
	bytes[t * gridDim.x + blockIdx.x] = (unsigned char)t;
	halves[t * gridDim.x + blockIdx.x] = (short)t;
	bytes[t * gridDim.x + blockIdx.x] += 1;
	halves[t * gridDim.x + blockIdx.x] += 1;
}

int main()
{
	work<<<1, 128>>>(ones<signed char>(95), empty<short>(95), empty<bool>(95), empty<unsigned char>(128));
	interleaved<<<4, 64>>>(empty<unsigned char>(64 * 4), empty<short>(64 * 4));
	return end();
}
