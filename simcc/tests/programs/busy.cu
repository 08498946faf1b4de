// A kernel that computes for a third of a second before its only thread ends. Stopped for longer than SIM_TIMEOUT, it
// is no endless loop: test_programs.c stops it.
#include "check.cuh"

//= busy store=4/1/1
__global__ void busy(int *rounds)
{
	const long long millisecond = 1000 * 1000; // the device's clock counts nanoseconds
	long long before = clock64(), spent = 0;
	int count = 0;
	for (; spent < 300 * millisecond; count++) {
		long long now = clock64();
		// A longer step is a pause of the process: not its own time.
		spent += now - before < millisecond ? now - before : millisecond;
		before = now;
	}
	*rounds = count;
}

int main()
{
	int rounds = 0, *device;
	CHECK(cudaMalloc(&device, sizeof(int)));
	busy<<<1, 1>>>(device);
	CHECK(cudaMemcpy(&rounds, device, sizeof(int), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(device));
	return rounds > 0 ? 0 : 1;
}
