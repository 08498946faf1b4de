#include "duration.h"

#include "harness.h"
#include "report/table.h"
#include "support/clock.h"

#include <math.h>

/* Tokens of a measurement, and how often it is made: the first time the device also makes its own tables. */
enum { MEASURED_ROWS = 32, MEASUREMENTS = 3 };

/* Products, of keys and of weights. Any machine does as many in less than an hour. */
static const double little_work = 1e10;

struct work {
	double attention, projections;
};

/* Q, K and V of layer 0 for the first tokens, then their attention. */
static int time_layer(struct pass *pass, size_t rows, struct work *seconds, struct error *error)
{
	static const int some_tokens[MEASURED_ROWS];
	const struct operations *run = pass->operations;
	const struct layer_weights *layer = &pass->model->layer[0];
	run->embed(run->state, some_tokens, rows, pass->x);
	run->rms_norm(run->state, pass->x, layer->attention_norm, rows, pass->n);
	double begin = clock_seconds();
	run->project(run->state, &layer->q, pass->n, rows, NULL, pass->q);
	run->project(run->state, &layer->k, pass->n, rows, NULL, pass->keys);
	run->project(run->state, &layer->v, pass->n, rows, NULL, pass->values);
	if (run->status(run->state, error) != 0)
		return error->exit_code;
	double projected = clock_seconds();
	run->attend(run->attend_state, 0, pass->q, pass->keys, pass->values, rows, 0, pass->o);
	if (run->status(run->state, error) != 0)
		return error->exit_code;
	*seconds = (struct work){
		fmin(seconds->attention, clock_seconds() - projected), fmin(seconds->projections, projected - begin)};
	return 0;
}

static double pairs(size_t tokens)
{
	return 0.5 * (double)tokens * (double)(tokens + 1);
}

static double products(const struct matrix *weights)
{
	return (double)weights->rows * (double)weights->columns;
}

/* Seconds per product. */
static int measure(struct pass *pass, size_t rows, struct work *rate, struct error *error)
{
	const struct language_model *model = pass->model;
	const struct layer_weights *layer = &model->layer[0];
	*rate = (struct work){INFINITY, INFINITY};
	for (int i = 0; i < MEASUREMENTS; i++) {
		counts_forget();
		if (time_layer(pass, rows, rate, error) != 0)
			return error->exit_code;
	}
	rate->attention /= pairs(rows) * (double)model->width;
	rate->projections /= (double)rows * (products(&layer->q) + products(&layer->k) + products(&layer->v));
	return 0;
}

static int measure_reference(const struct language_model *model, size_t rows, struct work *rate, struct error *error)
{
	struct operations reference;
	struct pass pass;
	if (reference_operations(model, &reference, error) != 0)
		return error->exit_code;
	int status = pass_begin(model, &reference, rows, rows, &pass, error);
	if (!status)
		status = measure(&pass, rows, rate, error);
	reference.end(reference.state);
	return status;
}

/* The products of all layers for all tokens, and the logits of the tokens that are chosen. */
static struct work work_of(const struct language_model *model, size_t prompt, size_t answer)
{
	double tokens = (double)(prompt + answer), layers = 0.0;
	for (int i = 0; i < model->layers; i++) {
		const struct layer_weights *layer = &model->layer[i];
		layers += products(&layer->q) + products(&layer->k) + products(&layer->v) + products(&layer->o) +
		          products(&layer->gate) + products(&layer->up) + products(&layer->down);
	}
	return (struct work){
		.attention = pairs(prompt + answer) * (double)model->width * (double)model->layers,
		.projections = tokens * layers + (double)(answer + 1) * products(&model->output),
	};
}

static uint64_t requested(
	const struct language_model *model, enum heads heads, size_t prompt, size_t answer, size_t most_rows)
{
	struct moved moved[KINDS] = {{0}};
	uint64_t bytes = 0;
	moved_add_model(model, heads, 0, prompt, most_rows, moved);
	for (size_t i = 0; i < answer; i++)
		moved_add_model(model, heads, prompt + i, 1, most_rows, moved);
	for (int kind = 0; kind < KINDS; kind++)
		bytes += moved_sum(moved[kind]);
	return bytes;
}

int duration_estimate(
	struct pass *pass, enum heads heads, size_t prompt, size_t answer, bool always, struct duration *duration,
	struct error *error)
{
	size_t rows = smaller(MEASURED_ROWS, pass->most_rows);
	struct work work = work_of(pass->model, prompt, answer), rate, reference;
	*duration = (struct duration){.prompt = prompt, .answer = answer};
	if (!always && work.attention + work.projections < little_work)
		return 0;
	if (measure(pass, rows, &rate, error) != 0 || measure_reference(pass->model, rows, &reference, error) != 0)
		return error->exit_code;
	duration->bytes = requested(pass->model, heads, prompt, answer, pass->most_rows);
	duration->seconds = work.attention * (rate.attention + reference.attention) +
	                    work.projections * (rate.projections + reference.projections);
	return 0;
}

void duration_print(FILE *out, const struct duration *duration)
{
	char bytes[32];
	fprintf(out, "Counting every kernel: %zu + %zu tokens, %s requested, ", duration->prompt, duration->answer,
	        format_bytes((double)duration->bytes, bytes));
	if (duration->seconds < 1.0)
		fprintf(out, "less than a second\n");
	else if (duration->seconds < 100.0)
		fprintf(out, "about %.0f s\n", duration->seconds);
	else
		fprintf(out, "about %.0f min\n", duration->seconds / 60.0);
}
