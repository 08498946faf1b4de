/* Chapter 07: what the harness has to know about the kernels of a transformer's block. */
#include "block.h"
#include "expect.h"
#include "lesson.h"
#include "speak.h"

#include "problem/row_inputs.h"

#include <math.h>

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "rms_norm",
		.summary = "rows divided by the root of their mean square",
		.tensors = norm_tensors,
		.launch = run_rms_norm,
		.forms = norm_forms,
	},
	{
		.name = "rope",
		.summary = "pairs of columns turned by the token's angles",
		.tensors = rope_tensors,
		.launch = run_rope,
		.forms = rope_forms,
	},
	{
		.name = "project",
		.summary = "a matrix times each token, with what the token was added",
		.tensors = project_tensors,
		.launch = run_project,
		.forms = project_forms,
	},
	{
		.name = "swiglu",
		.summary = "silu(gate) times up",
		.tensors = swiglu_tensors,
		.launch = run_swiglu,
		.forms = swiglu_forms,
	},
	{
		.name = "permuted",
		.summary = "attention on copies: heads as arrays of their own",
		.tensors = permuted_tensors,
		.launch = run_permuted,
		.forms = permuted_forms,
		.runs = attention_runs,
	},
	{
		.name = "strided",
		.summary = "attention where the heads lie: no copies",
		.tensors = strided_tensors,
		.launch = run_strided,
		.forms = strided_forms,
		.runs = attention_runs,
	},
};

/* Cosines and sines of the queries' tokens; all else as in every chapter. */
static void fill(const struct problem *problem, const char *tensor, float *values)
{
	if (tensor[0] != 'a') { /* not "angles" */
		input_fill_rows(problem, tensor, values);
		return;
	}
	size_t d = problem->dim, past = problem->keys - problem->seq;
	for (size_t i = 0; i < problem->seq; i++)
		for (size_t c = 0; c < d; c++) {
			double angle = (double)(past + i) * pow(ROPE_BASE, -(double)(c / 2 * 2) / (double)d);
			values[i * d + c] = (float)(c % 2 ? sin(angle) : cos(angle));
		}
}

/* A decoded token after more and more others: what is new of every kernel stays the same, keys and values grow. */
static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = 1;
	problem->keys = (size_t)64 << step;
	return problem->keys <= (simulated ? 2048 : 8192);
}

static const struct chapter chapter = {
	.name = "07_transformer",
	.program = "transformer",
	.title = "A transformer's block: attention is a line, heads are strides.",
	.next = lesson_next,
	.small = "--seq 3 --heads 2 --kv-heads 1 --dim 2 --tile-q 2 --tile-k 2 --input ramp",
	.options = OPTION_BIT(OPTION_HEADS) | OPTION_BIT(OPTION_KV_HEADS) | OPTION_BIT(OPTION_SEQ) |
                   OPTION_BIT(OPTION_KEYS) | OPTION_BIT(OPTION_DIM) | OPTION_BIT(OPTION_CAUSAL) |
                   OPTION_BIT(OPTION_SCALE) | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K) | OPTIONS_SPEECH |
                   OPTIONS_COMMON,
	.defaults = {.heads = 9, .kv_heads = 3, .batch = 1, .seq = 64, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = fill,
	.expect = block_expect,
	.sweep = sweep,
	.speak = speak,
	.explain = lesson_explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
