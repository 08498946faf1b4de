#include "measure/timing.h"

#include <math.h>
#include <stdlib.h>
#include <time.h>

enum { FEWEST_SAMPLES = 5, MOST_SAMPLES = 1000 };

static int compare_doubles(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;
	return (x > y) - (x < y);
}

static double percentile(const double *sorted, size_t count, double fraction)
{
	double position = fraction * (double)(count - 1);
	size_t below = (size_t)position;
	size_t above = below + 1 < count ? below + 1 : below;
	return sorted[below] + (position - (double)below) * (sorted[above] - sorted[below]);
}

struct time_summary time_summarise(double *ms, size_t count)
{
	if (count == 0)
		return (struct time_summary){0};
	qsort(ms, count, sizeof *ms, compare_doubles);
	return (struct time_summary){percentile(ms, count, 0.5), percentile(ms, count, 0.1),
	                             percentile(ms, count, 0.9), count};
}

bool time_is_settled(const double *ms, size_t count)
{
	if (count < FEWEST_SAMPLES)
		return false;
	double sum = 0.0, squares = 0.0, n = (double)count;
	for (size_t i = 0; i < count; i++)
		sum += ms[i];
	double mean = sum / n;
	for (size_t i = 0; i < count; i++)
		squares += (ms[i] - mean) * (ms[i] - mean);
	return sqrt(squares / (n - 1.0) / n) < 0.01 * mean;
}

static double seconds_now(void)
{
	struct timespec now;
	clock_gettime(CLOCK_MONOTONIC, &now);
	return (double)now.tv_sec + 1e-9 * (double)now.tv_nsec;
}

struct time_summary time_measure(const struct device *device, const struct time_plan *plan,
                                 cudaError_t (*launch)(void *context), void *context)
{
	size_t most = plan->repeat ? plan->repeat : MOST_SAMPLES, count = 0;
	double *ms = calloc(most, sizeof *ms), start_s = seconds_now();
	if (!ms)
		return (struct time_summary){0};

	void *flush = NULL;
	if (!device->simulated)
		CUDA_CHECK(cudaMalloc(&flush, device->l2_bytes));
	cudaEvent_t before, after;
	CUDA_CHECK(cudaEventCreate(&before));
	CUDA_CHECK(cudaEventCreate(&after));

	for (size_t i = 0; i < plan->warmup; i++) {
		CUDA_CHECK(launch(context));
		CUDA_CHECK(cudaDeviceSynchronize());
		if (!plan->repeat && seconds_now() - start_s > plan->budget_s)
			break;
	}
	while (count < most) {
		float elapsed_ms = 0.0f;
		if (flush)
			CUDA_CHECK(cudaMemset(flush, 0, device->l2_bytes));
		CUDA_CHECK(cudaEventRecord(before, 0));
		CUDA_CHECK(launch(context));
		CUDA_CHECK(cudaEventRecord(after, 0));
		CUDA_CHECK(cudaEventSynchronize(after));
		CUDA_CHECK(cudaEventElapsedTime(&elapsed_ms, before, after));
		ms[count++] = elapsed_ms;
		if (!plan->repeat && (time_is_settled(ms, count) || seconds_now() - start_s > plan->budget_s))
			break;
	}

	CUDA_CHECK(cudaEventDestroy(before));
	CUDA_CHECK(cudaEventDestroy(after));
	if (flush)
		CUDA_CHECK(cudaFree(flush));
	struct time_summary summary = time_summarise(ms, count);
	free(ms);
	return summary;
}
