/* The operations in fp32, in C: what a run does not count goes through them. */
#include "model/forward.h"
#include "model/host_buffers.h"
#include "support/parallel.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Sums that an addition need not wait for: one loop of so many is one or two instructions. */
enum { LANES = 16 };

static void embed(void *state, const int *ids, size_t rows, void *x)
{
	const struct language_model *model = ((struct host_buffers *)state)->model;
	for (size_t r = 0; r < rows; r++)
		matrix_row(&model->embedding, (size_t)ids[r], (float *)x + r * (size_t)model->width);
}

static void rms_norm(void *state, const void *x, const float *weight, size_t rows, void *y)
{
	const struct language_model *model = ((struct host_buffers *)state)->model;
	size_t width = (size_t)model->width;
	for (size_t r = 0; r < rows; r++) {
		const float *from = (const float *)x + r * width;
		float *to = (float *)y + r * width, squares = 0.0f;
		for (size_t c = 0; c < width; c++)
			squares += from[c] * from[c];
		float inverse = 1.0f / sqrtf(squares / (float)width + model->epsilon);
		for (size_t c = 0; c < width; c++)
			to[c] = weight[c] * (from[c] * inverse);
	}
}

static float dot(const float *a, const float *b, size_t count)
{
	float sums[LANES] = {0.0f}, sum = 0.0f;
	size_t c = 0;
	for (; c + LANES <= count; c += LANES)
		for (size_t i = 0; i < LANES; i++)
			sums[i] += a[c + i] * b[c + i];
	for (size_t i = 0; i < LANES; i++)
		sum += sums[i];
	for (; c < count; c++)
		sum += a[c] * b[c];
	return sum;
}

/* A projection is cut into so many parts of its outputs, whatever the machine. */
enum { PARTS = 16 };

struct projection {
	const struct matrix *weights;
	const float *x, *residual;
	float *y;
	size_t rows;
	atomic_bool *out_of_memory;
};

static void project_part(void *argument, size_t part)
{
	const struct projection *p = argument;
	size_t columns = p->weights->columns, outputs = p->weights->rows;
	size_t first = part * outputs / PARTS, end = (part + 1) * outputs / PARTS;
	float *row = malloc(columns * sizeof *row);
	if (!row)
		*p->out_of_memory = true;
	for (size_t output = first; row && output < end; output++) {
		matrix_row(p->weights, output, row); /* once for all tokens */
		for (size_t r = 0; r < p->rows; r++) {
			size_t at = r * outputs + output;
			p->y[at] = (p->residual ? p->residual[at] : 0.0f) + dot(row, p->x + r * columns, columns);
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
		for (size_t c = 0; c < dim; c += 2) {
			double angle = (double)(first + r) * pow(model->rope_base, -(double)c / (double)dim);
			float cosine = (float)cos(angle), sine = (float)sin(angle);
			for (size_t h = 0; h < heads; h++) {
				float *pair = (float *)x + (r * heads + h) * dim + c, a = pair[0], b = pair[1];
				pair[0] = a * cosine - b * sine;
				pair[1] = a * sine + b * cosine;
			}
		}
}

/* One query and one head, in one pass over the keys it sees: chapter 02's streamed weighted sum. */
static void attend_one(
	const float *q, const float *keys, const float *values, size_t stride, size_t dim, size_t visible, float *o)
{
	float scale = (float)(1.0 / sqrt((double)dim)), m = -INFINITY, l = 0.0f;
	memset(o, 0, dim * sizeof *o);
	for (size_t j = 0; j < visible; j++) {
		float s = scale * dot(q, keys + j * stride, dim), m_new = fmaxf(m, s);
		float correction = expf(m - m_new), p = expf(s - m_new);
		m = m_new;
		l = l * correction + p;
		for (size_t c = 0; c < dim; c++)
			o[c] = o[c] * correction + p * values[j * stride + c];
	}
	for (size_t c = 0; c < dim; c++)
		o[c] /= l;
}

static void attend(
	void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows, size_t first,
	void *o)
{
	(void)layer;
	const struct language_model *model = ((struct host_buffers *)state)->model;
	size_t heads = (size_t)model->heads, kv_heads = (size_t)model->kv_heads, dim = (size_t)model->head_dim;
	for (size_t r = 0; r < rows; r++)
		for (size_t h = 0; h < heads; h++) {
			size_t at = (r * heads + h) * dim, kv = h / (heads / kv_heads) * dim;
			attend_one(
				(const float *)q + at, (const float *)keys + kv, (const float *)values + kv,
				kv_heads * dim, dim, first + r + 1, (float *)o + at);
		}
}

static void swiglu(void *state, void *gate, const void *up, size_t numbers)
{
	(void)state;
	float *g = gate;
	const float *u = up;
	for (size_t i = 0; i < numbers; i++)
		g[i] = u[i] * (g[i] / (1.0f + expf(-g[i])));
}

static void fetch(void *state, const void *buffer, size_t numbers, double *values)
{
	(void)state;
	for (size_t i = 0; i < numbers; i++)
		values[i] = (double)((const float *)buffer)[i];
}

int plain_operations(const struct language_model *model, struct operations *operations, struct error *error)
{
	struct host_buffers *buffers = host_buffers_begin(model, sizeof(float));
	*operations = (struct operations){
		.name = "plain C",
		.number_bytes = sizeof(float),
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
	return buffers ? 0 : error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
}
