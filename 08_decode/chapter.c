/* Chapter 08: what the harness has to know about the kernels that decode. */
#include "lesson.h"
#include "speak.h"
#include "step.h"

#include "problem/row_inputs.h"
#include "verify/grouped_attention.h"

/* ---- the kernels ---- */

static const struct kernel kernels[] = {
	{
		.name = "decode_naive",
		.summary = "one block per head of queries, the whole cache in one loop",
		.tensors = whole_tensors,
		.launch = run_naive,
		.forms = naive_forms,
	},
	{
		.name = "decode_grouped",
		.summary = "heads that share keys share a block: K and V once",
		.tensors = whole_tensors,
		.launch = run_grouped,
		.forms = grouped_forms,
		.runs = group_fits,
	},
	{
		.name = "decode_split",
		.summary = "the keys are split over blocks; a second kernel merges",
		.tensors = split_tensors,
		.launch = run_split,
		.forms = split_forms,
		.runs = group_fits,
	},
	{
		.name = "decode_paged",
		.summary = "the same on pages that lie anywhere, each looked up in a table",
		.tensors = paged_tensors,
		.prepare = fill_pages,
		.launch = run_paged,
		.forms = paged_forms,
		.runs = group_fits,
	},
};

/* One query, the last of N tokens: as chapter 07 has it, whose inputs and reference these are. */
static struct problem as_last_token(const struct problem *problem)
{
	struct problem last = *problem;
	last.keys = problem->seq;
	last.seq = 1;
	return last;
}

static void fill(const struct problem *problem, const char *tensor, float *values)
{
	struct problem last = as_last_token(problem);
	input_fill_rows(&last, tensor, values);
}

static int expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	struct problem last = as_last_token(problem);
	size_t rows = problem->heads;
	*expectations = (struct expectations){.all_rows = rows, .row_count = rows};
	if (!heads_are_grouped(problem, error))
		return error->exit_code;
	if (grouped_attention_expect(&last, inputs, NULL, rows, expectations))
		return 0;
	expectations_free(expectations);
	return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
}

/* More and more tokens, and for each number of them more and more splits. */
static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	static const size_t splits[] = {1, 4, 16, 44, 88, 176};
	enum { SPLITS = sizeof splits / sizeof splits[0] };
	problem->seq = (size_t)256 << 2 * (step / SPLITS);
	problem->splits = splits[step % SPLITS];
	problem_settle(problem);
	return problem->seq <= (simulated ? 4096 : 16384);
}

static const struct chapter chapter = {
	.name = "08_decode",
	.program = "decode",
	.title = "One query, a long memory: split the keys.",
	.next = lesson_next,
	.small = "--seq 3 --heads 2 --kv-heads 1 --dim 2 --splits 2 --page 2 --input ramp",
	.options = OPTION_BIT(OPTION_HEADS) | OPTION_BIT(OPTION_KV_HEADS) | OPTION_BIT(OPTION_SEQ) |
                   OPTION_BIT(OPTION_DIM) | OPTION_BIT(OPTION_SPLITS) | OPTION_BIT(OPTION_PAGE) |
                   OPTION_BIT(OPTION_SCALE) | (OPTIONS_SPEECH & ~OPTION_BIT(OPTION_COUNT_ALL)) | OPTIONS_COMMON,
	.defaults =
		{.heads = 9, .kv_heads = 3, .batch = 1, .seq = 1024, .dim = 64, .splits = 44, .page = 16, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = fill,
	.expect = expect,
	.sweep = sweep,
	.speak = speak,
	.explain = lesson_explain,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
