// clang-format off
/*
 * What a learner may mistype, and what is said of it: behind a line `// PART: WORDS` asks for an error or a warning at PART
 * of that line, which has these WORDS in it, and no other line may have one (test_mistakes.py).
 */
#include <cmath>
#include <cstdio>
#define LAUNCH(kernel) kernel<<<1, 32>>>(x)
#define T              16
struct S {
	int v;
};
__global__ int number(float *x) { return 0; } // int number: must have void return type
__global__ float *sums(float *x) // float *: must have void return type
{
	__shared__ float all[32];
	// } of a comment is none
	if (x[0] > 0) {
		__syncthreads();
	}
	all[0] = __shfl_down_sync(~0u, x[0], 3);
	return x;
}
__global__ nothing(float *x) {} // nothing: type specifier
__global__ void three(float *x, int n, int m) {}
__global__ void filled(float *x, int n = 1) {}
template <class Y>
__global__ void typed(Y *x, Y y) {}
void plain(float *x) {}
__device__ void device(float *x) {}
template <int n>
void host_template(float *x) {}

__global__ void k(float *x, int n)
{
	int t = threadIdx.x, u = blockIdx.x * blockDim.x, v = nowhere; // nowhere: undeclared identifier 'nowhere'
	__shared__ float s[4];
	s[threadIdx.y] = Undeclared; // Undeclared: undeclared identifier 'Undeclared'
	/* größe */ x[0] = commented; // commented: undeclared identifier 'commented'
	x[0] = "größe"[1] + behind; // behind: undeclared identifier 'behind'
	if (threadIdx == 0) // ==: invalid operands
		x[0] = 1;
	x[threadidx.x] = 1; // threadidx: did you mean 'threadIdx'?
	x[0] += __shfl_down_sync(x[0], 3); // __shfl: : it takes at least 3 arguments, the call gives 2
	atomicAdd(x[0], 1.0f); // atomicAdd: : argument 1 of type 'float' is incompatible with 'float *'
	__syncthreads(1); // __sync: : it takes 0 arguments, the call gives 1
	syncthreads(); // sync: did you mean '__syncthreads'?
	__syncthread(); // __sync: use of undeclared identifier '__syncthread'; did you mean '__syncthreads'?
	__shared__ float b[3] = {1, 2, 3}; // b[3]: initialization is not supported for __shared__ variables
	__shared__ float m(3); // m(3): initialization is not supported for __shared__ variables
	__shared__ float i = 3; // i = 3: initialization is not supported for __shared__ variables
	three<<<1, 1>>>(x, 1, 2); // three: a launch in device code (dynamic parallelism) is not supported
	plain(x); // plain(: no matching function for call to 'plain'
	threadIdx.x = 3; // =: const
	x[0] = x[0] % 2; // %: invalid operands
	x(t) = 1; // (t): called object type 'float *' is not a function
	n.x = 1; // .x: not a structure
	x = 3.0f; // 3.0f: incompatible type 'float'
	__shared__ float partial[n]; // partial: its size must be a constant, or it is `extern __shared__ float partial[];`
	__shared__ int flags[blockDim.x]; // flags: or it is `extern __shared__ int flags[];` and the launch says its bytes
	__shared__ float tile[T][T + 1] // : expected ';'
	int y = threadIdx.x;
}

void frees(float *x)
{
	if (x)
		__syncthreads(); // __sync: : a __device__ function, and the call is in a function of the host
	device(x); // device: no matching function for call to 'device'
}

int main()
{
	float *x = 0, h[4];
	int *i = 0;
	size_t bytes = 4;
	cudaEvent_t e;
	cudaError_t error = cudaSuccess;
	k<<<1, 32>>>(x, nothere); // nothere: undeclared identifier 'nothere'
	k<<<dim3(1, wide), 32>>>(x, 1); // wide: undeclared identifier 'wide'
	k<<<1, 32>>>(x, 1), declared_nowhere = 3; // declared_: undeclared identifier
	nokernel<<<1, 32>>>(x); // nokernel: undeclared identifier 'nokernel'
	LAUNCH(unknown); // unknown: undeclared identifier 'unknown'
	LAUNCH(three); // LAUNCH: too few arguments to function call, expected 3, have 1
	k<<<1, 32>>>(i, 2); // i, 2: type 'float *' with an lvalue of type 'int *'
	k<<<1, 32>>>(x, x); // x);: type 'int' with an lvalue of type 'float *'
	typed<float><<<1, 32>>>(x, S{1}); // typed: no matching function for call to 'typed'
	typed<<<1, 32>>>(x, 1); // typed: no matching function for call to 'typed'
	three<<<1, 32>>>(x, 2); // );: too few arguments to function call, expected 3, have 2
	three<<<1, 32>>>(x, 2, 3, 4); // 4);: too many arguments to function call, expected 3, have 4
	filled<<<1, 32>>>(); // );: too few arguments to function call, at least argument 'x' must be specified
	three(x, 1, 2); // (x: call to global function 'three' not configured
	three<<<1>>>(x, 1, 2); // >>>: too few execution configuration arguments to kernel
	three<<<1, 1, 0, 0, 0>>>(x, 1, 2); // 0>>>: too many execution configuration arguments to kernel
	three<<1, 1>>(x, 1, 2); // <<1: a launch is kernel<<<grid, block>>>(arguments)
	three<<<1, 1>>(x, 1, 2); // ;: a launch is kernel<<<grid, block>>>(arguments)
	three<<4, T>>>(x, 1, 2); // <<4: a launch is kernel<<<grid, block>>>(arguments)
	three<4, T>(x, 1, 2); // <4: a launch is kernel<<<grid, block>>>(arguments)
	three<<<>>>(x, 1, 2); // >>>: expected expression; a launch is kernel<<<grid, block>>>(arguments)
	sums<<<1, 32>>>(x);
	k<<<bytes / 256.0, 32>>>(x, 1); // bytes: is a whole number: this floating-point value loses its fraction
	k<<<ceil(bytes / 256.0), 256.0>>>(x, 1);
	three<<<1, 256>>>; // ;: expected '('; a launch is kernel<<<grid, block>>>(arguments)
	plain<<<1, 1>>>(x); // (x): kernel call to non-global function 'plain'; a kernel is declared __global__ void
	device<<<1, 1>>>(x); // (x): kernel call to non-global function 'device'
	host_template<3><<<1, 1>>>(x); // (x): kernel call to non-global function 'host_template<3>'
	(*i)<<<1, 32>>>(x); // (x): not a function
	cudaMalloc(x, bytes); // cudaM: : argument 1 of type 'float *' is incompatible with 'void **'
	cudaMalloc(bytes); // cudaM: : it takes 2 arguments, the call gives 1
	cudaMemcpy(x, h, bytes, 1.5); // cudaM: : argument 4 of type 'double' is incompatible with
	cudaMemcpy(x, h, bytes, cudaMemcpyHostToDevise); // cudaMemcpyH: use of undeclared identifier 'cudaMemcpyHostToDevise'; did you mean 'cudaMemcpyHostToDevice'?
	cudaEventCreate(e); // cudaE: no matching function for call to 'cudaEventCreate': 
	dim3 b(1, 2, 3, 4); // b(1: the call gives 4
	cudamalloc(&x, bytes); // cuda: is not a function of the CUDA runtime that the simulated device has; did you mean 'cudaMalloc'?
	if (cudaMaloc(&x, 4) != cudaSuccess) // cuda: did you mean 'cudaMalloc'?
		return 1;
	printf("%s", cudaGetErorString(error)); // cuda: did you mean 'cudaGetErrorString'?
	cudaMemcpy3D(x); // cuda: 'cudaMemcpy3D' (the CUDA runtime) is not supported by the simulated device
	cudaGraphLaunch(0, 0); // cuda: 'cudaGraphLaunch' (the CUDA runtime) is not supported by the simulated device
	bytes = 1 // : expected ';'
	k<<<1, 32>>>(x, 2);
	return 0;
}
