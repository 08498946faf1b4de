#include "device_pass.h"

#include "transformer.h"

#include "harness.h"

#include <math.h>
#include <stdlib.h>

struct device_pass {
	const struct language_model *model;
	enum heads heads;
	size_t capacity, most_rows, layer_cache; /* numbers of K of a layer */
	struct device_memory memory;
	const char *weights; /* the file on the device, */
	const char *file;    /* and on the host */
	float *angles;       /* [capacity, d] */
	struct {
		float *Q, *K, *V, *O; /* of permuted heads: [H, most_rows, d], [layers, G, capacity, d], ... */
	} copy;
	float *Q, *K, *V, *O; /* where attention only is the kernels': [most_rows, C], [layers, capacity, C_kv] */
	float *row;           /* on the host, C */
	float *fetched;       /* on the host, as long as the vocabulary */
	const char *failed_at;
	cudaError_t failed;
};

static void note(struct device_pass *device, const char *kernel, cudaError_t status)
{
	if (device->failed == cudaSuccess && status != cudaSuccess) {
		device->failed = status;
		device->failed_at = kernel;
	}
}

static const void *on_device(const struct device_pass *device, const void *in_file)
{
	return device->weights + ((const char *)in_file - device->file);
}

/* ---- attention ---- */

struct tile attention_tile(const struct language_model *model, size_t rows)
{
	struct problem problem = {.dim = (size_t)model->head_dim};
	return (struct tile){rows >= 128 ? 128 : (int)(ceil_div(rows, 32) * 32), row_tile_keys(&problem)};
}

static struct attention attention_of(
	const struct device_pass *device, const float *Q, const float *K, const float *V, float *O, size_t rows,
	size_t first)
{
	const struct language_model *model = device->model;
	struct tile tile = attention_tile(model, rows);
	size_t d = (size_t)model->head_dim, C = (size_t)model->width, C_kv = (size_t)model->kv_heads * d;
	return (struct attention){
		.Q = Q,
		.K = K,
		.V = V,
		.O = O,
		.q = {C, d},
		.kv = {C_kv, d},
		.o = {C, d},
		.N = (int)rows,
		.M = (int)(first + rows),
		.H = model->heads,
		.G = model->kv_heads,
		.d = model->head_dim,
		.causal = true,
		.scale = (float)(1.0 / sqrt((double)d)),
		.Br = tile.Br,
		.Bc = tile.Bc,
	};
}

/* The new rows of a layer's keys or values join their copy, head by head. */
static cudaError_t permute_new(struct attention a, const float *from, size_t first, float *copy, size_t capacity)
{
	struct strides of_copy = {(size_t)a.d, capacity * (size_t)a.d};
	size_t skipped = first * a.kv.row;
	return launch_permute(from + skipped, a.kv, copy + first * of_copy.row, of_copy, a.N, a.G, a.d);
}

static void attend_permuted(struct device_pass *device, size_t layer, struct attention a, size_t first)
{
	size_t d = (size_t)a.d;
	struct attention heads = a;
	float *K = device->copy.K + layer * device->layer_cache, *V = device->copy.V + layer * device->layer_cache;
	heads.Q = device->copy.Q;
	heads.K = K;
	heads.V = V;
	heads.O = device->copy.O;
	heads.q = heads.o = (struct strides){d, (size_t)a.N * d};
	heads.kv = (struct strides){d, device->capacity * d};
	note(device, "permute", launch_permute(a.Q, a.q, device->copy.Q, heads.q, a.N, a.H, a.d));
	note(device, "permute", permute_new(a, a.K, first, K, device->capacity));
	note(device, "permute", permute_new(a, a.V, first, V, device->capacity));
	note(device, "attention", launch_attention(heads));
	note(device, "permute", launch_permute(heads.O, heads.o, a.O, a.o, a.N, a.H, a.d));
}

static void attend(
	void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows, size_t first,
	void *o)
{
	struct device_pass *device = state;
	struct attention attention = attention_of(device, q, keys, values, o, rows, first);
	if (device->failed != cudaSuccess)
		return;
	if (device->heads == HEADS_PERMUTED)
		attend_permuted(device, layer, attention, first);
	else
		note(device, "attention", launch_attention(attention));
}

/* ---- the others ---- */

static void *allocate(void *state, const char *name, size_t numbers)
{
	return device_allocate(&((struct device_pass *)state)->memory, name, numbers * sizeof(float));
}

static void embed(void *state, const int *ids, size_t rows, void *x)
{
	struct device_pass *device = state;
	size_t width = (size_t)device->model->width;
	for (size_t r = 0; r < rows && device->failed == cudaSuccess; r++) {
		matrix_row(&device->model->embedding, (size_t)ids[r], device->row);
		CUDA_CHECK(cudaMemcpy(
			(float *)x + r * width, device->row, width * sizeof(float), cudaMemcpyHostToDevice));
	}
}

static void rms_norm(void *state, const void *x, const float *weight, size_t rows, void *y)
{
	struct device_pass *device = state;
	const struct language_model *model = device->model;
	if (device->failed == cudaSuccess)
		note(device, "rms_norm",
		     launch_rms_norm(x, on_device(device, weight), y, (int)rows, model->width, model->epsilon));
}

static enum weight_encoding encoding_of(const struct matrix *weights)
{
	switch (weights->encoding) {
	case ENCODING_Q4_1: return WEIGHTS_Q4_1;
	case ENCODING_Q8_0: return WEIGHTS_Q8_0;
	case ENCODING_F32: break;
	}
	return WEIGHTS_F32;
}

static void project(
	void *state, const struct matrix *weights, const void *x, size_t rows, const void *residual, void *y)
{
	struct device_pass *device = state;
	if (device->failed == cudaSuccess)
		note(device, "project",
		     launch_project((struct projection){
			     .encoding = encoding_of(weights),
			     .W = on_device(device, weights->data),
			     .x = x,
			     .residual = residual,
			     .y = y,
			     .N = (int)rows,
			     .rows = (int)weights->rows,
			     .columns = (int)weights->columns,
		     }));
}

static void rope(void *state, void *x, size_t rows, size_t heads, size_t first)
{
	struct device_pass *device = state;
	int d = device->model->head_dim;
	if (device->failed == cudaSuccess)
		note(device, "rope", launch_rope(x, device->angles + first * (size_t)d, x, (int)rows, (int)heads, d));
}

static void swiglu(void *state, void *gate, const void *up, size_t numbers)
{
	struct device_pass *device = state;
	if (device->failed == cudaSuccess)
		note(device, "swiglu", launch_swiglu(gate, up, gate, numbers));
}

static void fetch(void *state, const void *buffer, size_t numbers, double *values)
{
	struct device_pass *device = state;
	if (device->failed != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
		return; /* status says so */
	CUDA_CHECK(cudaMemcpy(device->fetched, buffer, numbers * sizeof(float), cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < numbers; i++)
		values[i] = (double)device->fetched[i];
}

int device_pass_status(struct device_pass *device, struct error *error)
{
	note(device, "a kernel", cudaDeviceSynchronize());
	if (device->failed == cudaSuccess)
		return 0;
	return error_set(
		error, EXIT_VERIFICATION, "%s: %s: %s", device->failed_at, cudaGetErrorName(device->failed),
		cudaGetErrorString(device->failed));
}

static int status(void *state, struct error *error)
{
	return device_pass_status(state, error);
}

/* ---- beginning and end ---- */

/* Cosine and sine of every token and pair, in double precision, rounded once. */
static bool upload_angles(struct device_pass *device)
{
	size_t d = (size_t)device->model->head_dim, count = device->capacity * d;
	float *angles = malloc(count * sizeof *angles);
	for (size_t i = 0; angles && i < count; i++) {
		double angle = (double)(i / d) * pow(device->model->rope_base, -(double)(i % d / 2 * 2) / (double)d);
		angles[i] = (float)(i % 2 ? sin(angle) : cos(angle));
	}
	device->angles = allocate(device, "angles", count);
	if (angles)
		CUDA_CHECK(cudaMemcpy(device->angles, angles, count * sizeof *angles, cudaMemcpyHostToDevice));
	free(angles);
	return angles != NULL;
}

static void upload_file(struct device_pass *device)
{
	size_t size;
	device->file = gguf_bytes(device->model->file, &size);
	float *copy = device_allocate(&device->memory, "weights", size);
	CUDA_CHECK(cudaMemcpy(copy, device->file, size, cudaMemcpyHostToDevice));
	device->weights = (const char *)copy;
}

static struct device_pass *device_pass_new(
	const struct language_model *model, enum heads heads, size_t capacity, size_t most_rows)
{
	struct device_pass *device = calloc(1, sizeof *device);
	if (!device)
		return NULL;
	size_t kv_width = (size_t)model->kv_heads * (size_t)model->head_dim;
	*device = (struct device_pass){
		.model = model,
		.heads = heads,
		.capacity = capacity,
		.most_rows = most_rows,
		.layer_cache = capacity * kv_width,
		.row = malloc((size_t)model->width * sizeof(float)),
		.fetched = malloc((size_t)model->vocabulary * sizeof(float)),
		.failed = cudaSuccess,
	};
	if (heads == HEADS_PERMUTED) {
		size_t rows = most_rows * (size_t)model->width, cache = (size_t)model->layers * device->layer_cache;
		device->copy.Q = allocate(device, "Q of heads", rows);
		device->copy.K = allocate(device, "K of heads", cache);
		device->copy.V = allocate(device, "V of heads", cache);
		device->copy.O = allocate(device, "O of heads", rows);
	}
	if (device->row && device->fetched)
		return device;
	device_pass_free(device);
	return NULL;
}

void device_pass_free(struct device_pass *device)
{
	if (!device)
		return;
	if (device->failed == cudaSuccess) /* after a fault memory cannot be freed either */
		device_free_all(&device->memory);
	free(device->row);
	free(device->fetched);
	free(device);
}

static void end(void *state)
{
	device_pass_free(state);
}

int device_operations(
	const struct language_model *model, enum heads heads, size_t capacity, size_t most_rows,
	struct operations *operations, struct error *error)
{
	struct device_pass *device = device_pass_new(model, heads, capacity, most_rows);
	*operations = (struct operations){
		.name = "kernels",
		.number_bytes = sizeof(float),
		.state = device,
		.attend_state = device,
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
	if (device && upload_angles(device)) {
		upload_file(device);
		return 0;
	}
	return error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
}

/* Attention's buffers are on the host: what is new of them goes to the device, O comes back. */
static void attend_from_host(
	void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows, size_t first,
	void *o)
{
	struct device_pass *device = state;
	size_t C = (size_t)device->model->width, kv_width = device->layer_cache / device->capacity;
	size_t old = first * kv_width, bytes = rows * kv_width * sizeof(float);
	float *K = device->K + layer * device->layer_cache, *V = device->V + layer * device->layer_cache;
	if (device->failed != cudaSuccess)
		return;
	CUDA_CHECK(cudaMemcpy(device->Q, q, rows * C * sizeof(float), cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(K + old, (const float *)keys + old, bytes, cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(V + old, (const float *)values + old, bytes, cudaMemcpyHostToDevice));
	attend(state, layer, device->Q, K, V, rows, first, device->O);
	note(device, "attention", cudaDeviceSynchronize());
	if (device->failed == cudaSuccess)
		CUDA_CHECK(cudaMemcpy(o, device->O, rows * C * sizeof(float), cudaMemcpyDeviceToHost));
}

int device_attention(
	const struct language_model *model, enum heads heads, size_t capacity, size_t most_rows,
	struct operations *operations, struct device_pass **device, struct error *error)
{
	if (plain_operations(model, operations, error) != 0)
		return error->exit_code;
	*device = device_pass_new(model, heads, capacity, most_rows);
	if (!*device)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
	size_t rows = most_rows * (size_t)model->width, cache = (size_t)model->layers * (*device)->layer_cache;
	(*device)->Q = allocate(*device, "Q", rows);
	(*device)->K = allocate(*device, "K", cache);
	(*device)->V = allocate(*device, "V", cache);
	(*device)->O = allocate(*device, "O", rows);
	operations->name = "attention by the kernel, the rest in plain C";
	operations->attend = attend_from_host;
	operations->attend_state = *device;
	return 0;
}
