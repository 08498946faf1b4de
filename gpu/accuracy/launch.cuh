/*
 * What the programs of this directory share: a launch chosen by its name on the command line, in the published shape
 * or in a part of it.
 *
 *     PROGRAM KERNEL PART [NUMBER...]
 *
 * PART divides the grid: with 64 only the first 64th of the blocks is launched. The blocks of these kernels do alike,
 * so that counts times PART are those of the whole. 1 is the launch as it was published.
 */
#ifndef ACCURACY_LAUNCH_CUH
#define ACCURACY_LAUNCH_CUH

#include <cstdio>
#include <cstdlib>
#include <cstring>

#include <cuda_runtime.h>

constexpr int LANES = 32;

inline void check(cudaError_t status, const char *what)
{
	if (status == cudaSuccess)
		return;
	fprintf(stderr, "%s: %s\n", what, cudaGetErrorString(status));
	exit(3);
}

// Device memory that nobody sets, because what the numbers are changes no count: to be run with SIM_CHECK=memcheck.
// Lives until the program ends.
template <class T>
T *unset(size_t elements)
{
	T *memory;
	check(cudaMalloc(&memory, elements * sizeof(T)), "cudaMalloc");
	return memory;
}

// `whole` blocks in `part` equal parts.
inline unsigned part_of(unsigned whole, int part)
{
	if (part >= 1 && whole % part == 0)
		return whole / part;
	fprintf(stderr, "%d: expected a part that divides %u blocks\n", part, whole);
	exit(2);
}

struct launch {
	const char *kernel;
	void (*run)(int part, const int *numbers);
	int numbers; // how many it takes
};

template <size_t N>
int launch_named(int argc, char **argv, const launch (&launches)[N])
{
	for (const launch &each : launches) {
		if (argc < 3 || strcmp(argv[1], each.kernel) != 0 || argc - 3 != each.numbers)
			continue;
		int numbers[8] = {};
		for (int i = 0; i < each.numbers; i++)
			numbers[i] = atoi(argv[3 + i]);
		each.run(atoi(argv[2]), numbers);
		check(cudaGetLastError(), each.kernel);
		check(cudaDeviceSynchronize(), each.kernel);
		return 0;
	}
	fprintf(stderr, "%s: expected one of\n", argv[0]);
	for (const launch &each : launches)
		fprintf(stderr, "    %s PART and %d numbers\n", each.kernel, each.numbers);
	return 2;
}

#endif
