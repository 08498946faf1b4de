// What a lane has published with its fence, another lane tells of behind a __syncwarp, some having met before; and so does a
// lane of another warp that waited for it. Kills: a __syncwarp of some lanes that forgets the fence of its warp; a release
// sequence that ends at an atomic of another warp; and what the fences before one barrier covered, told again behind the next.
// (The block that comes first publishes: one CPU thread suffices.)
#include "../main.cuh"

__device__ bool comes_first(int *ticket)
{
	__shared__ bool is_first;
	if (threadIdx.x == 0)
		is_first = atomicAdd(ticket, 1) == 0;
	__syncthreads();
	return is_first;
}

__global__ void met_in_between(int *ticket, int *data, int *flag, int *out)
{
	int t = threadIdx.x;
	if (comes_first(ticket)) {
		if (t == 0) {
			data[0] = 42;
			__threadfence();
		}
		if (t < 2)
			__syncwarp(3);
		__syncwarp();
		if (t == 5)
			atomicExch(flag, 1);
	} else if (t == 0) {
		while (atomicAdd(flag, 0) == 0)
			;
		__threadfence();
		out[0] = data[0];
	}
}

__global__ void told_by_two(int *ticket, int *data, int *flag, int *out)
{
	int t = threadIdx.x;
	if (comes_first(ticket)) {
		if (t == 33)
			__threadfence();
		__syncthreads();
		if (t == 64)
			data[0] = 42;
		__syncthreads();
		if (t == 0) {
			__threadfence();
			atomicAdd(flag, 1);
		}
		if (t == 33) {
			while (atomicAdd(flag, 0) < 1)
				;
			atomicAdd(flag, 1);
		}
	} else if (t == 0) {
		while (atomicAdd(flag, 0) < 2)
			;
		__threadfence();
		out[0] = data[0];
	}
}

__global__ void told_at_each_barrier(int *ticket, int *data, int *flag, int *out)
{
	int t = threadIdx.x;
	if (comes_first(ticket)) {
		for (int i = 0; i < 2; i++) {
			if (t == 33) {
				data[i] = 21;
				__threadfence();
			}
			__syncthreads();
			if (t == 0)
				atomicAdd(flag, 1);
		}
	} else if (t == 0) {
		while (atomicAdd(flag, 0) < 2)
			;
		__threadfence();
		out[0] = data[0] + data[1];
	}
}

int main()
{
	int *p = zeros<int>(16);
	met_in_between<<<2, 32>>>(p, p + 1, p + 2, p + 3);
	told_by_two<<<2, 96>>>(p + 4, p + 5, p + 6, p + 7);
	told_at_each_barrier<<<2, 64>>>(p + 8, p + 9, p + 11, p + 12);
	return element(p, 3) != 42 || element(p, 7) != 42 || element(p, 12) != 42 || end();
}
