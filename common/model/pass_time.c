#include "model/pass_time.h"

#include "support/clock.h"

#include <math.h>

/* How often it is measured: the first time a device also makes its own tables, which takes far less than a second. */
enum { MEASUREMENTS = 3 };
static const double enough_s = 1.0;

/* Q, K and V of layer 0 for the first tokens, then their attention. */
static int time_layer(struct pass *pass, size_t rows, struct pass_time *seconds, struct error *error)
{
	const struct operations *run = pass->operations;
	const struct layer_weights *layer = &pass->model->layer[0];
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
	seconds->attention = fmin(seconds->attention, clock_seconds() - projected);
	seconds->products = fmin(seconds->products, projected - begin);
	return 0;
}

static int measure(struct pass *pass, size_t rows, struct pass_time *seconds, struct error *error)
{
	static const int some_tokens[MOST_MEASURED_ROWS];
	const struct operations *run = pass->operations;
	*seconds = (struct pass_time){INFINITY, INFINITY};
	run->embed(run->state, some_tokens, rows, pass->x);
	run->rms_norm(run->state, pass->x, pass->model->layer[0].attention_norm, rows, pass->n);
	for (int i = 0; i < MEASUREMENTS && !(i > 0 && seconds->attention + seconds->products > enough_s); i++)
		if (time_layer(pass, rows, seconds, error) != 0)
			return error->exit_code;
	return 0;
}

static double pairs(size_t tokens)
{
	return 0.5 * (double)tokens * (double)(tokens + 1);
}

static double weights_of(const struct matrix *matrix)
{
	return (double)matrix->rows * (double)matrix->columns;
}

static double projections(const struct layer_weights *layer)
{
	return weights_of(&layer->q) + weights_of(&layer->k) + weights_of(&layer->v);
}

struct pass_time pass_work(const struct language_model *model, size_t tokens, size_t logit_rows)
{
	double layers = 0.0;
	for (int i = 0; i < model->layers; i++) {
		const struct layer_weights *layer = &model->layer[i];
		layers += projections(layer) + weights_of(&layer->o) + weights_of(&layer->gate) +
		          weights_of(&layer->up) + weights_of(&layer->down);
	}
	return (struct pass_time){
		.attention = pairs(tokens) * (double)model->width * (double)model->layers,
		.products = (double)tokens * layers + (double)logit_rows * weights_of(&model->output),
	};
}

int pass_measure(
	struct pass *pass, size_t rows, struct pass_time *seconds, struct pass_time *reference,
	struct pass_time *work, struct error *error)
{
	const struct language_model *model = pass->model;
	struct operations operations;
	struct pass other;
	if (measure(pass, rows, seconds, error) != 0 || reference_operations(model, &operations, error) != 0)
		return error->exit_code;
	int status = pass_begin(model, &operations, rows, rows, &other, error);
	if (!status)
		status = measure(&other, rows, reference, error);
	operations.end(operations.state);
	*work = (struct pass_time){pairs(rows) * (double)model->width, (double)rows * projections(&model->layer[0])};
	return status;
}
