#include "lesson.h"

#include "online_softmax.h"

#include <stdlib.h>
#include <string.h>

/* The row, its softmax, and the steps: everything in one piece of memory, which the harness frees. */
int lesson_trace(struct run_result *result, const struct named_values *inputs, struct error *error)
{
	const struct problem *problem = &result->problem;
	if (!result->options->trace)
		return 0;
	size_t cols = problem->cols, count = ceil_div(cols, problem->block);
	struct stream *stream = malloc(sizeof *stream + count * sizeof *stream->steps + 2 * cols * sizeof(float));
	if (!stream)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the trace");
	struct stream_step *steps = (struct stream_step *)(stream + 1);
	float *x = (float *)(steps + count), *y = x + cols;
	*stream = (struct stream){problem->row, cols, problem->block, count, x, y, steps};
	memcpy(x, find_values(inputs, "x") + scores_row(problem) * cols, cols * sizeof(float));

	struct device_memory memory = {.count = 0};
	struct softmax row = {.rows = 1, .cols = (int)cols, .block = (int)problem->block};
	float *row_x = device_allocate(&memory, "x", cols * sizeof(float));
	struct update *updates = (void *)device_allocate(&memory, "updates", count * sizeof *updates);
	row.x = row_x;
	CUDA_CHECK(cudaMemcpy(row_x, x, cols * sizeof(float), cudaMemcpyHostToDevice));
	CUDA_CHECK(launch_softmax_trace(row, 0, updates));
	_Static_assert(sizeof *updates == sizeof *steps, "both are m, l and the correction");
	CUDA_CHECK(cudaMemcpy(steps, updates, count * sizeof *updates, cudaMemcpyDeviceToHost));
	device_free_all(&memory);

	float m = steps[count - 1].m, l = steps[count - 1].l;
	for (size_t j = 0; j < cols; j++)
		y[j] = l > 0.0f ? (float)softmax_weight(x[j], m, problem->variant) / l : 0.0f;
	result->findings = stream;
	return 0;
}
