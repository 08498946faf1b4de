// Kernels whose addresses follow a pseudo-random formula; test_counts.py works out their counts from the formula
// alone.
#include <type_traits>

#include "check.cuh"

const int N = 4096;

__host__ __device__ inline unsigned mix(unsigned x)
{
	x = (x ^ 61) ^ (x >> 16);
	x *= 9;
	x ^= x >> 4;
	x *= 0x27d4eb2d;
	return x ^ x >> 15;
}

// Three accesses in branches that depend on the thread, repeated a number of times that does too.
__global__ void gather(const float *x, float *y)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	float sum = 0;
	for (unsigned k = 0; k < mix(i) % 7; k++) {
		unsigned r = mix(1000 * i + k);
		if (r % 3 == 0)
			sum += x[r % N];
		else if (r % 3 == 1)
			sum -= x[(r / 8 + i) % N];
		else
			sum += x[i];
	}
	y[i] = sum;
}

// Up to 600 iterations, from block to block and lane to lane very different; every 64th lane has none.
__global__ void unequal(const double *x, float *y)
{
	unsigned i = blockIdx.x * blockDim.x + threadIdx.x;
	unsigned trips = i % 64 == 0 ? 0 : mix(i) % (i % 5 == 0 ? 600 : 20);
	double sum = 0;
	for (unsigned k = 0; k < trips; k++)
		sum += x[(mix(i + 7) + 3 * k) % N];
	y[i] = (float)sum;
}

const int WIDE = 64, ROUNDS = 64, WIDE_ELEMENTS = 128;

// What a lane reads in a round, or -1. Shares are with lane n^1 or n^2, with both, with neither, with one lane that
// strays, with all, with a lane further away or of the first and the last; some lanes are inactive: odd ones, pairs,
// halves, all but four.
__host__ __device__ inline int choose(unsigned round, unsigned warp, unsigned lane)
{
	unsigned r = mix(977 * round + 31 * warp), active = (r >> 8) % 8;
	unsigned pair = lane / 2, crossed = lane / 4 * 2 + lane % 2, group = lane % 31;
	if (active == 1 && mix(r + lane) % 8 == 0)
		return -1;
	if ((active == 2 && lane % 2) || (active == 3 && lane & 2) || (active == 4 && mix(r + lane) % 3))
		return -1;
	if ((active == 5 && lane < 16) || (active == 6 && lane & 8) || (active == 7 && lane / 4 != (r >> 12) % 8))
		return -1;
	switch (r % 10) {
	case 0: group = pair; break;
	case 1: group = crossed; break;
	case 2: group = lane / 4; break;
	case 3: group = lane < 16 ? pair : crossed; break;
	case 4: group = lane == (r >> 16) % 32 ? 99 : pair; break;
	case 5: group = lane == (r >> 16) % 32 ? 99 : crossed; break;
	case 6: group = 5; break;
	case 7: group = lane / 8 * 4 + lane % 4; break;
	case 8: group = lane % 16; break;
	}
	if ((r >> 21) % 3 == 0)
		return (int)group; // side by side: no conflicts
	return (int)(mix(r + 64 * group) % WIDE_ELEMENTS);
}

// Where it writes: another element for each lane.
__host__ __device__ inline int choose_own(unsigned round, unsigned warp, unsigned lane)
{
	unsigned r = mix(round + 7 * warp);
	return r % 3 == 0 && lane % 2 ? -1 : (int)(((lane << (r >> 4) % 3) + (r >> 9)) % WIDE_ELEMENTS);
}

struct __align__(16) sixteen
{
	float x[4];
};

template <typename T>
__global__ void shared_wide(float *y)
{
	__shared__ T from[WIDE_ELEMENTS], to[2][WIDE_ELEMENTS];
	__shared__ std::conditional_t<sizeof(T) == 4, unsigned, unsigned long long> counts[WIDE_ELEMENTS];
	unsigned warp = threadIdx.x / 32, lane = threadIdx.x % 32;
	T value = T(), *mine = to[warp];
	for (unsigned k = threadIdx.x; k < WIDE_ELEMENTS; k += blockDim.x) {
		from[k] = value;
		counts[k] = 0;
	}
	__syncthreads();
	for (unsigned k = 0; k < ROUNDS; k++) {
		int element = choose(k, warp, lane), own = choose_own(k, warp, lane);
		if (element >= 0)
			value = from[element];
		__syncwarp();
		if (own >= 0)
			mine[own] = value;
		__syncwarp();
	}
	// Lanes that nothing holds together: what was one instruction above is now one of those that are k-th there.
	for (unsigned k = 0; k < ROUNDS; k++) {
		int element = choose(k, warp, lane);
		if (element < 0)
			continue;
		value = from[element];
		atomicAdd(&counts[element], 1);
	}
	y[threadIdx.x] = (float)sizeof value;
}

// Lanes of one instruction in several allocations, up to their last byte: two of cudaMalloc and two variables.
__device__ __align__(32) char early[61], late[40];

// The allocation and the element in it, of those with `size` bytes, that a lane takes in a round. Where it loads or adds,
// two lanes or all may take the same, or the first and the last.
struct spot {
	int place, element; // element: -1 for none
};
__host__ __device__ inline spot choose_spot(unsigned round, unsigned lane, int size)
{
	const unsigned r = mix(131 * round + 5), way = r % 5, thread = lane, shared[] = {0, lane / 2, lane % 31};
	unsigned place = r >> 8 & 3;
	if ((round % 2 == 0 || size == 4) && (r >> 22) % 8 < 3)
		lane = shared[(r >> 22) % 8];
	if (way == 1)
		place = lane % 4;
	else if (way == 2)
		place = (place + (lane < (r >> 11) % 32)) % 4;
	else if (way == 3)
		place = mix(r + lane) % 4;
	else if (way == 4)
		place = lane == (r >> 11) % 32 ? 3 - place : place;
	const int bytes[] = {509, 65597, 61, 40}, elements = bytes[place] / size;
	int element;
	switch ((r >> 16) % 3) {
	case 0: element = elements - 1 - (int)lane; break;
	case 1: element = elements / 2 - 16 + (int)lane; break;
	default: element = (2 + (r >> 24) % 3) * (int)lane; break;
	}
	bool idle = element < 0 || element >= elements || ((r >> 20) % 2 && mix(r ^ thread) % 5 == 0);
	return {(int)place, idle ? -1 : element};
}

template <typename T>
__device__ void exchange(T *to, T value)
{
	*to = value;
}
__device__ void exchange(int *to, int value)
{
	atomicAdd(to, value);
}

template <typename T>
__global__ void scattered(char *a, char *b)
{
	char *const places[] = {a, b, early, late};
	T value = T();
	for (unsigned k = 0; k < 2 * ROUNDS; k += 2) {
		spot from = choose_spot(k, threadIdx.x, sizeof(T)), to = choose_spot(k + 1, threadIdx.x, sizeof(T));
		if (from.element >= 0)
			value = ((const T *)places[from.place])[from.element];
		__syncwarp();
		if (to.element >= 0)
			exchange((T *)places[to.place] + to.element, value);
		__syncwarp();
	}
}

int main()
{
	static float x[N];
	static double z[N];
	for (int i = 0; i < N; i++)
		z[i] = x[i] = (float)i;
	float *dx = device_copy(x, N), *dy = device_zeros<float>(512);
	double *dz = device_copy(z, N);
	//= gather ANY
	gather<<<3, 100>>>(dx, dy);
	//= unequal ANY
	unequal<<<4, 96>>>(dz, dy);
	//= shared_wide<char> ANY
	shared_wide<char><<<1, WIDE>>>(dy);
	//= shared_wide<short> ANY
	shared_wide<short><<<1, WIDE>>>(dy);
	//= shared_wide<float> ANY
	shared_wide<float><<<1, WIDE>>>(dy);
	//= shared_wide<double> ANY
	shared_wide<double><<<1, WIDE>>>(dy);
	//= shared_wide<sixteen> ANY
	shared_wide<sixteen><<<1, WIDE>>>(dy);
	// the second warp has 13 lanes
	//= shared_wide<float> ANY
	shared_wide<float><<<1, 45>>>(dy);
	//= shared_wide<double> ANY
	shared_wide<double><<<1, 45>>>(dy);
	//= shared_wide<sixteen> ANY
	shared_wide<sixteen><<<1, 45>>>(dy);
	char *a = device_zeros<char>(509), *b = device_zeros<char>(65597);
	//= scattered<char> ANY
	scattered<char><<<1, 32>>>(a, b);
	//= scattered<short> ANY
	scattered<short><<<1, 32>>>(a, b);
	//= scattered<int> ANY
	scattered<int><<<1, 32>>>(a, b);
	//= scattered<double> ANY
	scattered<double><<<1, 27>>>(a, b);
	//= scattered<sixteen> ANY
	scattered<sixteen><<<1, 32>>>(a, b);
	float *wide = device_zeros<float>(16384);
	// Bytes on both sides of a boundary of 32 KB, and no others.
	//= each load=128/1/4 store=128/1/4 foot=128/128
	each<<<1, 32>>>(
		[x = wide, y = wide] __device__(int) { y[8192 - 16 + threadIdx.x] = x[8192 - 16 + threadIdx.x]; });
	CHECK(cudaDeviceSynchronize());
	return 0;
}
