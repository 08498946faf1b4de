/*
 * Chapter 08: what the harness has to know about decode_modified. A hand-out has neither this file nor the kernel: there the
 * weak symbol `decode_modified` (step.h) is nowhere.
 */
#include "modified.h"
#include "step.h"

/* Each lane of a head's warp asks for the sink, in one split. */
enum { LANES = 32 };

static cudaError_t launch(const struct problem *problem, const struct device_memory *memory)
{
	struct decode decode = decode_of(problem, memory);
	struct partials partials = partials_of(problem, memory);
	struct scores scores = {
		.window = (int)problem->window,
		.softcap = problem->softcap,
		.alibi = problem->alibi,
		.sink = problem->sink ? device_find(memory, "sink") : NULL,
		.starts = problem->packing.count ? (const int *)device_find(memory, "starts") : NULL,
		.sequences = (int)problem->sequences,
	};
	cudaError_t status = launch_decode_modified(decode, partials, scores);
	decode.H *= scores.sequences;
	return merge(status, decode, partials);
}

/* Each thread of a block asks for the start of its sequence, and for the next one. */
static uint64_t start_reads(const struct problem *problem)
{
	uint64_t threads = LANES * problem->heads / problem->kv_heads;
	return 2 * threads * problem->kv_heads * problem->splits * problem->sequences;
}

/* W is the smaller of N and --window; ΣW the sum over the sequences. */
static struct closed_forms forms(const struct problem *problem)
{
	struct closed_forms forms = split_forms(problem);
	bool narrow = keys_seen(problem) < problem->seq;
	forms.statistics = problem->sink ? LANES * problem->heads * problem->sequences : 0;
	if (problem->packing.count) {
		forms.statistics += start_reads(problem);
		forms.models[0].formula = narrow ? "2GdΣW + z((S+1)Hd + 2SH(d+2))" : "2NGd + z((S+1)Hd + 2SH(d+2))";
		forms.models[1].formula = narrow ? "2GdΣW + z(2SH(d + 2) + 2Hd)" : "2NGd + z(2SH(d + 2) + 2Hd)";
	} else if (narrow) {
		forms.models[0].formula = "2WGd + (S+1)Hd + 2SH(d+2)";
		forms.models[1].formula = "2WGd + 2SH(d + 2) + 2Hd";
	}
	return forms;
}

const struct kernel decode_modified = {
	.name = "decode_modified",
	.summary = "decode_split with windows, caps, biases, sinks, packed texts",
	.tensors = modified_split_tensors,
	.launch = launch,
	.forms = forms,
	.runs = group_fits,
};
