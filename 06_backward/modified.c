/*
 * Chapter 06: what the harness has to know about backward_modified. A hand-out has neither this file nor the kernels: there the
 * weak symbol `backward_modified` (lesson.h) is nowhere.
 */
#include "modified.h"
#include "lesson.h"

#include "problem/modifiers.h"

/* Each thread of the warp that sums dsink asks for the sink. */
enum { SINK_READS = 32 };

static struct scores scores_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct scores){
		.window = (int)problem->window,
		.softcap = problem->softcap,
		.alibi = problem->alibi,
		.causal = problem->causal,
		.sink = problem->sink ? device_find(memory, "sink") : NULL,
		.N = (int)problem->seq,
		.H = (int)problem->heads,
		.G = (int)problem->kv_heads,
		.starts = problem->packing.count ? (const int *)device_find(memory, "starts") : NULL,
		.sequences = (int)(problem->batch * sequence_count(&problem->packing)),
		.longest = (int)packing_longest(&problem->packing, problem->seq),
		.dropped = dropout_threshold(problem->dropout),
		.kept = 1.0f / (1.0f - problem->dropout),
		.seed = problem->seed,
	};
}

static cudaError_t prepare(const struct problem *problem, const struct device_memory *memory)
{
	return launch_modified_forward(backward_of(problem, memory), scores_of(problem, memory));
}

static cudaError_t launch(const struct problem *problem, const struct device_memory *memory)
{
	float *dsink = problem->sink ? device_find(memory, "dsink") : NULL;
	return attention_backward_modified(backward_of(problem, memory), scores_of(problem, memory), dsink);
}

static struct closed_forms forms(const struct problem *problem)
{
	int tile = (int)backward_tile(problem);
	struct closed_forms forms = modified_backward_forms(problem, tile, SINK_READS);
	forms.shared_bytes = backward_shared_bytes((int)problem->dim, tile);
	return forms;
}

const struct kernel backward_modified = {
	.name = "backward_modified",
	.summary = "backward_split with the options from --kv-heads to --lengths",
	.tensors = modified_backward_tensors,
	.prepare = prepare,
	.launch = launch,
	.forms = forms,
	.runs = backward_runs,
};
