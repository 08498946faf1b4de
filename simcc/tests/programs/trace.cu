// What SIM_TRACE must say about these kernels, worked out by hand: beside each launch, one comment for each line,
//
//     //- kernel x,y,z interval space tensor op bytes [first,end)... places
//
// where a place is a line marked "@place" (the suite sim_trace reads them). And what SIM_TRACE_REQUESTS must say of a
// warp, the lanes in hexadecimal; bytes are those of a lane:
//
//     //~ kernel x,y,z interval warp: place space tensor op bytes lanes offset pattern; ...
//
// With an argument the program does instead what ends a trace: an error, an endless loop, a signal, too many lines.
#include <csignal>
#include <cstring>

#include "check.cuh"
#include "trace.cuh"

__device__ int counter;
__constant__ float weights[4] = {1, 2, 3, 4};

__global__ void stage(const float *x, float *y, int n)
{
	__shared__ float tile[4];
	int i = blockIdx.x * blockDim.x + threadIdx.x;
	tile[threadIdx.x] = i < n ? x[i] : 0; // @fill
	__syncthreads();
	if (i < n)
		y[i] = tile[threadIdx.x ^ 1]; // @drain
}

// Every other element, then two on one line, of which one fills a gap; bytes; a variable and constants.
__global__ void scatter(const float *x, float *y)
{
	extern __shared__ int raw[];
	int t = threadIdx.x;
	float sum = x[2 * t];     // @even
	((char *)raw)[3 * t] = 1; // @bytes
	sum += x[1] + x[0];       // @one
	if (t == 0)
		raw[2] = 0; // @zero
	__syncthreads();
	atomicAdd(&raw[2], t);       // @shared
	atomicAdd(&counter, 1);      // @counter
	y[2 - t] = sum * weights[t]; // @scaled
}

// Lanes that part: lane t reads t elements, odd ones somewhere else than even ones.
__global__ void part(const float *x, float *y)
{
	float sum = 0;
	for (int k = 0; k < (int)threadIdx.x; k++) {
		if (threadIdx.x % 2)
			sum += x[k]; // @odd
		else
			sum += twice(&x[k]);
	}
	y[threadIdx.x] = sum; // @sum
}

__global__ void rounds(int *y)
{
	for (int k = 0; k < 3; k++) {
		if ((int)threadIdx.x == k)
			y[2 * k] = k; // @round
		__syncthreads();
		__syncthreads();
	}
}

__global__ void grid(int *y)
{
	y[blockIdx.y * gridDim.x + blockIdx.x] = 1; // @grid
}

// Three of four lanes.
__global__ void gap(int *y)
{
	int t = threadIdx.x;
	if (t != 2)
		y[t - t / 3] = 1; // @gap
}

static void follow_by_hand()
{
	float x[64], y[64];
	for (int i = 0; i < 64; i++)
		x[i] = (float)i;
	float *dx = device_copy(x, 64), *dy = device_zeros<float>(64);

	//= stage load=28/2/2 store=28/2/2 sstore=32/2/2/2 sload=28/2/2/2 barriers=2
	//- stage 0,0,0 0 global alloc0 load 16 [0,16] fill
	//- stage 0,0,0 0 shared tile store 16 [0,16] fill
	//- stage 0,0,0 1 global alloc1 store 16 [0,16] drain
	//- stage 0,0,0 1 shared tile load 16 [0,16] drain
	//- stage 1,0,0 0 global alloc0 load 12 [16,28] fill
	//- stage 1,0,0 0 shared tile store 16 [0,16] fill
	//- stage 1,0,0 1 global alloc1 store 12 [16,28] drain
	//- stage 1,0,0 1 shared tile load 12 [0,8] [12,16] drain
	//~ stage 0,0,0 0 0: fill global alloc0 load 4 f 0 +4; fill shared tile store 4 f 0 +4
	//~ stage 0,0,0 1 0: drain shared tile load 4 f 4 0,-4,8,4; drain global alloc1 store 4 f 0 +4
	//~ stage 1,0,0 0 0: fill global alloc0 load 4 7 16 +4; fill shared tile store 4 f 0 +4
	//~ stage 1,0,0 1 0: drain shared tile load 4 7 4 0,-4,8; drain global alloc1 store 4 7 16 +4
	stage<<<2, 4>>>(dx, dy, 7);
	fetch(y, dy, 7);
	EXPECT(y[0] == 1 && y[6] == 0);

	//= scatter load=36/3/3 store=12/1/1 atomic=12/1/3 sstore=7/2/2/2 satomic=12/1/1/1 const=12/1 barriers=1
	//- scatter 0,0,0 0 global alloc0 load 36 [0,12] [16,20] even one
	//- scatter 0,0,0 0 shared dynamic_shared_memory store 7 [0,1] [3,4] [6,7] [8,12] bytes zero
	//- scatter 0,0,0 1 global counter atomic 12 [0,4] counter
	//- scatter 0,0,0 1 global alloc1 store 12 [0,12] scaled
	//- scatter 0,0,0 1 constant weights load 12 [0,12] scaled
	//- scatter 0,0,0 1 shared dynamic_shared_memory atomic 12 [8,12] shared
	//~ scatter 0,0,0 0 0: even global alloc0 load 4 7 0 +8; bytes shared dynamic_shared_memory store 1 7 0 +3;
	//~     one global alloc0 load 4 7 4 +0; one global alloc0 load 4 7 0 +0;
	//~     zero shared dynamic_shared_memory store 4 1 8 +0
	//~ scatter 0,0,0 1 0: shared shared dynamic_shared_memory atomic 4 7 8 +0; counter global counter atomic 4 7 0 +0;
	//~     scaled constant weights load 4 7 0 +4; scaled global alloc1 store 4 7 8 -4
	scatter<<<1, 3, 12>>>(dx, dy);
	fetch(y, dy, 3);
	EXPECT(y[2] == 1 && y[0] == 15);

	// 0 + 1 + ... + 32 = 528 reads; of the k-th those of one half of the lanes
	//= part load=4*528/31+30+32/31+30+32 store=4*33/2/5
	//- part 0,0,0 0 global alloc0 load 2112 [0,128] odd trace.cuh:twice
	//- part 0,0,0 0 global alloc1 store 132 [0,132] sum
	part<<<1, 33>>>(dx, dy);
	fetch(y, dy, 33);
	EXPECT(y[3] == 3 && y[4] == 12);

	// freed, and allocated again: another allocation
	CHECK(cudaFree(dy));
	int *dn = device_zeros<int>(8);
	//= rounds store=12/3/3 barriers=6
	//- rounds 0,0,0 0 global alloc2 store 4 [0,4] round
	//- rounds 0,0,0 2 global alloc2 store 4 [8,12] round
	//- rounds 0,0,0 4 global alloc2 store 4 [16,20] round
	//~ rounds 0,0,0 0 0: round global alloc2 store 4 1 0 +0
	//~ rounds 0,0,0 2 0: round global alloc2 store 4 2 8 +0
	//~ rounds 0,0,0 4 0: round global alloc2 store 4 4 16 +0
	rounds<<<1, 40>>>(dn);
	//= grid store=16/4/4
	//- grid 0,0,0 0 global alloc2 store 4 [0,4] grid
	//- grid 1,0,0 0 global alloc2 store 4 [4,8] grid
	//- grid 0,1,0 0 global alloc2 store 4 [8,12] grid
	//- grid 1,1,0 0 global alloc2 store 4 [12,16] grid
	//~ grid 0,0,0 0 0: grid global alloc2 store 4 1 0 +0
	//~ grid 1,0,0 0 0: grid global alloc2 store 4 1 4 +0
	//~ grid 0,1,0 0 0: grid global alloc2 store 4 1 8 +0
	//~ grid 1,1,0 0 0: grid global alloc2 store 4 1 12 +0
	grid<<<dim3(2, 2), 1>>>(dn);
	// Kills: steps from active lane to active lane, where they are to be those of lanes.
	//= gap store=12/1/1
	//- gap 0,0,0 0 global alloc2 store 12 [0,12] gap
	//~ gap 0,0,0 0 0: gap global alloc2 store 4 b 0 0,4,8
	gap<<<1, 4>>>(dn);
	CHECK(cudaDeviceSynchronize());
}

// ---- ends of a trace ----

// Block 1 fails, late: on several CPU threads block 2 has long ended then.
__global__ void stray(int *y, int n)
{
	y[blockIdx.x * 4 + threadIdx.x] = 1; // @before
	__syncthreads();
	y[blockIdx.x * 4 + threadIdx.x] = 2; // @after
	for (volatile int i = 0; blockIdx.x == 1 && i < 1000000; i = i + 1)
		;
	if (blockIdx.x == 1) {
		y[100] = 2; // @also
		y[n] = 3;
	}
	__syncthreads();
	y[blockIdx.x * 4 + threadIdx.x] = 4; // @last
}

__global__ void leave(int *y)
{
	y[threadIdx.x] = 1; // @all
	if (threadIdx.x >= 2)
		return;
	__syncthreads();
	y[threadIdx.x] = 2; // @left
}

__global__ void spin(volatile int *y)
{
	y[threadIdx.x] = 1; // @spin
	__syncthreads();
	while (y[threadIdx.x] == 1) // @ask
		;
}

// 64 intervals of 128 ranges each
__global__ void crowd(int *y)
{
	for (int k = 0; k < 64; k++) {
		y[256 * blockIdx.x + 2 * threadIdx.x] = k;
		__syncthreads();
	}
}

// The last block alone is more than a trace holds.
__global__ void long_end(int *y)
{
	for (int k = 0; k < (blockIdx.x == 0 ? 1 : 12000); k++) {
		y[256 * blockIdx.x + threadIdx.x] = k;
		__syncthreads();
	}
}

// In reverse order the sixth block takes its time, and then fails; what runs beside it is more than a trace holds.
__global__ void late_error(int *y)
{
	const int order = gridDim.x - 1 - blockIdx.x;
	int sum = 0;
	for (int i = 0; i < (order == 5 ? 600000 : 0); i++)
		sum += __shfl_xor_sync(~0u, i, 1);
	y[order == 5 ? 1 << 28 : threadIdx.x] = sum;
	for (int k = 0; k < (order > 5 ? 64 : 0); k++) {
		y[threadIdx.x + 32 * k] = k;
		__syncthreads();
	}
}

int main(int argc, char **argv)
{
	if (argc < 2) {
		follow_by_hand();
		return 0;
	}
	int *y = device_zeros<int>(40 * 256);
	if (strcmp(argv[1], "stray") == 0)
		stray<<<3, 4>>>(y, 40 * 256);
	else if (strcmp(argv[1], "leave") == 0)
		leave<<<1, 4>>>(y);
	else if (strcmp(argv[1], "spin") == 0)
		spin<<<1, 2>>>(y);
	else if (strcmp(argv[1], "crowd") == 0)
		crowd<<<40, 128>>>(y);
	else if (strcmp(argv[1], "long_end") == 0)
		long_end<<<2, 32>>>(y);
	else if (strcmp(argv[1], "late_error") == 0)
		late_error<<<400, 32>>>(y);
	grid<<<1, 1>>>(y);
	if (strcmp(argv[1], "killed") == 0)
		raise(SIGKILL);
	return cudaDeviceSynchronize() != cudaSuccess;
}
