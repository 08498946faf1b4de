#include "explain/small_case.h"

#include "explain/run_again.h"
#include "fits.h"
#include "tensors.h"

#include <string.h>

enum { WORDS_SIZE = 300, LENGTHS = 3 };

static bool is_wrong(const struct run_result *result, const struct kernel *kernel, const struct options *options)
{
	struct problem problem = options->problem;
	struct inputs inputs;
	struct rerun rerun = {.wrong = false};
	struct error error = {0};
	bool ran = inputs_make(result->chapter, kernel, 1, options, &problem, &inputs, &error) == 0 &&
	           run_again(result->chapter, kernel, &problem, inputs.list, &rerun, &error);
	inputs_free(&inputs);
	return ran && rerun.wrong;
}

/* " --window 3 --sink": what the run does to scores. Packed sequences become two of the small case's tokens. */
static void add_modifiers(const struct run_result *result, size_t tokens, char *words, size_t size)
{
	char storage[PROBLEM_ARGUMENTS][32];
	const char *arguments[PROBLEM_ARGUMENTS];
	uint64_t given = result->options->given & result->chapter->options & OPTIONS_MODIFIERS;
	size_t used = strlen(words);
	if (given & OPTION_BIT(OPTION_LENGTHS))
		used += (size_t)snprintf(words + used, size - used, " --lengths 1,%zu", tokens - 1);
	size_t count = options_of_problem(
		result->options, &result->problem, given & ~OPTION_BIT(OPTION_LENGTHS), storage, arguments);
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(words + used, size - used, " %s", arguments[i]);
}

/* The chapter's small case; its strings lie in `words`. Without tiles that the kernel does not take. */
static bool parse_small(
	const struct run_result *result, const struct kernel *kernel, char *words, size_t size, struct options *small)
{
	const struct chapter *chapter = result->chapter;
	const char *causal = result->problem.causal ? " --causal" : "";
	struct error error;
	snprintf(words, size, "%s%s", chapter->small, causal);
	if (options_parse_line(words, chapter->options, &chapter->defaults, small, &error) != 0)
		return false;
	if (result->options->given & OPTIONS_MODIFIERS) {
		size_t tokens = small->problem.seq;
		snprintf(words, size, "%s%s", chapter->small, causal);
		add_modifiers(result, tokens, words, size);
		if (options_parse_line(words, chapter->options, &chapter->defaults, small, &error) != 0)
			return false;
	}
	if (tiles_not_taken(kernel, small, &small->problem)) {
		small->given &= ~(OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K));
		small->problem.tile_q = small->problem.tile_k = 0;
	}
	return true;
}

static void write_line(
	const struct run_result *result, const struct kernel *kernel, const struct options *options, char *line,
	size_t size)
{
	char storage[PROBLEM_ARGUMENTS][32];
	const char *arguments[PROBLEM_ARGUMENTS];
	size_t count = options_of_problem(
		options, &options->problem, options->given & result->chapter->options, storage, arguments);
	size_t used = 0;
	for (size_t i = 0; i < count && used < size; i++)
		used += (size_t)snprintf(line + used, size - used, "%s ", arguments[i]);
	if (used < size)
		snprintf(line + used, size - used, "--kernel %s", kernel->name);
}

/* The lengths that are tried, in order; 0 where there is none. */
static void choose_lengths(
	const struct run_result *result, const struct kernel *kernel, const struct options *small,
	const struct options *first, size_t lengths[LENGTHS])
{
	size_t tile = kernel->forms(&first->problem).tile_k;
	bool has_length = result->chapter->options & OPTION_BIT(OPTION_SEQ) && !small->problem.packing.count;
	lengths[0] = small->problem.seq;
	for (size_t i = 1; i < LENGTHS; i++) {
		size_t length = i * tile + 1;
		lengths[i] = has_length && tile && length > lengths[0] && length <= result->problem.seq ? length : 0;
	}
}

/* The small case with as many tokens; with the run's own head dimension and inputs, if these are asked for. */
static struct options make_case(const struct run_result *result, const struct options *small, size_t seq, bool as_run)
{
	const uint64_t own = OPTION_BIT(OPTION_DIM) | OPTION_BIT(OPTION_INPUT) | OPTION_BIT(OPTION_SEED);
	struct options one = *small;
	one.problem.seq = seq;
	one.problem.keys = small->given & OPTION_BIT(OPTION_KEYS) ? small->problem.keys : seq;
	if (as_run) {
		one.problem.dim = result->problem.dim;
		one.problem.input = result->problem.input;
		one.problem.seed = result->problem.seed;
		one.given |= own & result->chapter->options;
	}
	one.problem.variant = result->problem.variant;
	problem_fill_defaults(&one.problem);
	return one;
}

bool small_case_find(const struct run_result *result, const struct kernel_result *failed, char *line, size_t size)
{
	const struct kernel *kernel = failed->kernel;
	char words[WORDS_SIZE];
	struct options small;
	size_t lengths[LENGTHS];
	if (device_hazards() > 0 || cudaDeviceSynchronize() != cudaSuccess ||
	    !parse_small(result, kernel, words, sizeof words, &small))
		return false;
	for (int as_run = 0; as_run < 2; as_run++) {
		struct options first = make_case(result, &small, small.problem.seq, as_run);
		choose_lengths(result, kernel, &small, &first, lengths);
		for (size_t i = 0; i < LENGTHS; i++) {
			if (i > 0 && !lengths[i])
				continue;
			struct options one = make_case(result, &small, lengths[i], as_run);
			if (!is_wrong(result, kernel, &one))
				continue;
			write_line(result, kernel, &one, line, size);
			return true;
		}
	}
	return false;
}
