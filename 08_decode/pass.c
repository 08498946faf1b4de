/* Open this to see a language model decode from the chapter's cache: kept, split and paged, one token per step. */
#include "decode.h"

#include "harness.h"
#include "model/generate.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

/*
 * Attention is one of the chapter's kernels, the rest of the forward pass plain C. A row of a prompt is a step of its own:
 * one query, and the keys up to its own token. So every token goes the way of a decoded one; chapter 07 has the kernel that
 * reads a prompt in tiles of queries.
 */

enum way { WAY_NAIVE, WAY_GROUPED, WAY_SPLIT, WAY_PAGED, WAYS };

/* As kernels[].name has them. */
static const char *const way_names[WAYS] = {"decode_naive", "decode_grouped", "decode_split", "decode_paged"};

/* Without --splits: one for each so many tokens, a tile of the kernels. */
enum { TOKENS_OF_A_SPLIT = 32 };

/* Bytes that attention requests from global memory. */
struct bytes {
	uint64_t cache, table, others; /* keys and values; words of the page table; Q, O and partials */
};

struct decode_pass { /* generation->state */
	const struct language_model *model;
	enum way way;
	size_t splits, page, kv_width, layer_cache; /* numbers of a row of K, of K of a layer */
	struct device_memory memory;
	float *Q, *O;         /* [C] */
	float *new_K, *new_V; /* [most_rows, C_kv], on their way into pages */
	float *K, *V;         /* [layers, capacity, C_kv], capacity up to whole pages where there are pages */
	struct partials partials;
	struct pages pages;
	cudaError_t failed;
	struct bytes counted[PHASES];
};

/* ---- attention ---- */

static cudaError_t keep_rows(
	struct decode_pass *pass, size_t layer, const float *keys, const float *values, size_t rows, size_t first)
{
	size_t old = first * pass->kv_width, bytes = rows * pass->kv_width * sizeof(float);
	float *K = pass->K + layer * pass->layer_cache, *V = pass->V + layer * pass->layer_cache;
	bool paged = pass->way == WAY_PAGED;
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
		.width = (int)pass->kv_width,
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
		.row = pass->kv_width,
		.head = (size_t)model->head_dim,
		.n = (int)n,
		.H = model->heads,
		.G = model->kv_heads,
		.d = model->head_dim,
		.scale = (float)(1.0 / sqrt((double)model->head_dim)),
	};
	cudaError_t status;
	switch (pass->way) {
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

static int status(void *state, struct error *error)
{
	struct decode_pass *pass = state;
	if (pass->failed == cudaSuccess)
		pass->failed = cudaDeviceSynchronize();
	if (pass->failed == cudaSuccess)
		return 0;
	return error_set(
		error, EXIT_VERIFICATION, "%s: %s: %s", way_names[pass->way], cudaGetErrorName(pass->failed),
		cudaGetErrorString(pass->failed));
}

static void end(void *state)
{
	struct decode_pass *pass = state;
	if (pass->failed == cudaSuccess) /* after a fault memory cannot be freed either */
		device_free_all(&pass->memory);
}

/* ---- beginning ---- */

static int check_options(const struct options *options, const struct device *device, struct error *error)
{
	if (options->given & OPTION_BIT(OPTION_TIME) && device->simulated && !device->plain)
		return error_set(
			error, EXIT_USAGE,
			"--time: with --prompt only the plain build measures times: make fast, then "
			"./decode.fast");
	return 0;
}

static float *allocate(struct decode_pass *pass, const char *name, size_t numbers)
{
	return device_allocate(&pass->memory, name, numbers * sizeof(float));
}

/* One table for all layers: a page has the same place in each. */
static bool make_pages(struct decode_pass *pass, size_t count, size_t most_rows, uint64_t seed)
{
	int *order = malloc(count * sizeof *order);
	if (!order)
		return false;
	shuffle_pages(seed, order, count);
	float *table = allocate(pass, "table", count);
	CUDA_CHECK(cudaMemcpy(table, order, count * sizeof *order, cudaMemcpyHostToDevice));
	free(order);
	pass->pages = (struct pages){(const int *)table, (int)pass->page};
	pass->new_K = allocate(pass, "new K", most_rows * pass->kv_width);
	pass->new_V = allocate(pass, "new V", most_rows * pass->kv_width);
	return true;
}

static int choose_splits(struct decode_pass *pass, const struct generation *g, struct error *error)
{
	pass->splits = g->options->problem.splits;
	if (!(g->options->given & OPTION_BIT(OPTION_SPLITS)))
		pass->splits = ceil_div(g->capacity, TOKENS_OF_A_SPLIT);
	else if (pass->splits > g->capacity)
		return error_set(
			error, EXIT_USAGE,
			"--splits: expected at most %zu with this --prompt, its tokens and the answer's, got %zu",
			g->capacity, pass->splits);
	return 0;
}

static int begin(struct generation *g, struct error *error)
{
	struct decode_pass *pass = g->state;
	const struct language_model *model = g->model;
	size_t C = (size_t)model->width, H = (size_t)model->heads;
	pass->model = model;
	pass->page = g->options->problem.page;
	pass->way = WAY_PAGED;
	for (int way = 0; g->options->kernel && way < WAYS; way++)
		if (strcmp(g->options->kernel, way_names[way]) == 0)
			pass->way = (enum way)way;
	if (pass->way != WAY_NAIVE && model->heads / model->kv_heads > MOST_GROUP)
		return error_set(
			error, EXIT_USAGE, "--model: %d heads share one of keys, expected %d at most for %s",
			model->heads / model->kv_heads, MOST_GROUP, way_names[pass->way]);
	if (choose_splits(pass, g, error) != 0 || plain_operations(model, &g->operations, error) != 0)
		return error->exit_code;
	g->operations.name = way_names[pass->way];
	g->operations.attend = attend;
	g->operations.attend_state = pass;
	g->operations.attend_status = status;
	g->operations.attend_end = end;

	bool paged = pass->way == WAY_PAGED;
	size_t pages = ceil_div(g->capacity, pass->page), rows = paged ? pages * pass->page : g->capacity;
	pass->failed = cudaSuccess;
	pass->kv_width = (size_t)(model->kv_heads * model->head_dim);
	pass->layer_cache = rows * pass->kv_width;
	pass->Q = allocate(pass, "Q", C);
	pass->O = allocate(pass, "O", C);
	pass->K = allocate(pass, paged ? "K pages" : "K", (size_t)model->layers * pass->layer_cache);
	pass->V = allocate(pass, paged ? "V pages" : "V", (size_t)model->layers * pass->layer_cache);
	if (pass->way >= WAY_SPLIT)
		pass->partials = (struct partials){
			allocate(pass, "O of splits", pass->splits * C),
			allocate(pass, "m of splits", pass->splits * H),
			allocate(pass, "l of splits", pass->splits * H), (int)pass->splits};
	if (paged && !make_pages(pass, pages, g->most_rows, g->options->problem.seed))
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the table of pages");
	return 0;
}

/* ---- bytes: closed forms, and counts ---- */

/* Attention to n tokens in one layer. */
static struct closed_forms attention_forms(const struct generation *g, size_t n)
{
	static struct closed_forms (*const forms[WAYS])(const struct problem *) = {
		naive_forms, grouped_forms, split_forms, paged_forms};
	const struct decode_pass *pass = g->state;
	struct problem problem = {
		.heads = (size_t)g->model->heads,
		.kv_heads = (size_t)g->model->kv_heads,
		.dim = (size_t)g->model->head_dim,
		.seq = n,
		.splits = pass->splits,
		.page = pass->page,
	};
	problem_fill_defaults(&problem);
	return forms[pass->way](&problem);
}

static uint64_t expected_bytes(const struct generation *g, enum phase phase)
{
	size_t prompt = g->prompt.count, first = phase == PHASE_PROMPT ? 0 : prompt;
	size_t last = phase == PHASE_PROMPT ? prompt : prompt + generation_decoded(g);
	uint64_t elements = 0;
	for (size_t n = first + 1; n <= last; n++) {
		struct closed_forms forms = attention_forms(g, n);
		elements += forms.predictions[0].read_elements + forms.predictions[0].write_elements;
	}
	return sizeof(float) * (uint64_t)g->model->layers * elements;
}

static uint64_t sum_of(struct bytes bytes)
{
	return bytes.cache + bytes.table + bytes.others;
}

/* What is counted of attention; that rows are put into their pages is not. */
static void add_counts(struct generation *g, enum phase phase, const struct counts *counts)
{
	struct bytes *bytes = &((struct decode_pass *)g->state)->counted[phase];
	for (size_t i = 0; i < counts->launch_count; i++) {
		const struct launch_counts *launch = &counts->launches[i];
		for (size_t t = 0; t < launch->tensor_count && strcmp(launch->kernel, "append_rows") != 0; t++) {
			const char *name = launch->tensors[t].name;
			const struct traffic *traffic = &launch->tensors[t].requested;
			bool cached =
				(name[0] == 'K' || name[0] == 'V') && (!name[1] || strcmp(name + 1, " pages") == 0);
			uint64_t *part = cached                       ? &bytes->cache
			                 : strcmp(name, "table") == 0 ? &bytes->table
			                                              : &bytes->others;
			*part += traffic->read_bytes + traffic->write_bytes;
		}
	}
}

static bool counts_equal(const struct generation *g)
{
	const struct decode_pass *pass = g->state;
	return sum_of(pass->counted[PHASE_PROMPT]) == expected_bytes(g, PHASE_PROMPT) &&
	       sum_of(pass->counted[PHASE_ANSWER]) == expected_bytes(g, PHASE_ANSWER);
}

/* ---- what the program says ---- */

static void describe(const struct generation *g, FILE *out)
{
	const struct decode_pass *pass = g->state;
	fprintf(out, "attention is %s", way_names[pass->way]);
	if (pass->way >= WAY_SPLIT)
		fprintf(out, ", S = %zu", pass->splits);
	if (pass->way == WAY_PAGED)
		fprintf(out, ", pages of %zu tokens", pass->page);
	fprintf(out, "; the rest is plain C\n");
}

static void print_bytes(struct table *table, const char *what, uint64_t bytes, size_t tokens)
{
	char text[32];
	if (bytes)
		table_row(table, STYLE_PLAIN, "%s|%s", what, format_bytes((double)bytes / (double)tokens, text));
}

/* The mean of the decoded tokens. On a GPU, and in the plain build, only the closed form is known. */
static void report(const struct generation *g)
{
	const struct decode_pass *pass = g->state;
	struct bytes counted = pass->counted[PHASE_ANSWER];
	struct table table = table_new("lr");
	size_t decoded = generation_decoded(g);
	if (!decoded)
		return;
	terminal_print(g->terminal, STYLE_BOLD, "\nBytes asked for a decoded token");
	fprintf(g->terminal->out, ", the mean of %zu after a prompt of %zu\n\n", decoded, g->prompt.count);
	print_bytes(&table, "keys and values", counted.cache, decoded);
	print_bytes(&table, "Q, O and partials", counted.others, decoded);
	print_bytes(&table, "words of the page table", counted.table, decoded);
	print_bytes(&table, "attention, closed form", expected_bytes(g, PHASE_ANSWER), decoded);
	print_bytes(&table, "attention, counted", sum_of(counted), decoded);
	print_bytes(&table, "weights, as stored", language_model_weight_bytes(g->model), 1);
	table_print(&table, g->terminal);
	if (g->seconds > 0.0)
		fprintf(g->terminal->out, "\n%.3g tokens per second: %s\n", (double)decoded / g->seconds,
		        g->device->simulated ? "a CPU, plain build, nothing counted"
		                             : "attention on the GPU, the rest and the copies on the CPU");
}

static const char *next(const struct generation *g)
{
	const struct decode_pass *pass = g->state;
	if (g->verified && g->tiny)
		return "a model that makes sense: make model, then the same again";
	if (g->verified && pass->way == WAY_PAGED && g->has_counts)
		return "no pages and no splits: the same with --kernel decode_naive";
	if (g->verified && g->has_counts)
		return "tokens per second: make fast, then the same of ./decode.fast";
	return "the kernels one by one, ./decode";
}

static void add_json(const struct generation *g, struct json *json)
{
	const struct decode_pass *pass = g->state;
	json_string(json, "kernel", way_names[pass->way]);
	json_count(json, "splits", pass->splits);
	json_count(json, "page", pass->page);
	json_open_object(json, "asked"); /* of attention: sums over the prompt's tokens, over the answer's */
	for (int phase = 0; phase < PHASES; phase++) {
		struct bytes counted = pass->counted[phase];
		json_open_object(json, phase == PHASE_PROMPT ? "prompt" : "answer");
		json_count(json, "model_bytes", expected_bytes(g, (enum phase)phase));
		if (g->has_counts) {
			json_count(json, "counted_bytes", sum_of(counted));
			json_count(json, "kv_bytes", counted.cache);
			json_count(json, "table_bytes", counted.table);
		}
		json_close_object(json);
	}
	json_close_object(json);
}

int decode_generate(
	const struct chapter *chapter, const struct options *options, const struct device *device,
	const struct terminal *terminal, struct error *error)
{
	static const struct generator generator = {
		.check_options = check_options,
		.begin = begin,
		.add_counts = add_counts,
		.counts_equal = counts_equal,
		.attention_forms = attention_forms,
		.describe = describe,
		.report = report,
		.add_json = add_json,
		.next = next,
	};
	struct decode_pass pass = {.failed = cudaSuccess};
	return generate(&generator, &pass, chapter, options, device, terminal, error);
}
