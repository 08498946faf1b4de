// A 64 x 64 matrix transposed through shared memory: columns of a 32-wide tile share a bank, those of a 33-wide
// one do not. Each warp moves one row of a tile: 2 x 2 blocks of 32 warps, 128 requests of 4 sectors.
#include "check.cuh"

const int N = 64, TILE = 32;

__global__ void transpose_naive(const float *in, float *out)
{
	int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
	out[column * N + row] = in[row * N + column];
}

template <int Pad>
__global__ void transpose(const float *__restrict__ in, float *__restrict__ out)
{
	__shared__ float tile[TILE][TILE + Pad];
	int column = blockIdx.x * TILE + threadIdx.x, row = blockIdx.y * TILE + threadIdx.y;
	tile[threadIdx.y][threadIdx.x] = in[row * N + column];
	__syncthreads();
	column = blockIdx.y * TILE + threadIdx.x;
	row = blockIdx.x * TILE + threadIdx.y;
	out[row * N + column] = tile[threadIdx.x][threadIdx.y];
}

static void check(const float *out)
{
	static float y[N * N];
	fetch(y, out, N * N);
	for (int i = 0; i < N * N; i++)
		EXPECT(y[i] == (float)(i % N * N + i / N));
}

int main()
{
	static float x[N * N];
	for (int i = 0; i < N * N; i++)
		x[i] = (float)i;
	float *in = device_copy(x, N * N), *out = device_zeros<float>(N * N);
	dim3 grid(N / TILE, N / TILE), block(TILE, TILE);

	//= transpose_naive load=16384/128/512 store=16384/128/128*32 foot=16384/16384
	transpose_naive<<<grid, block>>>(in, out);
	check(out);
	//= transpose<0> load=16384/128/512 store=16384/128/512 sstore=16384/128/128/128 sload=16384/128/128*32/128
	//+ barriers=4 static=4096
	CHECK(cudaMemset(out, 0, N * N * sizeof(float)));
	transpose<0><<<grid, block>>>(in, out);
	check(out);
	//= transpose<1> load=16384/128/512 store=16384/128/512 sstore=16384/128/128/128 sload=16384/128/128/128
	//+ barriers=4 static=4224
	CHECK(cudaMemset(out, 0, N * N * sizeof(float)));
	transpose<1><<<grid, block>>>(in, out);
	check(out);
	return 0;
}
