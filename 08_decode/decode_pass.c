#include "decode_pass.h"

#include "step.h"

#include <math.h>
#include <stdlib.h>

const char *const way_names[WAYS] = {"decode_naive", "decode_grouped", "decode_split", "decode_paged"};

struct decode_pass {
	const struct language_model *model;
	struct cache_shape shape;
	size_t layer_cache; /* numbers of K of a layer */
	struct device_memory memory;
	float *Q, *O;         /* [C] */
	float *new_K, *new_V; /* [most_rows, C_kv], on their way into pages */
	float *K, *V;         /* [layers, capacity, C_kv], capacity up to whole pages where there are pages */
	struct partials partials;
	struct pages pages;
	cudaError_t failed;
};

static size_t kv_width(const struct language_model *model)
{
	return (size_t)(model->kv_heads * model->head_dim);
}

/* ---- attention ---- */

static cudaError_t keep_rows(
	struct decode_pass *pass, size_t layer, const float *keys, const float *values, size_t rows, size_t first)
{
	size_t width = kv_width(pass->model), old = first * width, bytes = rows * width * sizeof(float);
	float *K = pass->K + layer * pass->layer_cache, *V = pass->V + layer * pass->layer_cache;
	bool paged = pass->shape.way == WAY_PAGED;
	CUDA_CHECK(cudaMemcpy(paged ? pass->new_K : K + old, keys + old, bytes, cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(paged ? pass->new_V : V + old, values + old, bytes, cudaMemcpyHostToDevice));
	if (!paged)
		return cudaSuccess;
	return launch_append((struct append){
		.K = pass->new_K,
		.V = pass->new_V,
		.K_pages = K,
		.V_pages = V,
		.pages = pass->pages,
		.rows = (int)rows,
		.width = (int)width,
		.first = (int)first,
	});
}

/* One query, which sees n tokens. */
static cudaError_t attend_one(struct decode_pass *pass, size_t layer, size_t n)
{
	const struct language_model *model = pass->model;
	struct decode decode = {
		.Q = pass->Q,
		.K = pass->K + layer * pass->layer_cache,
		.V = pass->V + layer * pass->layer_cache,
		.O = pass->O,
		.row = kv_width(model),
		.head = (size_t)model->head_dim,
		.n = (int)n,
		.H = model->heads,
		.G = model->kv_heads,
		.d = model->head_dim,
		.scale = (float)(1.0 / sqrt((double)model->head_dim)),
	};
	cudaError_t status;
	switch (pass->shape.way) {
	case WAY_NAIVE: return launch_decode_naive(decode);
	case WAY_GROUPED: return launch_decode_grouped(decode);
	case WAY_SPLIT: status = launch_decode_split(decode, pass->partials); break;
	default: status = launch_decode_paged(decode, pass->partials, pass->pages);
	}
	return status == cudaSuccess ? launch_merge(pass->partials, pass->O, decode.H, decode.d) : status;
}

static void attend(
	void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows, size_t first,
	void *o)
{
	struct decode_pass *pass = state;
	size_t C = (size_t)pass->model->width, bytes = C * sizeof(float);
	if (pass->failed == cudaSuccess)
		pass->failed = keep_rows(pass, layer, keys, values, rows, first);
	for (size_t r = 0; r < rows && pass->failed == cudaSuccess; r++) {
		CUDA_CHECK(cudaMemcpy(pass->Q, (const float *)q + r * C, bytes, cudaMemcpyHostToDevice));
		pass->failed = attend_one(pass, layer, first + r + 1);
		if (pass->failed == cudaSuccess)
			pass->failed = cudaDeviceSynchronize();
		if (pass->failed == cudaSuccess)
			CUDA_CHECK(cudaMemcpy((float *)o + r * C, pass->O, bytes, cudaMemcpyDeviceToHost));
	}
}

int decode_pass_status(struct decode_pass *pass, struct error *error)
{
	if (pass->failed == cudaSuccess)
		pass->failed = cudaDeviceSynchronize();
	if (pass->failed == cudaSuccess)
		return 0;
	return error_set(
		error, EXIT_VERIFICATION, "%s: %s: %s", way_names[pass->shape.way], cudaGetErrorName(pass->failed),
		cudaGetErrorString(pass->failed));
}

/* ---- beginning and end ---- */

static float *allocate(struct decode_pass *pass, const char *name, size_t numbers)
{
	return device_allocate(&pass->memory, name, numbers * sizeof(float));
}

/* One table for all layers: a page has the same place in each. */
static bool make_pages(struct decode_pass *pass, size_t count, size_t most_rows)
{
	int *order = malloc(count * sizeof *order);
	if (!order)
		return false;
	shuffle_pages(pass->shape.seed, order, count);
	float *table = allocate(pass, "table", count);
	CUDA_CHECK(cudaMemcpy(table, order, count * sizeof *order, cudaMemcpyHostToDevice));
	free(order);
	pass->pages = (struct pages){(const int *)table, (int)pass->shape.page};
	pass->new_K = allocate(pass, "new K", most_rows * kv_width(pass->model));
	pass->new_V = allocate(pass, "new V", most_rows * kv_width(pass->model));
	return true;
}

int decode_operations(
	const struct language_model *model, struct cache_shape shape, size_t capacity, size_t most_rows,
	struct operations *operations, struct decode_pass **made, struct error *error)
{
	*made = NULL;
	if (plain_operations(model, operations, error) != 0)
		return error->exit_code;
	struct decode_pass *pass = calloc(1, sizeof *pass);
	if (!pass)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
	*made = pass;
	bool paged = shape.way == WAY_PAGED;
	size_t pages = ceil_div(capacity, shape.page), rows = paged ? pages * shape.page : capacity;
	size_t C = (size_t)model->width, H = (size_t)model->heads;
	pass->model = model;
	pass->shape = shape;
	pass->failed = cudaSuccess;
	pass->layer_cache = rows * kv_width(model);
	pass->Q = allocate(pass, "Q", C);
	pass->O = allocate(pass, "O", C);
	pass->K = allocate(pass, paged ? "K pages" : "K", (size_t)model->layers * pass->layer_cache);
	pass->V = allocate(pass, paged ? "V pages" : "V", (size_t)model->layers * pass->layer_cache);
	if (shape.way >= WAY_SPLIT)
		pass->partials = (struct partials){
			allocate(pass, "O of splits", shape.splits * C),
			allocate(pass, "m of splits", shape.splits * H),
			allocate(pass, "l of splits", shape.splits * H), (int)shape.splits};
	if (paged && !make_pages(pass, pages, most_rows))
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the table of pages");
	operations->name = way_names[shape.way];
	operations->attend = attend;
	operations->attend_state = pass;
	return 0;
}

void decode_pass_free(struct decode_pass *pass)
{
	if (!pass)
		return;
	if (pass->failed == cudaSuccess) /* after a fault memory cannot be freed either */
		device_free_all(&pass->memory);
	free(pass);
}

/* ---- closed forms ---- */

struct closed_forms decode_pass_forms(const struct language_model *model, struct cache_shape shape, size_t n)
{
	static struct closed_forms (*const forms[WAYS])(const struct problem *) = {
		naive_forms, grouped_forms, split_forms, paged_forms};
	struct problem problem = {
		.heads = (size_t)model->heads,
		.kv_heads = (size_t)model->kv_heads,
		.dim = (size_t)model->head_dim,
		.seq = n,
		.splits = shape.splits,
		.page = shape.page,
	};
	problem_settle(&problem);
	return forms[shape.way](&problem);
}
