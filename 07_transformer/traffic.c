#include "traffic.h"

#include "harness.h"

#include <string.h>

const char *const kind_names[KINDS] = {
	[KIND_NORM] = "rms_norm",   [KIND_PROJECT] = "project",     [KIND_ROPE] = "rope",
	[KIND_PERMUTE] = "permute", [KIND_ATTENTION] = "attention", [KIND_SWIGLU] = "swiglu",
};

/* What they are in the launch records. */
static const char *const kernels[KINDS] = {
	[KIND_NORM] = "rms_norm",   [KIND_PROJECT] = "project",          [KIND_ROPE] = "rope",
	[KIND_PERMUTE] = "permute", [KIND_ATTENTION] = "attention_rows", [KIND_SWIGLU] = "swiglu",
};

enum { FLOAT = sizeof(float) };

/* ---- closed forms ---- */

struct call {
	const struct language_model *model;
	uint64_t rows, first;
	struct moved *moved; /* [KINDS] */
};

static void add_norm(const struct call *call, uint64_t rows)
{
	uint64_t numbers = rows * (uint64_t)call->model->width;
	call->moved[KIND_NORM].weights += FLOAT * numbers;
	call->moved[KIND_NORM].activations += 3 * FLOAT * numbers;
}

/* `y` is what the rows that are written belong to. */
static void add_projection(
	const struct call *call, const struct matrix *weights, uint64_t rows, bool residual, uint64_t *y)
{
	struct moved *project = &call->moved[KIND_PROJECT];
	project->weights += rows * matrix_bytes(weights);
	project->activations += FLOAT * rows * ceil_div(weights->rows, 32) * weights->columns;
	*y += FLOAT * rows * weights->rows;
	if (residual)
		project->activations += FLOAT * rows * weights->rows;
}

static void add_rope(const struct call *call, uint64_t heads, uint64_t *x)
{
	uint64_t numbers = call->rows * heads * (uint64_t)call->model->head_dim;
	*x += 2 * FLOAT * numbers;
	call->moved[KIND_ROPE].activations += FLOAT * numbers; /* angles */
}

static void add_attention(const struct call *call, enum heads heads)
{
	const struct language_model *model = call->model;
	uint64_t C = (uint64_t)model->width, C_kv = (uint64_t)(model->kv_heads * model->head_dim);
	struct moved *attention = &call->moved[KIND_ATTENTION], *permute = &call->moved[KIND_PERMUTE];
	struct tile tile = attention_tile(model, call->rows);
	uint64_t keys = visits_of_last(call->rows, call->first + call->rows, tile.Br, tile.Bc, true).keys;
	attention->activations += 2 * FLOAT * call->rows * C;
	attention->kv += 2 * FLOAT * C * keys;
	if (heads == HEADS_PERMUTED) {
		permute->activations += 4 * FLOAT * call->rows * C;
		permute->kv += 4 * FLOAT * call->rows * C_kv;
	}
}

static void add_layer(const struct call *call, const struct layer_weights *weights, enum heads heads)
{
	const struct language_model *model = call->model;
	struct moved *project = &call->moved[KIND_PROJECT], *rope = &call->moved[KIND_ROPE];
	add_norm(call, call->rows);
	add_projection(call, &weights->q, call->rows, false, &project->activations);
	add_projection(call, &weights->k, call->rows, false, &project->kv);
	add_projection(call, &weights->v, call->rows, false, &project->kv);
	add_rope(call, (uint64_t)model->heads, &rope->activations);
	add_rope(call, (uint64_t)model->kv_heads, &rope->kv);
	add_attention(call, heads);
	add_projection(call, &weights->o, call->rows, true, &project->activations);
	add_norm(call, call->rows);
	add_projection(call, &weights->gate, call->rows, false, &project->activations);
	add_projection(call, &weights->up, call->rows, false, &project->activations);
	call->moved[KIND_SWIGLU].activations += 3 * FLOAT * call->rows * (uint64_t)model->hidden;
	add_projection(call, &weights->down, call->rows, true, &project->activations);
}

void moved_add_model(
	const struct language_model *model, enum heads heads, size_t first, size_t count, size_t most_rows,
	struct moved moved[KINDS])
{
	struct call call = {model, 0, first, moved};
	for (size_t done = 0; done < count; done += most_rows) {
		call.rows = smaller(count - done, most_rows);
		call.first = first + done;
		for (int layer = 0; layer < model->layers; layer++)
			add_layer(&call, &model->layer[layer], heads);
	}
	add_norm(&call, 1);
	add_projection(&call, &model->output, 1, false, &moved[KIND_PROJECT].activations);
}

/* ---- counts ---- */

static uint64_t *part_of(struct moved *moved, const char *tensor)
{
	if (strcmp(tensor, "weights") == 0)
		return &moved->weights;
	bool kv = (tensor[0] == 'K' || tensor[0] == 'V') && (!tensor[1] || strcmp(tensor + 1, " of heads") == 0);
	return kv ? &moved->kv : &moved->activations;
}

void moved_add_counts(const struct counts *counts, struct moved moved[KINDS])
{
	for (size_t i = 0; i < counts->launch_count; i++) {
		const struct launch_counts *launch = &counts->launches[i];
		size_t kind = 0;
		while (kind < KINDS && strcmp(kernels[kind], launch->kernel) != 0)
			kind++;
		for (size_t t = 0; kind < KINDS && t < launch->tensor_count; t++) {
			const struct traffic *requested = &launch->tensors[t].requested;
			*part_of(&moved[kind], launch->tensors[t].name) +=
				requested->read_bytes + requested->write_bytes;
		}
	}
}

uint64_t moved_sum(struct moved moved)
{
	return moved.weights + moved.kv + moved.activations;
}

bool moved_is_equal(struct moved a, struct moved b)
{
	return a.weights == b.weights && a.kv == b.kv && a.activations == b.activations;
}
