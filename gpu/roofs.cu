/*
 * The roofs of this GPU as it is, not as its data sheet has it: bytes a second of a copy, fp32 multiply-adds,
 * exponentials and shared-memory bytes a second. TSV on standard output, one row a roof.
 *
 *     nvcc -O3 -std=c++17 -arch=sm_90 roofs.cu -o roofs && ./roofs
 *
 * Each is the best that a simple loop gets here: a kernel above it would prove the loop wrong. What the loops compile
 * to is looked at by tools/gpu_report: a peak of multiply-adds must consist of multiply-adds.
 */
#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <vector>

#include "accuracy/launch.cuh"

#define CHECK(expression) check((expression), #expression)

constexpr int THREADS = 256;
constexpr int CHAINS = 16;  // independent sums of a thread: more than the latency of one instruction
constexpr int STEPS = 64;   // of each chain in the body of the loop
constexpr int RUNS = 20;    // timed
constexpr int WARM_UP = 3;  // not timed
constexpr float NEVER = -1; // no result is this: the store that keeps the loop alive is never made

__global__ void copy(const float4 *from, float4 *to, size_t count)
{
	size_t stride = (size_t)gridDim.x * blockDim.x;
	for (size_t i = (size_t)blockIdx.x * blockDim.x + threadIdx.x; i < count; i += stride)
		to[i] = from[i];
}

// CHAINS numbers from `first` on, `apart`, each taken through step again and again.
template <class Step>
__device__ __forceinline__ void chains(float *out, float first, float apart, int repeats, Step step)
{
	float x[CHAINS];
#pragma unroll
	for (int c = 0; c < CHAINS; c++)
		x[c] = first + c * apart;
	for (int i = 0; i < repeats; i++) {
#pragma unroll
		for (int s = 0; s < STEPS; s++)
#pragma unroll
			for (int c = 0; c < CHAINS; c++)
				x[c] = step(x[c]);
	}
	float sum = 0;
#pragma unroll
	for (int c = 0; c < CHAINS; c++)
		sum += x[c];
	if (sum == NEVER)
		out[threadIdx.x] = sum;
}

__global__ void __launch_bounds__(THREADS) multiply_add(float *out, float a, float b, int repeats)
{
	chains(out, threadIdx.x * 1e-3f, 1, repeats, [=](float x) { return fmaf(x, a, b); });
}

// y = 2^-y stays between 0.5 and 1 for ever.
__global__ void __launch_bounds__(THREADS) exponentials(float *out, int repeats)
{
	chains(out, -0.5f - threadIdx.x * 1e-3f, -1e-2f, repeats, [](float x) {
		float y;
		asm volatile("ex2.approx.ftz.f32 %0, %1;" : "=f"(y) : "f"(-x));
		return y;
	});
}

// Every lane reads its own 16 bytes: no conflict, no broadcast. The read is volatile assembly: each one is made.
__global__ void __launch_bounds__(THREADS) shared_reads(float *out, int repeats)
{
	__shared__ float4 tile[THREADS * 8];
	for (int i = threadIdx.x; i < THREADS * 8; i += THREADS)
		tile[i] = make_float4(i, i, i, i);
	__syncthreads();
	unsigned at = (unsigned)__cvta_generic_to_shared(tile + threadIdx.x);
	float sum = 0;
	for (int i = 0; i < repeats; i++) {
#pragma unroll
		for (int s = 0; s < 8; s++) {
			float x, y, z, w;
			asm volatile("ld.volatile.shared.v4.f32 {%0, %1, %2, %3}, [%4];"
			             : "=f"(x), "=f"(y), "=f"(z), "=f"(w)
			             : "r"(at + (unsigned)(s * THREADS * sizeof(float4))));
			sum += x + y + z + w; // four additions hide behind the four clocks of the read
		}
	}
	if (sum == NEVER)
		out[threadIdx.x] = sum;
}

struct times {
	double median_s, p10_s, p90_s;
};

template <class Launch>
static times measure(Launch launch)
{
	cudaEvent_t before, after;
	std::vector<double> seconds;
	CHECK(cudaEventCreate(&before));
	CHECK(cudaEventCreate(&after));
	for (int i = 0; i < WARM_UP + RUNS; i++) {
		float ms = 0;
		CHECK(cudaEventRecord(before, 0));
		launch();
		CHECK(cudaGetLastError());
		CHECK(cudaEventRecord(after, 0));
		CHECK(cudaEventSynchronize(after));
		CHECK(cudaEventElapsedTime(&ms, before, after));
		if (i >= WARM_UP)
			seconds.push_back(1e-3 * ms);
	}
	CHECK(cudaEventDestroy(before));
	CHECK(cudaEventDestroy(after));
	std::sort(seconds.begin(), seconds.end());
	return {(seconds[RUNS / 2 - 1] + seconds[RUNS / 2]) / 2, seconds[RUNS / 10], seconds[RUNS - 1 - RUNS / 10]};
}

static void print_row(const char *roof, double work, times times, const char *how)
{
	printf("%s\t%.6g\t%.6g\t%.6g\t%d\t%s\n", roof, work / times.median_s, work / times.p90_s, work / times.p10_s,
	       RUNS, how);
	fflush(stdout);
}

static void measure_copy(int sms)
{
	size_t free_bytes = 0, total_bytes = 0, bytes = (size_t)2 << 30;
	CHECK(cudaMemGetInfo(&free_bytes, &total_bytes));
	while (bytes > free_bytes / 4)
		bytes /= 2;
	float4 *from = nullptr, *to = nullptr;
	CHECK(cudaMalloc(&from, bytes));
	CHECK(cudaMalloc(&to, bytes));
	CHECK(cudaMemset(from, 0x3f, bytes)); // 0.747...: not zeros
	size_t count = bytes / sizeof *from;
	print_row(
		"hbm_bytes_per_s", 2.0 * bytes, measure([=] { copy<<<sms * 16, 2 * THREADS>>>(from, to, count); }),
		"a kernel that copies, 16 bytes a thread, bytes read and written");
	print_row(
		"hbm_bytes_per_s_memcpy", 2.0 * bytes,
		measure([=] { CHECK(cudaMemcpyAsync(to, from, bytes, cudaMemcpyDeviceToDevice, 0)); }),
		"cudaMemcpy from device to device, bytes read and written");
	CHECK(cudaFree(from));
	CHECK(cudaFree(to));
}

int main()
{
	int count = 0, clock_khz = 0, l2_bytes = 0;
	CHECK(cudaGetDeviceCount(&count));
	cudaDeviceProp properties;
	CHECK(cudaGetDeviceProperties(&properties, 0));
	CHECK(cudaDeviceGetAttribute(&clock_khz, cudaDevAttrClockRate, 0));
	CHECK(cudaDeviceGetAttribute(&l2_bytes, cudaDevAttrL2CacheSize, 0));
	char date[40] = "";
	time_t now = time(nullptr);
	strftime(date, sizeof date, "%Y-%m-%dT%H:%M:%SZ", gmtime(&now));
	printf("# roofs measured on %s, %d SMs, at most %.0f MHz, %.0f MB of L2, %s\n", properties.name,
	       properties.multiProcessorCount, 1e-3 * clock_khz, l2_bytes / 1048576.0, date);
	printf("# roof\tmedian\tp10\tp90\truns\thow\n");

	int sms = properties.multiProcessorCount, blocks = sms * 8;
	int shared_blocks = sms * 4; // 32 KB each: all of them at once, on an RTX 4090 in two rounds
	double threads = (double)blocks * THREADS;
	float *out = nullptr;
	CHECK(cudaMalloc(&out, THREADS * sizeof *out));
	measure_copy(sms);
	constexpr int FMA_REPEATS = 256, EXP_REPEATS = 64, READ_REPEATS = 2048;
	print_row(
		"fp32_flop_per_s", threads * FMA_REPEATS * STEPS * CHAINS * 2,
		measure([=] { multiply_add<<<blocks, THREADS>>>(out, 0.999f, 0.001f, FMA_REPEATS); }),
		"independent multiply-adds in registers, two operations each");
	print_row(
		"exp_per_s", threads * EXP_REPEATS * STEPS * CHAINS,
		measure([=] { exponentials<<<blocks, THREADS>>>(out, EXP_REPEATS); }),
		"independent ex2.approx in registers");
	print_row(
		"shared_bytes_per_s", (double)shared_blocks * THREADS * READ_REPEATS * 8 * 16,
		measure([=] { shared_reads<<<shared_blocks, THREADS>>>(out, READ_REPEATS); }),
		"16 bytes a lane, no conflict, no broadcast");
	CHECK(cudaFree(out));
	return 0;
}
