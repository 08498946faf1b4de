#include "model/forward.h"

#include <math.h>

int operations_status(const struct operations *operations, struct error *error)
{
	int status = operations->status(operations->state, error);
	if (!status && operations->attend_status)
		status = operations->attend_status(operations->attend_state, error);
	return status;
}

void operations_end(const struct operations *operations)
{
	if (operations->end)
		operations->end(operations->state);
	if (operations->attend_end)
		operations->attend_end(operations->attend_state);
}

static void *at(const struct pass *pass, void *buffer, size_t numbers)
{
	return (char *)buffer + numbers * pass->operations->number_bytes;
}

int pass_begin(
	const struct language_model *model, const struct operations *operations, size_t capacity, size_t most_rows,
	struct pass *pass, struct error *error)
{
	*pass = (struct pass){.model = model, .operations = operations, .capacity = capacity, .most_rows = most_rows};
	if (capacity > (size_t)model->context)
		return error_set(
			error, EXIT_USAGE, "%zu tokens are more than the model's context of %d", capacity,
			model->context);
	size_t width = (size_t)model->width, hidden = (size_t)model->hidden;
	size_t cache = (size_t)model->layers * capacity * (size_t)model->kv_heads * (size_t)model->head_dim;
	const struct {
		void **buffer;
		const char *name;
		size_t numbers;
	} buffers[] = {
		{&pass->x, "x", most_rows * width},
		{&pass->n, "n", most_rows * width},
		{&pass->q, "Q", most_rows * width},
		{&pass->o, "O", most_rows * width},
		{&pass->gate, "gate", most_rows * hidden},
		{&pass->up, "up", most_rows * hidden},
		{&pass->logits, "logits", (size_t)model->vocabulary},
		{&pass->keys, "K", cache},
		{&pass->values, "V", cache},
	};
	for (size_t i = 0; i < sizeof buffers / sizeof buffers[0]; i++)
		if (!(*buffers[i].buffer =
		              operations->allocate(operations->state, buffers[i].name, buffers[i].numbers)))
			return error_set(
				error, EXIT_ENVIRONMENT, "out of memory for a context of %zu tokens", capacity);
	return 0;
}

/* Attention and what is around it: x = x + W_o attention(...). */
static void mix_tokens(struct pass *pass, size_t layer, size_t rows)
{
	const struct language_model *model = pass->model;
	const struct operations *run = pass->operations;
	const struct layer_weights *weights = &model->layer[layer];
	size_t first = pass->tokens, heads = (size_t)model->heads, kv_heads = (size_t)model->kv_heads;
	size_t kv_width = kv_heads * (size_t)model->head_dim, cached = layer * pass->capacity * kv_width;
	void *keys = at(pass, pass->keys, cached), *new_keys = at(pass, keys, first * kv_width);
	void *values = at(pass, pass->values, cached), *new_values = at(pass, values, first * kv_width);

	run->rms_norm(run->state, pass->x, weights->attention_norm, rows, pass->n);
	run->project(run->state, &weights->q, pass->n, rows, NULL, pass->q);
	run->project(run->state, &weights->k, pass->n, rows, NULL, new_keys); /* straight into the cache */
	run->project(run->state, &weights->v, pass->n, rows, NULL, new_values);
	run->rope(run->state, pass->q, rows, heads, first);
	run->rope(run->state, new_keys, rows, kv_heads, first);
	run->attend(run->attend_state, layer, pass->q, keys, values, rows, first, pass->o);
	run->project(run->state, &weights->o, pass->o, rows, pass->x, pass->x);
}

/* x = x + W_down (silu(W_gate n) * W_up n) */
static void feed_forward(struct pass *pass, size_t layer, size_t rows)
{
	const struct operations *run = pass->operations;
	const struct layer_weights *weights = &pass->model->layer[layer];
	run->rms_norm(run->state, pass->x, weights->feed_forward_norm, rows, pass->n);
	run->project(run->state, &weights->gate, pass->n, rows, NULL, pass->gate);
	run->project(run->state, &weights->up, pass->n, rows, NULL, pass->up);
	run->swiglu(run->state, pass->gate, pass->up, rows * (size_t)pass->model->hidden);
	run->project(run->state, &weights->down, pass->gate, rows, pass->x, pass->x);
}

int pass_run(struct pass *pass, const int *ids, size_t count, double *logits, struct error *error)
{
	const struct language_model *model = pass->model;
	const struct operations *run = pass->operations;
	if (count > pass->capacity - pass->tokens)
		return error_set(
			error, EXIT_USAGE, "%zu tokens more than the %zu there is room for",
			count - (pass->capacity - pass->tokens), pass->capacity);
	for (size_t done = 0, rows; done < count; done += rows) {
		rows = count - done < pass->most_rows ? count - done : pass->most_rows;
		run->embed(run->state, ids + done, rows, pass->x);
		for (size_t layer = 0; layer < (size_t)model->layers; layer++) {
			mix_tokens(pass, layer, rows);
			feed_forward(pass, layer, rows);
			if (operations_status(run, error) != 0)
				return error->exit_code;
		}
		pass->tokens += rows;
		pass->rows = rows;
	}
	return pass_logits(pass, pass->rows - 1, logits, error);
}

int pass_logits(struct pass *pass, size_t row, double *logits, struct error *error)
{
	const struct language_model *model = pass->model;
	const struct operations *run = pass->operations;
	run->rms_norm(run->state, at(pass, pass->x, row * (size_t)model->width), model->output_norm, 1, pass->n);
	run->project(run->state, &model->output, pass->n, 1, NULL, pass->logits);
	run->fetch(run->state, pass->logits, (size_t)model->vocabulary, logits);
	return operations_status(run, error);
}

double logits_error(const float *logits, const double *expected, size_t count, double largest)
{
	for (size_t i = 0; i < count; i++) {
		double difference = fabs((double)logits[i] - expected[i]);
		largest = isnan(largest) || difference <= largest ? largest : difference;
	}
	return largest;
}
