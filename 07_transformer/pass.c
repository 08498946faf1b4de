/* Open this to see a whole language model run on the chapter's kernels, and what each of them moves for a token. */
#include "transformer.h"

#include "harness.h"
#include "model/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { FLOAT = sizeof(float) };

/* ---- the kernels as operations of the forward pass (model/forward.h) ---- */

struct device_pass {
	const struct language_model *model;
	enum heads heads;
	size_t capacity, layer_cache; /* tokens; numbers of K of a layer */
	struct device_memory memory;
	const char *weights; /* the model's, on the device, quantized as they are */
	float *angles;       /* [capacity, d] */
	struct {
		float *Q, *K, *V, *O; /* of permuted heads: [H, most_rows, d], [layers, G, capacity, d], ... */
	} copy;
	float *Q, *K, *V, *O; /* where attention only is the kernels': [most_rows, C], [layers, capacity, C_kv] */
	float *row;           /* on the host, as long as the vocabulary or C */
	const char *failed_at;
	cudaError_t failed;
};

/* The first failure stays: `status` tells it after the layer. */
static void note(struct device_pass *device, const char *kernel, cudaError_t status)
{
	if (device->failed == cudaSuccess && status != cudaSuccess) {
		device->failed = status;
		device->failed_at = kernel;
	}
}

static const void *on_device(const struct device_pass *device, const void *weights)
{
	return device->weights + ((const char *)weights - device->model->weights);
}

static void embed(void *state, const int *ids, size_t rows, void *x)
{
	struct device_pass *device = state;
	size_t width = (size_t)device->model->width;
	for (size_t r = 0; r < rows && device->failed == cudaSuccess; r++) {
		matrix_row(&device->model->embedding, (size_t)ids[r], device->row);
		CUDA_CHECK(cudaMemcpy((float *)x + r * width, device->row, width * FLOAT, cudaMemcpyHostToDevice));
	}
}

static void rms_norm(void *state, const void *x, const float *weight, size_t rows, void *y)
{
	struct device_pass *device = state;
	const struct language_model *model = device->model;
	note(device, "rms_norm",
	     launch_rms_norm(x, on_device(device, weight), y, (int)rows, model->width, model->epsilon));
}

static void project(
	void *state, const struct matrix *weights, const void *x, size_t rows, const void *residual, void *y)
{
	static const enum weight_encoding encodings[] = {
		[ENCODING_F32] = WEIGHTS_F32, [ENCODING_Q4_1] = WEIGHTS_Q4_1, [ENCODING_Q8_0] = WEIGHTS_Q8_0};
	struct device_pass *device = state;
	note(device, "project",
	     launch_project((struct projection){
		     .encoding = encodings[weights->encoding],
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
	note(device, "rope", launch_rope(x, device->angles + first * (size_t)d, x, (int)rows, (int)heads, d));
}

static void swiglu(void *state, void *gate, const void *up, size_t numbers)
{
	note(state, "swiglu", launch_swiglu(gate, up, gate, numbers));
}

/* The tile that attention takes for so many rows: whole warps, no more than there are rows for, at most 128. */
static int tile_queries(size_t rows)
{
	return rows >= 128 ? 128 : (int)(ceil_div(rows, 32) * 32);
}

static int tile_keys(const struct language_model *model)
{
	return row_tile_keys(&(struct problem){.dim = (size_t)model->head_dim});
}

/* The new rows of Q, and those of a layer's keys and values, join their copies, head by head. */
static void attend_permuted(struct device_pass *device, size_t layer, struct attention a, size_t first)
{
	size_t d = (size_t)a.d, old = first * a.kv.row;
	struct attention heads = a;
	float *K = device->copy.K + layer * device->layer_cache, *V = device->copy.V + layer * device->layer_cache;
	heads.Q = device->copy.Q;
	heads.K = K;
	heads.V = V;
	heads.O = device->copy.O;
	heads.q = heads.o = (struct strides){d, (size_t)a.N * d};
	heads.kv = (struct strides){d, device->capacity * d};
	note(device, "permute", launch_permute(a.Q, a.q, device->copy.Q, heads.q, a.N, a.H, a.d));
	note(device, "permute", launch_permute(a.K + old, a.kv, K + first * d, heads.kv, a.N, a.G, a.d));
	note(device, "permute", launch_permute(a.V + old, a.kv, V + first * d, heads.kv, a.N, a.G, a.d));
	note(device, "attention", launch_attention(heads));
	note(device, "permute", launch_permute(heads.O, heads.o, a.O, a.o, a.N, a.H, a.d));
}

static void attend(
	void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows, size_t first,
	void *o)
{
	struct device_pass *device = state;
	const struct language_model *model = device->model;
	size_t d = (size_t)model->head_dim, C = (size_t)model->width;
	struct attention attention = {
		.Q = q,
		.K = keys,
		.V = values,
		.O = o,
		.q = {C, d},
		.kv = {device->layer_cache / device->capacity, d},
		.o = {C, d},
		.N = (int)rows,
		.M = (int)(first + rows),
		.H = model->heads,
		.G = model->kv_heads,
		.d = model->head_dim,
		.causal = true,
		.scale = (float)(1.0 / sqrt((double)d)),
		.Br = tile_queries(rows),
		.Bc = tile_keys(model),
	};
	if (device->heads == HEADS_PERMUTED)
		attend_permuted(device, layer, attention, first);
	else
		note(device, "attention", launch_attention(attention));
}

/* Attention's buffers are on the host: what is new of them goes to the device, O comes back. */
static void attend_from_host(
	void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows, size_t first,
	void *o)
{
	struct device_pass *device = state;
	size_t C = (size_t)device->model->width, kv_width = device->layer_cache / device->capacity;
	size_t old = first * kv_width, bytes = rows * kv_width * FLOAT;
	float *K = device->K + layer * device->layer_cache, *V = device->V + layer * device->layer_cache;
	if (device->failed != cudaSuccess)
		return;
	CUDA_CHECK(cudaMemcpy(device->Q, q, rows * C * FLOAT, cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(K + old, (const float *)keys + old, bytes, cudaMemcpyHostToDevice));
	CUDA_CHECK(cudaMemcpy(V + old, (const float *)values + old, bytes, cudaMemcpyHostToDevice));
	attend(state, layer, device->Q, K, V, rows, first, device->O);
	note(device, "attention", cudaDeviceSynchronize());
	if (device->failed == cudaSuccess)
		CUDA_CHECK(cudaMemcpy(o, device->O, rows * C * FLOAT, cudaMemcpyDeviceToHost));
}

static void fetch(void *state, const void *buffer, size_t numbers, double *values)
{
	struct device_pass *device = state;
	if (device->failed != cudaSuccess || cudaDeviceSynchronize() != cudaSuccess)
		return; /* status says so */
	CUDA_CHECK(cudaMemcpy(device->row, buffer, numbers * FLOAT, cudaMemcpyDeviceToHost));
	for (size_t i = 0; i < numbers; i++)
		values[i] = (double)device->row[i];
}

static int status(void *state, struct error *error)
{
	struct device_pass *device = state;
	note(device, "a kernel", cudaDeviceSynchronize());
	if (device->failed == cudaSuccess)
		return 0;
	return error_set(
		error, EXIT_VERIFICATION, "%s: %s: %s", device->failed_at, cudaGetErrorName(device->failed),
		cudaGetErrorString(device->failed));
}

static void *allocate(void *state, const char *name, size_t numbers)
{
	return device_allocate(&((struct device_pass *)state)->memory, name, numbers * FLOAT);
}

static void end(void *state)
{
	struct device_pass *device = state;
	if (device->failed == cudaSuccess) /* after a fault memory cannot be freed either */
		device_free_all(&device->memory);
	free(device->row);
	free(device);
}

/* Cosine and sine of every token and pair, in double precision, rounded once; and the model's weights. */
static bool upload(struct device_pass *device)
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
	float *weights = device_allocate(&device->memory, "weights", device->model->weight_bytes);
	CUDA_CHECK(cudaMemcpy(weights, device->model->weights, device->model->weight_bytes, cudaMemcpyHostToDevice));
	device->weights = (const char *)weights;
	return angles != NULL;
}

int device_operations(
	const struct language_model *model, enum heads heads, bool all_kernels, size_t capacity, size_t most_rows,
	struct operations *operations, struct error *error)
{
	*operations = (struct operations){0};
	if (!all_kernels && plain_operations(model, operations, error) != 0)
		return error->exit_code;
	size_t C = (size_t)model->width, vocabulary = (size_t)model->vocabulary;
	struct device_pass *device = calloc(1, sizeof *device);
	float *row = malloc((C > vocabulary ? C : vocabulary) * sizeof *row);
	if (!device || !row) {
		free(device);
		free(row);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
	}
	*device = (struct device_pass){
		.model = model,
		.heads = heads,
		.capacity = capacity,
		.layer_cache = capacity * (size_t)(model->kv_heads * model->head_dim),
		.row = row,
		.failed = cudaSuccess,
	};
	if (all_kernels) {
		*operations = (struct operations){
			.number_bytes = FLOAT,
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
	} else {
		operations->attend = attend_from_host;
		operations->attend_state = device;
		operations->attend_status = status;
		operations->attend_end = end;
	}
	operations->name = heads == HEADS_PERMUTED ? "permuted" : "strided";

	size_t rows = most_rows * C, cache = (size_t)model->layers * device->layer_cache;
	if (heads == HEADS_PERMUTED) {
		device->copy.Q = allocate(device, "Q of heads", rows);
		device->copy.K = allocate(device, "K of heads", cache);
		device->copy.V = allocate(device, "V of heads", cache);
		device->copy.O = allocate(device, "O of heads", rows);
	}
	if (!all_kernels) {
		device->Q = allocate(device, "Q", rows);
		device->K = allocate(device, "K", cache);
		device->V = allocate(device, "V", cache);
		device->O = allocate(device, "O", rows);
	} else if (!upload(device)) {
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
	}
	return 0;
}

/* ---- bytes: closed forms, and counts, by kind of kernel and by what the bytes are ---- */

enum kind { KIND_NORM, KIND_PROJECT, KIND_ROPE, KIND_PERMUTE, KIND_ATTENTION, KIND_SWIGLU, KINDS };

/* As kernels[].name has them; and the kernel in the launch records. */
static const char *const kind_names[KINDS] = {"rms_norm", "project", "rope", "permute", "attention", "swiglu"};
static const char *const launched[KINDS] = {"rms_norm", "project", "rope", "permute", "attention_rows", "swiglu"};

/* Reads and writes. weights: as stored. kv: keys and values, their copies too. activations: all else. */
struct bytes {
	uint64_t weights, kv, activations;
};

struct transformer { /* generation->state */
	enum heads heads;
	bool all_kernels; /* not only attention */
	struct bytes counted[PHASES][KINDS];
};

static uint64_t sum_of(struct bytes bytes)
{
	return bytes.weights + bytes.kv + bytes.activations;
}

/* A product with the matrix as stored: N rows of x for each block of rows of W, N rows of y, and of the residual if there is
 * one. */
static void add_product(struct bytes *project, const struct matrix *W, uint64_t N, bool residual, uint64_t *y)
{
	project->weights += N * matrix_bytes(W);
	uint64_t blocks = ceil_div(W->rows, (uint64_t)projection_rows((int)N, (int)W->rows));
	project->activations += FLOAT * N * (blocks * W->columns + (residual ? W->rows : 0));
	*y += FLOAT * N * W->rows;
}

/*
 * N tokens at once after `first` others, in one layer. With C, C_kv, F as in model/forward.h, in numbers of 4 bytes:
 *
 *     rms_norm    3NC + NC a norm, NC of it weights
 *     project     of a [r, c]: N times the matrix as stored; N ⌈r/R⌉ c of x, with R of projection_rows(); N r of y, N r of
 *                 the residual if there is one
 *     rope        2NC + NC of angles, and the same of C_kv for K
 *     permute     4N (C + C_kv)
 *     attention   2NC of Q and O, 2C Σκ of keys and values: a query tile reads κ keys, of each head
 *     swiglu      3NF
 */
static void add_layer(
	const struct language_model *model, const struct layer_weights *layer, enum heads heads, uint64_t first,
	uint64_t N, struct bytes bytes[KINDS])
{
	struct bytes *project = &bytes[KIND_PROJECT], *rotated = &bytes[KIND_ROPE];
	uint64_t C = (uint64_t)model->width, C_kv = (uint64_t)(model->kv_heads * model->head_dim);
	uint64_t keys = visits_of_last(N, first + N, tile_queries(N), tile_keys(model), true).keys;
	bytes[KIND_NORM].weights += FLOAT * 2 * N * C;
	bytes[KIND_NORM].activations += FLOAT * 2 * 3 * N * C;
	add_product(project, &layer->q, N, false, &project->activations);
	add_product(project, &layer->k, N, false, &project->kv);
	add_product(project, &layer->v, N, false, &project->kv);
	add_product(project, &layer->o, N, true, &project->activations);
	add_product(project, &layer->gate, N, false, &project->activations);
	add_product(project, &layer->up, N, false, &project->activations);
	add_product(project, &layer->down, N, true, &project->activations);
	rotated->activations += FLOAT * (3 * N * C + N * C_kv);
	rotated->kv += FLOAT * 2 * N * C_kv;
	bytes[KIND_ATTENTION].activations += FLOAT * 2 * N * C;
	bytes[KIND_ATTENTION].kv += FLOAT * 2 * C * keys;
	bytes[KIND_SWIGLU].activations += FLOAT * 3 * N * (uint64_t)model->hidden;
	if (heads == HEADS_PERMUTED) {
		bytes[KIND_PERMUTE].activations += FLOAT * 4 * N * C;
		bytes[KIND_PERMUTE].kv += FLOAT * 4 * N * C_kv;
	}
}

/* A call: `count` tokens, at most most_rows of them at once, and the logits of the last one. */
static void add_call(const struct generation *g, size_t first, size_t count, struct bytes bytes[KINDS])
{
	const struct transformer *transformer = g->state;
	const struct language_model *model = g->model;
	for (size_t done = 0; done < count; done += g->most_rows)
		for (int layer = 0; layer < model->layers; layer++)
			add_layer(
				model, &model->layer[layer], transformer->heads, first + done,
				smaller(count - done, g->most_rows), bytes);
	bytes[KIND_NORM].weights += FLOAT * (uint64_t)model->width;
	bytes[KIND_NORM].activations += FLOAT * 3 * (uint64_t)model->width;
	add_product(&bytes[KIND_PROJECT], &model->output, 1, false, &bytes[KIND_PROJECT].activations);
}

/* The prompt in a call, or `decoded` tokens in one each. */
static void expect_bytes(
	const struct generation *g, enum phase phase, size_t prompt, size_t decoded, struct bytes bytes[KINDS])
{
	memset(bytes, 0, KINDS * sizeof *bytes);
	if (phase == PHASE_PROMPT)
		add_call(g, 0, prompt, bytes);
	for (size_t i = 0; phase == PHASE_ANSWER && i < decoded; i++)
		add_call(g, prompt + i, 1, bytes);
}

static uint64_t requested(const struct generation *g, size_t prompt, size_t decoded)
{
	uint64_t sum = 0;
	for (int phase = 0; phase < PHASES; phase++) {
		struct bytes bytes[KINDS];
		expect_bytes(g, (enum phase)phase, prompt, decoded, bytes);
		for (int kind = 0; kind < KINDS; kind++)
			sum += sum_of(bytes[kind]);
	}
	return sum;
}

static void add_counts(struct generation *g, enum phase phase, const struct counts *counts)
{
	struct transformer *transformer = g->state;
	for (size_t i = 0; i < counts->launch_count; i++) {
		const struct launch_counts *launch = &counts->launches[i];
		size_t kind = 0;
		while (kind < KINDS && strcmp(launched[kind], launch->kernel) != 0)
			kind++;
		for (size_t t = 0; kind < KINDS && t < launch->tensor_count; t++) {
			const char *name = launch->tensors[t].name;
			const struct traffic *traffic = &launch->tensors[t].requested;
			struct bytes *bytes = &transformer->counted[phase][kind];
			bool kv = (name[0] == 'K' || name[0] == 'V') &&
			          (!name[1] || strcmp(name + 1, " of heads") == 0);
			uint64_t *part = strcmp(name, "weights") == 0 ? &bytes->weights
			                 : kv                         ? &bytes->kv
			                                              : &bytes->activations;
			*part += traffic->read_bytes + traffic->write_bytes;
		}
	}
}

/* Does this kind of kernel run, so that there is something counted beside its closed form? */
static bool runs(const struct transformer *transformer, int kind)
{
	if (kind == KIND_PERMUTE)
		return transformer->heads == HEADS_PERMUTED;
	return kind == KIND_ATTENTION || transformer->all_kernels;
}

static bool counts_equal(const struct generation *g)
{
	const struct transformer *transformer = g->state;
	for (int phase = 0; phase < PHASES; phase++) {
		struct bytes right[KINDS];
		expect_bytes(g, (enum phase)phase, g->prompt.count, generation_decoded(g), right);
		for (int kind = 0; kind < KINDS; kind++)
			if (runs(transformer, kind) &&
			    memcmp(&right[kind], &transformer->counted[phase][kind], sizeof right[kind]) != 0)
				return false;
	}
	return true;
}

/* ---- what the program says ---- */

/* A token's share, in bytes; "" for nothing. */
static const char *share(uint64_t bytes, size_t tokens, char text[32])
{
	text[0] = '\0';
	return bytes ? format_bytes((double)bytes / (double)tokens, text) : text;
}

static void print_row(
	struct table *table, enum style style, const char *name, struct bytes bytes, size_t tokens,
	const char *counted)
{
	char texts[4][32];
	table_row(
		table, style, "%s|%s|%s|%s|%s|%s", name, share(bytes.weights, tokens, texts[0]),
		share(bytes.kv, tokens, texts[1]), share(bytes.activations, tokens, texts[2]),
		share(sum_of(bytes), tokens, texts[3]), counted);
}

static void print_bytes(const struct generation *g, enum phase phase, size_t tokens)
{
	const struct transformer *transformer = g->state;
	struct table table = table_new("lrrrrr");
	struct bytes right[KINDS], sum = {0};
	char text[32];
	expect_bytes(g, phase, g->prompt.count, generation_decoded(g), right);
	table_row(&table, STYLE_BOLD, "kernel|weights|keys, values|activations|closed form|counted");
	for (int kind = 0; kind < KINDS; kind++) {
		bool counted = g->has_counts && runs(transformer, kind);
		if (!sum_of(right[kind]))
			continue;
		print_row(
			&table, STYLE_PLAIN, kind_names[kind], right[kind], tokens,
			counted ? share(sum_of(transformer->counted[phase][kind]), tokens, text) : "-");
		sum.weights += right[kind].weights;
		sum.kv += right[kind].kv;
		sum.activations += right[kind].activations;
	}
	print_row(&table, STYLE_BOLD, "sum", sum, tokens, "");
	table_print(&table, g->terminal);
}

/* The cache grows with every token: at some n it is what the weights are, and what attention asks for is that long before. */
static void print_takeover(FILE *out, const struct language_model *model)
{
	uint64_t group = (uint64_t)(model->heads / model->kv_heads), weights = language_model_weight_bytes(model);
	uint64_t per_token = 2 * FLOAT * (uint64_t)(model->layers * model->kv_heads * model->head_dim);
	char cache[32], stored[32], equal[32], attention[32], context[32];
	fprintf(out,
	        "\nThe cache grows by %s bytes per token: at n = %s it is as large as the\n"
	        "weights, %s as stored. %d heads on %d ask for each of its bytes %llu times, so\n"
	        "from n = %s on attention asks for more than that. The context ends at %s.\n",
	        format_count(per_token, cache), format_count(ceil_div(weights, per_token), equal),
	        format_bytes((double)weights, stored), model->heads, model->kv_heads, (unsigned long long)group,
	        format_count(ceil_div(weights, group * per_token), attention),
	        format_count((uint64_t)model->context, context));
}

static void report(const struct generation *g)
{
	FILE *out = g->terminal->out;
	size_t decoded = generation_decoded(g), prompt = g->prompt.count;
	if (decoded > 0) {
		terminal_print(g->terminal, STYLE_BOLD, "\nMemory asked for a decoded token");
		fprintf(out, ", %zu tokens after a prompt of %zu\n\n", decoded, prompt);
		print_bytes(g, PHASE_ANSWER, decoded);
	}
	if (g->options->verbose || decoded == 0) {
		terminal_print(g->terminal, STYLE_BOLD, "\nMemory asked for a token of the prompt\n\n");
		print_bytes(g, PHASE_PROMPT, prompt);
	}
	print_takeover(out, g->model);
}

static const char *next(const struct generation *g)
{
	const struct transformer *transformer = g->state;
	if (!g->verified)
		return "the kernels one by one, ./transformer --causal";
	if (g->tiny)
		return g->options->model ? "a model that makes sense: make model, then the same without --model"
		                         : "a model that makes sense: make model, then the same again";
	if (transformer->heads == HEADS_STRIDED)
		return "what copies of the heads cost: the same with --kernel permuted";
	if (!g->options->count_all)
		return "every kernel counted, 4 tokens: the same with --count-all";
	return "one token at a time, on every SM: cd ../08_decode && make";
}

static void describe(const struct generation *g, FILE *out)
{
	const struct transformer *transformer = g->state;
	fprintf(out, "%s\n",
	        transformer->all_kernels ? "every operation is a kernel"
	                                 : "attention is the kernel, the rest is plain C");
}

static void write_bytes(struct json *json, const char *key, struct bytes bytes)
{
	json_open_object(json, key);
	json_count(json, "weights_bytes", bytes.weights);
	json_count(json, "kv_bytes", bytes.kv);
	json_count(json, "activations_bytes", bytes.activations);
	json_count(json, "bytes", sum_of(bytes));
	json_close_object(json);
}

static void add_json(const struct generation *g, struct json *json)
{
	const struct transformer *transformer = g->state;
	json_string(json, "heads", g->operations.name);
	json_bool(json, "all_kernels", transformer->all_kernels);
	json_open_object(json, "moved"); /* sums over the prompt's tokens, over the answer's */
	for (int phase = 0; phase < PHASES; phase++) {
		struct bytes right[KINDS];
		expect_bytes(g, (enum phase)phase, g->prompt.count, generation_decoded(g), right);
		json_open_array(json, phase == PHASE_PROMPT ? "prompt" : "answer");
		for (int kind = 0; kind < KINDS; kind++) {
			if (!sum_of(right[kind]))
				continue;
			json_open_object(json, NULL);
			json_string(json, "kernel", kind_names[kind]);
			write_bytes(json, "model", right[kind]);
			if (g->has_counts && runs(transformer, kind))
				write_bytes(json, "counted", transformer->counted[phase][kind]);
			json_close_object(json);
		}
		json_close_array(json);
	}
	json_close_object(json);
}

/* ---- the program with --prompt ---- */

static int check_options(const struct options *options, const struct device *device, struct error *error)
{
	(void)device;
	const char *kernel = options->kernel;
	if (!kernel || strcmp(kernel, "strided") == 0 || strcmp(kernel, "permuted") == 0)
		return 0;
	return error_set(
		error, EXIT_USAGE, "--kernel: expected strided or permuted with --prompt, got '%.60s'", kernel);
}

/* Attention is the kernel and the rest plain C, or all are kernels: counted ones take minutes. */
static int begin(struct generation *g, struct error *error)
{
	struct transformer *transformer = g->state;
	const char *kernel = g->options->kernel;
	transformer->heads = kernel && strcmp(kernel, "permuted") == 0 ? HEADS_PERMUTED : HEADS_STRIDED;
	transformer->all_kernels = g->options->count_all || !g->device->simulated || g->device->plain;
	g->replaced = transformer->all_kernels ? NULL : "rms_norm, project, rope, swiglu";
	return device_operations(
		g->model, transformer->heads, transformer->all_kernels, g->capacity, g->most_rows, &g->operations,
		error);
}

static int begin_all(const struct generation *g, size_t tokens, struct operations *operations, struct error *error)
{
	const struct transformer *transformer = g->state;
	return device_operations(g->model, transformer->heads, true, tokens, tokens, operations, error);
}

int transformer_generate(
	const struct chapter *chapter, const struct options *options, const struct device *device,
	const struct terminal *terminal, struct error *error)
{
	static const struct generator generator = {
		.refused = OPTION_BIT(OPTION_KEYS) | OPTION_BIT(OPTION_CAUSAL) | OPTION_BIT(OPTION_TILE_Q) |
	                   OPTION_BIT(OPTION_TILE_K) | OPTION_BIT(OPTION_TIME),
		.check_options = check_options,
		.begin = begin,
		.begin_all = begin_all,
		.add_counts = add_counts,
		.counts_equal = counts_equal,
		.requested = requested,
		.describe = describe,
		.report = report,
		.add_json = add_json,
		.next = next,
	};
	struct transformer transformer = {0};
	return generate(&generator, &transformer, chapter, options, device, terminal, error);
}
