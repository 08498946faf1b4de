/*
 * Chapter 08: what the harness has to know about decode_modified. A hand-out has neither this file nor the kernel: there the
 * weak symbol `decode_modified` (step.h) is nowhere.
 */
#include "modified.h"
#include "step.h"

/* Each lane of a head's warp asks for the sink, in one split. */
enum { SINK_READS = 32 };

static cudaError_t launch(const struct problem *problem, const struct device_memory *memory)
{
	struct decode decode = decode_of(problem, memory);
	struct partials partials = partials_of(problem, memory);
	struct scores scores = {
		.window = (int)problem->window,
		.softcap = problem->softcap,
		.alibi = problem->alibi,
		.sink = problem->sink ? device_find(memory, "sink") : NULL,
	};
	return merge(launch_decode_modified(decode, partials, scores), decode, partials);
}

/* W is the smaller of N and --window. */
static struct closed_forms forms(const struct problem *problem)
{
	struct closed_forms forms = split_forms(problem);
	forms.statistics = problem->sink ? SINK_READS * problem->heads : 0;
	if (keys_seen(problem) < problem->seq) {
		forms.models[0].formula = "2WGd + (S+1)Hd + 2SH(d+2)";
		forms.models[1].formula = "2WGd + 2SH(d + 2) + 2Hd";
	}
	return forms;
}

const struct kernel decode_modified = {
	.name = "decode_modified",
	.summary = "decode_split with windows, caps, biases, sinks",
	.tensors = modified_split_tensors,
	.launch = launch,
	.forms = forms,
	.runs = group_fits,
};
