// Addresses that are wrong in themselves, one line per case with the error that the host hears of: "misaligned" for each
// width in each memory by load, store and atomic, "null" for indices from a null
// pointer.
#include <cstdio>
#include <cstring>
#include <cuda_runtime.h>

enum memory { GLOBAL, VARIABLE, CONSTANT, FIXED_SHARED, DYNAMIC, MEMORIES };
enum kind { LOAD, STORE, ATOMIC, KINDS };
static const char *const memories[] = {"global", "variable", "constant", "fixed", "dynamic"};
static const char *const kinds[] = {"read", "write", "atomic"};
const int BYTES = 63; // an array's last granule is a partly used one

__device__ __align__(16) char variable[BYTES];
__constant__ __align__(16) char constant[BYTES];

// Only some types have atomics.
template <class T>
struct has_atomic {
	static const bool value = false;
	static __device__ void add(T *) {}
};
#define ATOMIC_OF(type, call)                                                                                        \
	template <>                                                                                                  \
	struct has_atomic<type> {                                                                                    \
		static const bool value = true;                                                                      \
		static __device__ void add(type *p) { call; }                                                        \
	};
ATOMIC_OF(unsigned short, atomicCAS(p, (unsigned short)1, (unsigned short)2))
ATOMIC_OF(int, atomicAdd(p, 1))
ATOMIC_OF(float, atomicAdd(p, 1.0f))
ATOMIC_OF(unsigned long long, atomicMax(p, 1ull))
ATOMIC_OF(double, atomicAdd(p, 1.0))

template <class T>
__global__ void touch(char *global, int memory, int kind, int offset)
{
	__shared__ __align__(16) char fixed[BYTES];
	extern __shared__ __align__(16) char dynamic[];
	char *const first[] = {global, variable, (char *)constant, fixed, dynamic};
	T *place = (T *)(first[memory] + offset), mine = T();
	if (kind == LOAD)
		mine = *place;
	else if (kind == STORE)
		*place = mine;
	else
		has_atomic<T>::add(place);
}

template <class T>
static void misaligned()
{
	for (int memory = 0; memory < MEMORIES; memory++)
		for (int kind = 0; kind < KINDS; kind++)
			for (int offset = 0; offset + (int)sizeof(T) <= BYTES; offset++) {
				char *global;
				if ((kind == ATOMIC && !has_atomic<T>::value) || (memory == CONSTANT && kind != LOAD))
					continue;
				cudaMalloc(&global, BYTES);
				touch<T><<<1, 1, BYTES>>>(global, memory, kind, offset);
				printf("%s %s %zu %d %s\n", memories[memory], kinds[kind], sizeof(T), offset,
				       cudaGetErrorName(cudaDeviceSynchronize()));
				cudaDeviceReset();
			}
}

__global__ void store(char *p, size_t byte)
{
	p[byte] = 1;
}

static void null()
{
	char *refused;
	cudaMalloc(&refused, (size_t)1 << 50);
	for (size_t byte : {0ul, 1ul, 4096ul, 32768ul, 65535ul, 65536ul, ~0ul}) {
		store<<<1, 1>>>(NULL, byte);
		printf("%zu %s\n", byte, cudaGetErrorName(cudaDeviceSynchronize()));
		cudaDeviceReset();
	}
}

// Just before what has been freed, 1 MB and more from what has not.
static void beside()
{
	char *p[4];
	for (char *&each : p)
		cudaMalloc(&each, 8);
	cudaFree(p[1]);
	store<<<1, 1>>>(p[1], ~0ul);
	printf("%s\n", cudaGetErrorName(cudaDeviceSynchronize()));
	cudaDeviceReset();
}

int main(int, char **argv)
{
	if (strcmp(argv[1], "null") == 0 || strcmp(argv[1], "beside") == 0) {
		argv[1][0] == 'n' ? null() : beside();
		return 0;
	}
	misaligned<short>();
	misaligned<unsigned short>();
	misaligned<int>();
	misaligned<float>();
	misaligned<float2>();
	misaligned<double>();
	misaligned<unsigned long long>();
	misaligned<float4>();
	misaligned<double2>();
	return 0;
}
