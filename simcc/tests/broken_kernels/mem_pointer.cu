// Pointers that device code cannot follow: to what is freed, to the host's memory, to another thread's
// and another kernel's.
// EXPECT memcheck use_after_free|out_of_bounds|host_pointer|null error x9
#include "main.cuh"
#include <cstdlib>

__global__ void add(const int *x, int *y)
{
	y[threadIdx.x] += x[threadIdx.x]; // BUG
}

// Reading a string of the program is fine.
__global__ void spell(char *y)
{
	char *text = (char *)"text";
	IF_WRONG(text[threadIdx.x] = 'T'); // BUG
	y[threadIdx.x] = text[threadIdx.x];
}

// On a GPU each thread finds its own memory there.
__global__ void follow(int *y)
{
	__shared__ int *place;
	int own = threadIdx.x;
	if (threadIdx.x == 0)
		place = &own;
	__syncthreads();
	IF_WRONG(own = *place); // BUG
	__syncthreads();
	y[threadIdx.x] = own;
}

__device__ int *kept;

__global__ void keep(int *y)
{
	__shared__ int squares[32];
	squares[threadIdx.x] = threadIdx.x * threadIdx.x;
	if (threadIdx.x == 0)
		kept = WRONG(squares, y);
}

__global__ void use(int *y)
{
	y[threadIdx.x] = kept[threadIdx.x]; // BUG
}

static void add_of(const int *x)
{
	int *right = zeros<int>(32), *y = zeros<int>(32);
	add<<<1, 32>>>(WRONG(x, right), y);
	reset();
	(void)right;
}

int main()
{
	int on_stack[32], *on_heap = (int *)calloc(32, sizeof(int)), *before, *freed;
	cudaMalloc(&before, sizeof on_stack);
	reset();
	for (const int *x :
	     {(const int *)nullptr, (const int *)before, (const int *)on_stack, (const int *)on_heap,
	      (const int *)((size_t)&main & ~(size_t)15)}) // code, which cannot be written
		add_of(x);
	cudaMalloc(&freed, sizeof on_stack);
	cudaFree(freed);
	add_of(freed);
	spell<<<1, 4>>>(empty<char>(4));
	reset();
	follow<<<1, 64>>>(empty<int>(64));
	reset();
	int *y = zeros<int>(32);
	keep<<<1, 32>>>(y);
	use<<<1, 32>>>(y);
	free(on_heap);
	return end();
}
