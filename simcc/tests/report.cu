// sim_report(): see test_report.py, which says what each file must hold. Arguments: a folder. Launches of 1, 2, 3,
// ... threads, so that each record says which it is.
#include <cerrno>
#include <cstdio>
#include <cuda_runtime.h>
#include <sim.h>

__global__ void one(int *y)
{
	y[threadIdx.x] = 1;
}

__global__ void race(int *y)
{
	y[0] = threadIdx.x;
}

static int failures;

static void expect(bool good, const char *what)
{
	failures += !good;
	if (!good)
		fprintf(stderr, "%s: not so (errno %d)\n", what, errno);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		return 2;
	char first[400], second[400];
	snprintf(first, sizeof first, "%s/first", argv[1]);
	snprintf(second, sizeof second, "%s/second", argv[1]);
	int *y;
	cudaMalloc(&y, 4 * 1024);

	one<<<1, 1>>>(y); // in SIM_REPORT, where that is set
	expect(sim_report(first) == 0, "a report begins");
	one<<<1, 2>>>(y);
	race<<<1, 64>>>(y); // a launch and its hazard
	expect(sim_report(second) == 0, "another report begins");
	one<<<1, 3>>>(y);
	expect(sim_report(second) == 0, "it begins anew");
	one<<<1, 4>>>(y);
	expect(sim_report("/nonexistent/report") == -1 && errno == ENOENT, "one that cannot be opened");
	one<<<1, 5>>>(y); // nowhere
	expect(sim_report(nullptr) == 0, "the end of none");
	one<<<1, 6>>>(y); // nowhere
	expect(sim_report("/dev/full") == 0, "a full disk");
	one<<<1, 7>>>(y);
	errno = 0;
	expect(sim_report(nullptr) == -1 && errno == ENOSPC, "what a full disk could not take");
	expect(sim_report("-") == 0, "a report on standard output");
	one<<<1, 8>>>(y);
	expect(sim_report(nullptr) == 0, "the end of it");
	one<<<1, 9>>>(y); // nowhere
	puts("still open");
	const int unknown = !sim_is_counting(); // a --fast program says 1 of all
	expect(sim_is_as_left(y) == 1, "of what is not watched nothing is known");
	sim_watch(y);
	expect(sim_is_as_left(y) == unknown, "no launch has written to it since");
	one<<<1, 1>>>(y);
	expect(sim_is_as_left(y) == 1, "a launch wrote it");
	expect(sim_bytes_of_launches(y) == (unknown ? 0 : 4), "an element of it");
	one<<<1, 2>>>(y);
	one<<<1, 2>>>(y);
	expect(sim_bytes_of_launches(y) == (unknown ? 0 : 8), "two, each counted once");
	for (int at = 0; at < 1024; at += 1023) {
		const int kept = y[at];
		y[at] ^= 1 << 31;
		expect(sim_is_as_left(y) == unknown, "the host changed an element of it");
		y[at] = kept;
		expect(sim_is_as_left(y) == 1, "and changed it back");
	}
	cudaMemset(y, 0, 4);
	expect(sim_is_as_left(y) == unknown, "a memset changed it");
	one<<<1, 1>>>(y);
	expect(sim_is_as_left(y) == 1, "another launch wrote it");
	expect(sim_in_device_code() == 0, "main() is no device code");
	uintptr_t begin;
	size_t bytes;
	sim_device_memory(&begin, &bytes);
	expect((uintptr_t)y - begin < bytes && (uintptr_t)&y - begin >= bytes, "where device memory lies");
	return failures == 0 ? 0 : 4;
}
