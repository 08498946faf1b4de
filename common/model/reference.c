/* The operations in double precision, as plain as they can be written: what every other filling is compared with. */
#include "model/forward.h"

#include "model/host_buffers.h"
#include "support/parallel.h"

#include <math.h>
#include <stdlib.h>

static void embed(void *state, const int *ids, size_t rows, void *x)
{
	const struct language_model *model = ((struct host_buffers *)state)->model;
	size_t width = (size_t)model->width;
	double *to = x;
	float *row = malloc(width * sizeof *row);
	if (!row)
		((struct host_buffers *)state)->out_of_memory = true;
	for (size_t r = 0; row && r < rows; r++) {
		matrix_row(&model->embedding, (size_t)ids[r], row);
		for (size_t c = 0; c < width; c++)
			to[r * width + c] = row[c];
	}
	free(row);
}

static void rms_norm(void *state, const void *x, const float *weight, size_t rows, void *y)
{
	const struct language_model *model = ((struct host_buffers *)state)->model;
	size_t width = (size_t)model->width;
	for (size_t r = 0; r < rows; r++) {
		const double *from = (const double *)x + r * width;
		double *to = (double *)y + r * width, squares = 0.0;
		for (size_t c = 0; c < width; c++)
			squares += from[c] * from[c];
		double root = sqrt(squares / (double)width + (double)model->epsilon);
		for (size_t c = 0; c < width; c++)
			to[c] = (double)weight[c] * from[c] / root;
	}
}

/* A projection is cut into so many parts of its outputs, whatever the machine. */
enum { PARTS = 16 };

struct projection {
	const struct matrix *weights;
	const double *x, *residual;
	double *y;
	size_t rows;
	atomic_bool *out_of_memory;
};

/* Eight sums side by side: one alone waits for each of its additions. */
static double dot(const float *w, const double *x, size_t count)
{
	double sums[8] = {0.0}, sum = 0.0;
	size_t c = 0;
	for (; c + 8 <= count; c += 8)
		for (size_t i = 0; i < 8; i++)
			sums[i] += (double)w[c + i] * x[c + i];
	for (size_t i = 0; i < 8; i++)
		sum += sums[i];
	for (; c < count; c++)
		sum += (double)w[c] * x[c];
	return sum;
}

static void project_part(void *argument, size_t part)
{
	const struct projection *p = argument;
	size_t columns = p->weights->columns, outputs = p->weights->rows;
	size_t first = part * outputs / PARTS, end = (part + 1) * outputs / PARTS;
	float *row = malloc(columns * sizeof *row);
	if (!row)
		*p->out_of_memory = true;
	for (size_t output = first; row && output < end; output++) {
		matrix_row(p->weights, output, row);
		for (size_t r = 0; r < p->rows; r++) {
			double residual = p->residual ? p->residual[r * outputs + output] : 0.0;
			p->y[r * outputs + output] = residual + dot(row, p->x + r * columns, columns);
		}
	}
	free(row);
}

static void project(
	void *state, const struct matrix *weights, const void *x, size_t rows, const void *residual, void *y)
{
	atomic_bool *out_of_memory = &((struct host_buffers *)state)->out_of_memory;
	parallel_run(PARTS, project_part, &(struct projection){weights, x, residual, y, rows, out_of_memory});
}

static void rope(void *state, void *x, size_t rows, size_t heads, size_t first)
{
	const struct language_model *model = ((struct host_buffers *)state)->model;
	size_t dim = (size_t)model->head_dim;
	for (size_t r = 0; r < rows; r++)
		for (size_t h = 0; h < heads; h++)
			for (size_t c = 0; c < dim; c += 2) {
				double *pair = (double *)x + (r * heads + h) * dim + c, a = pair[0], b = pair[1];
				double angle = (double)(first + r) * pow(model->rope_base, -(double)c / (double)dim);
				pair[0] = a * cos(angle) - b * sin(angle);
				pair[1] = a * sin(angle) + b * cos(angle);
			}
}

/* One query: scores of the keys it sees, their softmax, the weighted sum of the values. */
static void attend_one(
	const struct language_model *model, const double *q, const double *keys, const double *values, size_t visible,
	double *p, double *o)
{
	size_t dim = (size_t)model->head_dim, stride = (size_t)model->kv_heads * dim;
	double largest = -INFINITY, sum = 0.0;
	for (size_t j = 0; j < visible; j++) {
		p[j] = 0.0;
		for (size_t c = 0; c < dim; c++)
			p[j] += q[c] * keys[j * stride + c];
		p[j] /= sqrt((double)dim);
		largest = fmax(largest, p[j]);
	}
	for (size_t j = 0; j < visible; j++)
		sum += p[j] = exp(p[j] - largest);
	for (size_t c = 0; c < dim; c++) {
		o[c] = 0.0;
		for (size_t j = 0; j < visible; j++)
			o[c] += p[j] / sum * values[j * stride + c];
	}
}

static void attend(
	void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows, size_t first,
	void *o)
{
	(void)layer;
	const struct language_model *model = ((struct host_buffers *)state)->model;
	size_t heads = (size_t)model->heads, group = heads / (size_t)model->kv_heads, dim = (size_t)model->head_dim;
	double *p = malloc((first + rows) * sizeof *p);
	if (!p)
		((struct host_buffers *)state)->out_of_memory = true;
	for (size_t r = 0; p && r < rows; r++)
		for (size_t h = 0; h < heads; h++)
			attend_one(
				model, (const double *)q + (r * heads + h) * dim,
				(const double *)keys + h / group * dim, (const double *)values + h / group * dim,
				first + r + 1, p, (double *)o + (r * heads + h) * dim);
	free(p);
}

static void swiglu(void *state, void *gate, const void *up, size_t numbers)
{
	(void)state;
	double *g = gate;
	const double *u = up;
	for (size_t i = 0; i < numbers; i++)
		g[i] = u[i] * g[i] / (1.0 + exp(-g[i]));
}

static void fetch(void *state, const void *buffer, size_t numbers, double *values)
{
	(void)state;
	for (size_t i = 0; i < numbers; i++)
		values[i] = ((const double *)buffer)[i];
}

int reference_operations(const struct language_model *model, struct operations *operations, struct error *error)
{
	struct host_buffers *buffers = host_buffers_begin(model, sizeof(double));
	*operations = (struct operations){
		.name = "double",
		.number_bytes = sizeof(double),
		.state = buffers,
		.attend_state = buffers,
		.allocate = host_buffers_allocate,
		.embed = embed,
		.rms_norm = rms_norm,
		.project = project,
		.rope = rope,
		.attend = attend,
		.swiglu = swiglu,
		.fetch = fetch,
		.status = host_buffers_status,
		.end = host_buffers_end,
	};
	return buffers ? 0 : error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
}
