#include "measure/timing.h"

#include "support/clock.h"

#include <stdlib.h>

enum { MOST_SAMPLES = 1000 };

struct time_summary time_measure(
	const struct device *device, const struct time_plan *plan, cudaError_t (*launch)(void *context),
	void *context)
{
	size_t most = plan->repeat ? plan->repeat : MOST_SAMPLES, count = 0;
	double *ms = calloc(most, sizeof *ms), start_s = clock_seconds();
	if (!ms)
		return (struct time_summary){0};

	struct device_memory memory = {0};
	void *flush = NULL;
	size_t flush_bytes = device->simulated ? 0 : DEVICE_FLUSH_L2S * device->l2_bytes;
	if (flush_bytes)
		flush = device_allocate(&memory, "flushing the L2 cache", flush_bytes);
	cudaEvent_t before, after;
	CUDA_CHECK(cudaEventCreate(&before));
	CUDA_CHECK(cudaEventCreate(&after));

	for (size_t i = 0; i < plan->warmup; i++) {
		CUDA_CHECK(launch(context));
		CUDA_CHECK(cudaDeviceSynchronize());
		if (!plan->repeat && clock_seconds() - start_s > plan->budget_s)
			break;
	}
	while (count < most) {
		float elapsed_ms = 0.0f;
		if (flush)
			CUDA_CHECK(cudaMemset(flush, 0, flush_bytes));
		CUDA_CHECK(cudaEventRecord(before, 0));
		CUDA_CHECK(launch(context));
		CUDA_CHECK(cudaEventRecord(after, 0));
		CUDA_CHECK(cudaEventSynchronize(after));
		CUDA_CHECK(cudaEventElapsedTime(&elapsed_ms, before, after));
		ms[count++] = elapsed_ms;
		if (!plan->repeat && (time_is_settled(ms, count) || clock_seconds() - start_s > plan->budget_s))
			break;
	}

	CUDA_CHECK(cudaEventDestroy(before));
	CUDA_CHECK(cudaEventDestroy(after));
	CUDA_CHECK(device_free_all(&memory));
	struct time_summary summary = time_summarise(ms, count);
	summary.kind = device->simulated ? "measured-cpu" : "measured-gpu";
	free(ms);
	return summary;
}
