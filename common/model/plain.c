/*
 * The operations in C, one text in two types of numbers: in fp32 what a run does not count goes through them; in double
 * precision (reference.c) they are what every other filling is compared with.
 */
#include "model/forward.h"

#include "support/parallel.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <tgmath.h> /* exp and sqrt of the type of their argument */

#ifdef REFERENCE
typedef double real;
#define OPERATIONS reference_operations
#define NAME       "double"
#else
typedef float real;
#define OPERATIONS plain_operations
#define NAME       "plain C"
#endif

/* Buffers go all at once. */
struct host {
	const struct language_model *model;
	void **buffers;
	size_t count;
	atomic_bool out_of_memory;
};

static void *allocate(void *state, const char *name, size_t numbers)
{
	(void)name;
	struct host *host = state;
	void **buffers = realloc(host->buffers, (host->count + 1) * sizeof *buffers);
	if (!buffers)
		return NULL;
	host->buffers = buffers;
	void *buffer = calloc(numbers, sizeof(real));
	if (buffer)
		buffers[host->count++] = buffer;
	return buffer;
}

static void end(void *state)
{
	struct host *host = state;
	for (size_t i = 0; i < host->count; i++)
		free(host->buffers[i]);
	free(host->buffers);
	free(host);
}

static int status(void *state, struct error *error)
{
	if (((struct host *)state)->out_of_memory)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
	return 0;
}

/* Scratch memory; without it `status` says so. */
static void *scratch(struct host *host, size_t bytes)
{
	void *memory = malloc(bytes);
	if (!memory)
		host->out_of_memory = true;
	return memory;
}

static void embed(void *state, const int *ids, size_t rows, void *x)
{
	struct host *host = state;
	size_t width = (size_t)host->model->width;
	real *to = x;
	float *row = scratch(host, width * sizeof *row);
	for (size_t r = 0; row && r < rows; r++) {
		matrix_row(&host->model->embedding, (size_t)ids[r], row);
		for (size_t c = 0; c < width; c++)
			to[r * width + c] = (real)row[c];
	}
	free(row);
}

static void rms_norm(void *state, const void *x, const float *weight, size_t rows, void *y)
{
	const struct language_model *model = ((struct host *)state)->model;
	size_t width = (size_t)model->width;
	for (size_t r = 0; r < rows; r++) {
		const real *from = (const real *)x + r * width;
		real *to = (real *)y + r * width, squares = 0;
		for (size_t c = 0; c < width; c++)
			squares += from[c] * from[c];
		real inverse = 1 / sqrt(squares / (real)width + (real)model->epsilon);
		for (size_t c = 0; c < width; c++)
			to[c] = (real)weight[c] * (from[c] * inverse);
	}
}

/* Sums that an addition need not wait for: one loop of so many is one or two instructions. */
enum { LANES = 64 / sizeof(real) };

static real dot(const float *w, const real *x, size_t count)
{
	real sums[LANES] = {0}, sum = 0;
	size_t c = 0;
	for (; c + LANES <= count; c += LANES)
		for (size_t i = 0; i < LANES; i++)
			sums[i] += (real)w[c + i] * x[c + i];
	for (size_t i = 0; i < LANES; i++)
		sum += sums[i];
	for (; c < count; c++)
		sum += (real)w[c] * x[c];
	return sum;
}

/* A projection is cut into so many parts of its outputs, whatever the machine. */
enum { PARTS = 16 };

struct projection {
	struct host *host;
	const struct matrix *weights;
	const real *x, *residual;
	real *y;
	size_t rows;
};

static void project_part(void *argument, size_t part)
{
	const struct projection *p = argument;
	size_t columns = p->weights->columns, outputs = p->weights->rows;
	size_t first = part * outputs / PARTS, end = (part + 1) * outputs / PARTS;
	float *row = scratch(p->host, columns * sizeof *row);
	for (size_t output = first; row && output < end; output++) {
		matrix_row(p->weights, output, row); /* once for all tokens */
		for (size_t r = 0; r < p->rows; r++) {
			size_t at = r * outputs + output;
			p->y[at] = (p->residual ? p->residual[at] : 0) + dot(row, p->x + r * columns, columns);
		}
	}
	free(row);
}

static void project(
	void *state, const struct matrix *weights, const void *x, size_t rows, const void *residual, void *y)
{
	parallel_run(PARTS, project_part, &(struct projection){state, weights, x, residual, y, rows});
}

/* Angles in double precision, also for fp32. */
static void rope(void *state, void *x, size_t rows, size_t heads, size_t first)
{
	const struct language_model *model = ((struct host *)state)->model;
	size_t dim = (size_t)model->head_dim;
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < dim; c += 2) {
			double angle = (double)(first + r) * pow((double)model->rope_base, -(double)c / (double)dim);
			real cosine = (real)cos(angle), sine = (real)sin(angle);
			for (size_t h = 0; h < heads; h++) {
				real *pair = (real *)x + (r * heads + h) * dim + c, a = pair[0], b = pair[1];
				pair[0] = a * cosine - b * sine;
				pair[1] = a * sine + b * cosine;
			}
		}
}

/* One query: scores of the keys it sees, their softmax, the weighted sum of the values. */
static void attend_one(
	const struct language_model *model, const real *q, const real *keys, const real *values, size_t visible,
	real *p, real *o)
{
	size_t dim = (size_t)model->head_dim, stride = (size_t)model->kv_heads * dim;
	real largest = -INFINITY, sum = 0;
	for (size_t j = 0; j < visible; j++) {
		p[j] = 0;
		for (size_t c = 0; c < dim; c++)
			p[j] += q[c] * keys[j * stride + c];
		p[j] /= sqrt((real)dim);
		largest = fmax(largest, p[j]);
	}
	for (size_t j = 0; j < visible; j++)
		sum += p[j] = exp(p[j] - largest);
	for (size_t c = 0; c < dim; c++) {
		o[c] = 0;
		for (size_t j = 0; j < visible; j++)
			o[c] += p[j] / sum * values[j * stride + c];
	}
}

static void attend(
	void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows, size_t first,
	void *o)
{
	(void)layer;
	const struct language_model *model = ((struct host *)state)->model;
	size_t heads = (size_t)model->heads, group = heads / (size_t)model->kv_heads, dim = (size_t)model->head_dim;
	real *p = scratch(state, (first + rows) * sizeof *p);
	for (size_t r = 0; p && r < rows; r++)
		for (size_t h = 0; h < heads; h++)
			attend_one(
				model, (const real *)q + (r * heads + h) * dim, (const real *)keys + h / group * dim,
				(const real *)values + h / group * dim, first + r + 1, p,
				(real *)o + (r * heads + h) * dim);
	free(p);
}

static void swiglu(void *state, void *gate, const void *up, size_t numbers)
{
	(void)state;
	real *g = gate;
	const real *u = up;
	for (size_t i = 0; i < numbers; i++)
		g[i] = u[i] * (g[i] / (1 + exp(-g[i])));
}

static void fetch(void *state, const void *buffer, size_t numbers, double *values)
{
	(void)state;
	for (size_t i = 0; i < numbers; i++)
		values[i] = (double)((const real *)buffer)[i];
}

int OPERATIONS(const struct language_model *model, struct operations *operations, struct error *error)
{
	*operations = (struct operations){0};
	struct host *host = calloc(1, sizeof *host);
	if (!host)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
	host->model = model;
	*operations = (struct operations){
		.name = NAME,
		.number_bytes = sizeof(real),
		.state = host,
		.attend_state = host,
		.allocate = allocate,
		.embed = embed,
		.rms_norm = rms_norm,
		.project = project,
		.rope = rope,
		.attend = attend,
		.swiglu = swiglu,
		.fetch = fetch,
		.status = status,
		.end = end,
	};
	return 0;
}
