#include "explain/replay.h"

#include "tensors.h"

#include <stdlib.h>

enum { WITHOUT_TILES = 32 }; /* the step where a kernel works in none */

/* Where rows are missing, what the others are made of explains nothing: there is nothing to look for. */
static bool is_wrong(const struct kernel_result *kernel)
{
	for (size_t c = 0; c < kernel->output_count; c++)
		if (*kernel->outputs[c].unwritten)
			return false;
	for (size_t c = 0; kernel->maps && c < kernel->output_count; c++)
		if (kernel->maps[c].wrong)
			return true;
	return false;
}

/* Each query has the keys of its own head, as many as there are queries. */
static bool is_attention(const struct kernel *kernel, const struct problem *problem)
{
	return tensor_find(kernel->tensors, "Q") && tensor_find(kernel->tensors, "K") &&
	       tensor_find(kernel->tensors, "V") && problem->seq > 1 && problem->keys == problem->seq &&
	       problem->kv_heads == problem->heads;
}

/* What a tensor of the whole problem holds where the shorter one has an element, too. */
static float *cut(
	const float *values, const struct tensor *tensor, const struct problem *whole, const struct problem *part)
{
	size_t from[MAX_RANK], to[MAX_RANK], rank = tensor_shape(part, tensor, to),
					     elements = shape_elements(to, rank);
	float *shorter = malloc(elements * sizeof *shorter);
	tensor_shape(whole, tensor, from);
	for (size_t e = 0; shorter && e < elements; e++) {
		size_t rest = e, at = 0, stride = 1;
		for (size_t axis = rank; axis-- > 0; rest /= to[axis], stride *= from[axis])
			at += rest % to[axis] * stride;
		shorter[e] = values[at];
	}
	return shorter;
}

static bool cut_inputs(
	const struct kernel *kernel, const struct inputs *inputs, const struct problem *whole,
	const struct problem *part, struct inputs *shorter)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		if (!tensor_is_input(tensor))
			continue;
		float *values = cut(find_values(inputs->list, tensor->name), tensor, whole, part);
		if (!values)
			return false;
		shorter->owned[shorter->count] = values;
		shorter->list[shorter->count++] = (struct named_values){tensor->name, values};
	}
	return true;
}

/* False where it could not be run. */
static bool replay_once(
	const struct run_result *result, const struct kernel *kernel, const struct inputs *inputs,
	struct replay *replay, struct error *error)
{
	struct problem part = result->problem;
	struct inputs shorter = {.count = 0};
	part.seq = part.keys = replay->keys;
	bool ran = cut_inputs(kernel, inputs, &result->problem, &part, &shorter) &&
	           run_again(result->chapter, kernel, &part, shorter.list, &replay->run, error);
	inputs_free(&shorter);
	return ran;
}

/* Tile by tile, after four of them twice as many each time; at last all whole tiles. */
static size_t next_keys(size_t keys, size_t tile, size_t seq)
{
	size_t whole = seq / tile * tile, next = keys < 4 * tile ? keys + tile : 2 * keys;
	return keys < whole && next > whole ? whole : next;
}

/* From whole tiles to the one key with which it is wrong; that all of them together are wrong is known. */
static void narrow_down(
	const struct run_result *result, const struct kernel *kernel, const struct inputs *inputs,
	struct replays *replays, struct error *error)
{
	size_t seq = result->problem.seq, right = 0, wrong = seq, tile = replays->tile;
	size_t keys = tile < seq ? tile : seq / 2;
	while (wrong - right > 1 && replays->count < MAX_REPLAYS) {
		struct replay *replay = &replays->list[replays->count];
		*replay = (struct replay){.keys = keys};
		if (!replay_once(result, kernel, inputs, replay, error))
			return;
		replays->count++;
		if (replay->run.wrong)
			wrong = keys;
		else
			right = keys;
		size_t next = next_keys(right, tile, seq);
		keys = next < wrong && wrong == seq ? next : right + (wrong - right) / 2;
	}
}

int replay_wrong(
	const struct run_result *result, const struct kernel_result *kernel, struct replays *replays,
	struct error *error)
{
	struct problem problem = result->problem;
	struct inputs inputs;
	*replays = (struct replays){.count = 0, .tile = kernel->forms.tile_k ? kernel->forms.tile_k : WITHOUT_TILES};
	if (!is_wrong(kernel) || device_hazards() > 0 || !is_attention(kernel->kernel, &problem))
		return 0;
	int status = inputs_make(result->chapter, kernel->kernel, 1, result->options, &problem, &inputs, error);
	if (status == 0) {
		narrow_down(result, kernel->kernel, &inputs, replays, error);
		wrong_row_find(kernel, &inputs, &replays->row);
		status = error->exit_code;
	}
	inputs_free(&inputs);
	return status;
}

void replays_free(struct replays *replays)
{
	wrong_row_free(&replays->row);
	*replays = (struct replays){.count = 0};
}
