/*
 * Chapter 05: what the harness has to know about fa2_modified. A hand-out has neither this file nor the kernel: there the weak
 * symbol `fa2_modified` (lesson.h) is nowhere.
 */
#include "modified.h"
#include "lesson.h"

#include "problem/modifiers.h"

enum { THREADS = 128 }; /* of a block */

static cudaError_t launch(const struct problem *problem, const struct device_memory *memory)
{
	struct scores scores = {
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
	return launch_fa2_modified(fa2_attention(problem, memory), scores);
}

static struct closed_forms forms(const struct problem *problem)
{
	int d = (int)problem->dim;
	struct tile tile = fa2_split_q_tile(d);
	struct closed_forms forms = modified_forms(problem, tile.Br, tile.Bc, THREADS);
	forms.shared_bytes = fa2_split_q_shared_bytes(d);
	return forms;
}

const struct kernel fa2_modified = {
	.name = "fa2_modified",
	.summary = "fa2_split_q with the options from --kv-heads to --lengths",
	.tensors = modified_tensors,
	.launch = launch,
	.forms = forms,
	.runs = fa2_grid_fits,
};
