// A kernel that computes for some milliseconds before its only thread ends. With the argument "paused" it computes for
// 300 and is stopped for a second of them, longer than SIM_TIMEOUT: it is no endless loop (test_programs.py).
#include "check.cuh"

#include <csignal>
#include <unistd.h>

//= busy store=4/1/1
__global__ void busy(int *rounds, int milliseconds)
{
	const long long millisecond = 1000 * 1000; // the device's clock counts nanoseconds
	long long before = clock64(), spent = 0;
	int count = 0;
	for (; spent < milliseconds * millisecond; count++) {
		long long now = clock64();
		// A longer step is a pause of the process: not its own time.
		spent += now - before < millisecond ? now - before : millisecond;
		before = now;
	}
	*rounds = count;
}

// Another process stops this one after 0.15 seconds, and lets it go on a second later.
static void pause_later()
{
	const pid_t self = getpid();
	if (fork() != 0)
		return;
	usleep(150 * 1000);
	kill(self, SIGSTOP);
	sleep(1);
	kill(self, SIGCONT);
	_exit(0);
}

int main(int argc, char **)
{
	const bool paused = argc > 1;
	int rounds = 0, *device;
	if (paused)
		pause_later();
	CHECK(cudaMalloc(&device, sizeof(int)));
	busy<<<1, 1>>>(device, paused ? 300 : 10);
	CHECK(cudaMemcpy(&rounds, device, sizeof(int), cudaMemcpyDeviceToHost));
	CHECK(cudaFree(device));
	return rounds > 0 ? 0 : 1;
}
