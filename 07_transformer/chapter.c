/* Chapter 07: what the harness has to know about the kernels of a transformer's block. A row is a token: C = H d columns. */
#include "transformer.h"

#include "harness.h"
#include "problem/row_inputs.h"

#include <math.h>

/* C */
static size_t row_width(const struct problem *problem)
{
	return problem->heads * problem->dim;
}

static uint64_t blocks_of(uint64_t threads)
{
	return ceil_div(threads, 256);
}

/* What an element of the rows [N, C] costs, where a thread has an element. */
static struct closed_forms elementwise(
	const struct problem *problem, uint64_t reads, const char *formula, double flop, double exponentials)
{
	uint64_t elements = problem->seq * row_width(problem);
	return (struct closed_forms){
		.predictions =
			{{PREDICTS_REQUESTED, reads * elements, elements, formula},
	                 {PREDICTS_FOOTPRINT, reads * elements, elements, formula}},
		.blocks = blocks_of(elements),
		.flop = flop * (double)elements,
		.exponentials = exponentials * (double)elements,
	};
}

/* ---- rms_norm ---- */

static const struct tensor norm_tensors[] = {
	{"x", "NHd", TENSOR_INPUT, false},
	{"weight", "Hd", TENSOR_INPUT, false},
	{"normed", "NHd", TENSOR_OUTPUT, false},
	{0},
};

static cudaError_t run_rms_norm(const struct problem *problem, const struct device_memory *memory)
{
	return launch_rms_norm(
		device_find(memory, "x"), device_find(memory, "weight"), device_find(memory, "normed"),
		(int)problem->seq, (int)row_width(problem), EPSILON);
}

/* A row is read for its squares and again for its quotients, with the weights. */
static struct closed_forms norm_forms(const struct problem *problem)
{
	uint64_t C = row_width(problem), NC = problem->seq * C;
	struct closed_forms forms = elementwise(problem, 3, "3NC + NC", 4.0, 0.0);
	forms.predictions[1] = (struct prediction){PREDICTS_FOOTPRINT, NC + C, NC, "NC + C + NC"};
	forms.blocks = ceil_div(problem->seq, 4);
	return forms;
}

/* ---- rope ---- */

static const struct tensor rope_tensors[] = {
	{"x", "NHd", TENSOR_INPUT, false},
	{"angles", "Nd", TENSOR_INPUT, false},
	{"rotated", "NHd", TENSOR_OUTPUT, false},
	{0},
};

static cudaError_t run_rope(const struct problem *problem, const struct device_memory *memory)
{
	return launch_rope(
		device_find(memory, "x"), device_find(memory, "angles"), device_find(memory, "rotated"),
		(int)problem->seq, (int)problem->heads, (int)problem->dim);
}

/* A pair is two numbers, a cosine and a sine; an odd d's last column is a number alone, which is copied. */
static struct closed_forms rope_forms(const struct problem *problem)
{
	uint64_t N = problem->seq, H = problem->heads, d = problem->dim, turned = d / 2 * 2;
	struct closed_forms forms = elementwise(problem, 2, "", 3.0, 0.0);
	forms.predictions[0] = (struct prediction){
		PREDICTS_REQUESTED, N * H * (d + turned), N * H * d, d % 2 ? "NH(2d - 1) + NC" : "2NC + NC"};
	forms.predictions[1] = (struct prediction){
		PREDICTS_FOOTPRINT, N * H * d + N * turned, N * H * d, d % 2 ? "NC + N(d - 1) + NC" : "NC + Nd + NC"};
	forms.blocks = blocks_of(N * H * ((d + 1) / 2));
	forms.flop = 3.0 * (double)(N * H * turned);
	return forms;
}

/* ---- project ---- */

static const struct tensor project_tensors[] = {
	{"x", "NHd", TENSOR_INPUT, false},
	{"W", "HdHd", TENSOR_INPUT, false},
	{"residual", "NHd", TENSOR_INPUT, false},
	{"projected", "NHd", TENSOR_OUTPUT, false},
	{0},
};

static cudaError_t run_project(const struct problem *problem, const struct device_memory *memory)
{
	return launch_project((struct projection){
		.encoding = WEIGHTS_F32,
		.W = device_find(memory, "W"),
		.x = device_find(memory, "x"),
		.residual = device_find(memory, "residual"),
		.y = device_find(memory, "projected"),
		.N = (int)problem->seq,
		.rows = (int)row_width(problem),
		.columns = (int)row_width(problem),
	});
}

/* Every token reads all weights, and its x once for every R rows of them. */
static struct closed_forms project_forms(const struct problem *problem)
{
	uint64_t N = problem->seq, C = row_width(problem), R = (uint64_t)projection_rows((int)N, (int)C);
	return (struct closed_forms){
		.predictions =
			{{PREDICTS_REQUESTED, N * (C * C + ceil_div(C, R) * C + C), N * C, "N(C² + ⌈C/R⌉C + C) + NC"},
	                 {PREDICTS_FOOTPRINT, C * C + 2 * N * C, N * C, "C² + 2NC + NC"}},
		.blocks = N * ceil_div(C, R),
		.shared_bytes = sizeof(float) * R * 33,
		.flop = 2.0 * (double)(N * C) * (double)C,
	};
}

/* ---- swiglu ---- */

static const struct tensor swiglu_tensors[] = {
	{"gate", "NHd", TENSOR_INPUT, false},
	{"up", "NHd", TENSOR_INPUT, false},
	{"gated", "NHd", TENSOR_OUTPUT, false},
	{0},
};

static cudaError_t run_swiglu(const struct problem *problem, const struct device_memory *memory)
{
	return launch_swiglu(
		device_find(memory, "gate"), device_find(memory, "up"), device_find(memory, "gated"),
		problem->seq * row_width(problem));
}

static struct closed_forms swiglu_forms(const struct problem *problem)
{
	return elementwise(problem, 2, "2NC + NC", 5.0, 1.0);
}

/* ---- attention: strided and permuted; K and V have M rows of G d ---- */

static const struct tensor strided_tensors[] = {
	{"Q", "NHd", TENSOR_INPUT, false},
	{"K", "MGd", TENSOR_INPUT, false},
	{"V", "MGd", TENSOR_INPUT, false},
	{"O", "NHd", TENSOR_OUTPUT, false},
	{0},
};

static const struct tensor permuted_tensors[] = {
	{"Q", "NHd", TENSOR_INPUT, false},
	{"K", "MGd", TENSOR_INPUT, false},
	{"V", "MGd", TENSOR_INPUT, false},
	{"Q of heads", "HNd", TENSOR_SCRATCH, false},
	{"K of heads", "GMd", TENSOR_SCRATCH, false},
	{"V of heads", "GMd", TENSOR_SCRATCH, false},
	{"O of heads", "HNd", TENSOR_SCRATCH, false},
	{"O", "NHd", TENSOR_OUTPUT, false},
	{0},
};

static bool attention_runs(const struct problem *problem, char *reason, size_t size)
{
	if (problem->heads > MOST_HEADS)
		snprintf(reason, size, "heads are the grid's y, the limit is %d", MOST_HEADS);
	return problem->heads <= MOST_HEADS && row_threads_fit(problem, MOST_ROW_THREADS, reason, size);
}

static struct attention strided_attention(const struct problem *problem, const struct device_memory *memory)
{
	size_t d = problem->dim;
	return (struct attention){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.O = device_find(memory, "O"),
		.q = {problem->heads * d, d},
		.kv = {problem->kv_heads * d, d},
		.o = {problem->heads * d, d},
		.N = (int)problem->seq,
		.M = (int)problem->keys,
		.H = (int)problem->heads,
		.G = (int)problem->kv_heads,
		.d = (int)d,
		.causal = problem->causal,
		.scale = problem->scale,
		.Br = row_tile_queries(problem),
		.Bc = row_tile_keys(problem),
	};
}

static cudaError_t run_strided(const struct problem *problem, const struct device_memory *memory)
{
	return launch_attention(strided_attention(problem, memory));
}

static struct closed_forms strided_forms(const struct problem *problem)
{
	struct visits of_a_head = visits_of_last(
		problem->seq, problem->keys, row_tile_queries(problem), row_tile_keys(problem), problem->causal);
	uint64_t H = problem->heads, NC = problem->seq * row_width(problem), d = problem->dim;
	uint64_t MCkv = problem->keys * problem->kv_heads * d;
	double pairs = (double)H * (double)of_a_head.pairs;
	return (struct closed_forms){
		.predictions =
			{{PREDICTS_REQUESTED, NC + 2 * H * of_a_head.keys * d, NC, "2NC + 2C Σκ"},
	                 {PREDICTS_FOOTPRINT, NC + 2 * MCkv, NC, "2NC + 2MGd"}},
		.tile_q = (size_t)row_tile_queries(problem),
		.tile_k = (size_t)row_tile_keys(problem),
		.blocks = H * ceil_div(problem->seq, (uint64_t)row_tile_queries(problem)),
		.shared_bytes = attention_shared_bytes((int)d, row_tile_keys(problem)),
		.flop = pairs * (4.0 * (double)d + 4.0),
		.exponentials = pairs,
	};
}

/* Copies into arrays of heads, the same kernel on them, and a copy back. */
static cudaError_t run_permuted(const struct problem *problem, const struct device_memory *memory)
{
	struct attention rows = strided_attention(problem, memory), heads = rows;
	size_t d = problem->dim;
	float *Q = device_find(memory, "Q of heads"), *K = device_find(memory, "K of heads");
	float *V = device_find(memory, "V of heads"), *O = device_find(memory, "O of heads");
	heads.Q = Q;
	heads.K = K;
	heads.V = V;
	heads.O = O;
	heads.q = heads.o = (struct strides){d, (size_t)rows.N * d};
	heads.kv = (struct strides){d, (size_t)rows.M * d};
	cudaError_t status = launch_permute(rows.Q, rows.q, Q, heads.q, rows.N, rows.H, rows.d);
	if (status == cudaSuccess)
		status = launch_permute(rows.K, rows.kv, K, heads.kv, rows.M, rows.G, rows.d);
	if (status == cudaSuccess)
		status = launch_permute(rows.V, rows.kv, V, heads.kv, rows.M, rows.G, rows.d);
	if (status == cudaSuccess)
		status = launch_attention(heads);
	if (status == cudaSuccess)
		status = launch_permute(O, heads.o, rows.O, rows.o, rows.N, rows.H, rows.d);
	return status;
}

static struct closed_forms permuted_forms(const struct problem *problem)
{
	struct closed_forms forms = strided_forms(problem);
	uint64_t NC = problem->seq * row_width(problem), MCkv = problem->keys * problem->kv_heads * problem->dim;
	for (size_t i = 0; i < PREDICTIONS; i++) {
		forms.predictions[i].read_elements += 2 * NC + 2 * MCkv;
		forms.predictions[i].write_elements += 2 * NC + 2 * MCkv;
	}
	forms.predictions[0].formula = "2NC + 2C Σκ + 4(NC + MGd)";
	forms.predictions[1].formula = "2NC + 2MGd + 4(NC + MGd)";
	uint64_t copying = blocks_of(NC > MCkv ? NC : MCkv);
	forms.blocks = forms.blocks > copying ? forms.blocks : copying;
	return forms;
}

/* ---- inputs ---- */

#define ROPE_BASE 100000.0 /* SmolLM2's */

/* Cosines and sines of the queries' tokens; all else as in every chapter. */
static void fill(const struct problem *problem, const char *tensor, float *values)
{
	if (tensor[0] != 'a') { /* not "angles" */
		input_fill_rows(problem, tensor, values);
		return;
	}
	size_t d = problem->dim, past = problem->keys - problem->seq;
	for (size_t i = 0; i < problem->seq; i++)
		for (size_t c = 0; c < d; c++) {
			double angle = (double)(past + i) * pow(ROPE_BASE, -(double)(c / 2 * 2) / (double)d);
			values[i * d + c] = (float)(c % 2 ? sin(angle) : cos(angle));
		}
}

/* A decoded token after more and more others: what is new of every kernel stays the same, keys and values grow. */
static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = 1;
	problem->keys = (size_t)64 << step;
	return problem->keys <= (simulated ? 2048 : 8192);
}

/* ---- what a run shows ---- */

static uint64_t sum_of(struct traffic traffic)
{
	return traffic.read_bytes + traffic.write_bytes;
}

/* The bytes of heads by copying beside those of heads by strides. */
static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	const struct kernel_result *kernels[] = {
		result_counted(result, "permuted"), result_counted(result, "strided")};
	const struct problem *p = &result->problem;
	if (!kernels[0] || !kernels[1] || !kernels[0]->verified || !kernels[1]->verified)
		return;
	struct table table = table_new("lrrrr");
	char texts[3][32];
	terminal_print(terminal, STYLE_BOLD, "\nHeads: the same attention kernel, with copies and without\n\n");
	table_row(&table, STYLE_BOLD, "heads|launches|requested|footprint|on the device");
	for (size_t i = 0; i < 2; i++) {
		const struct counts *counts = &kernels[i]->counts;
		table_row(
			&table, STYLE_PLAIN, "%s|%zu|%s|%s|%s", kernels[i]->kernel->name, counts->launch_count,
			format_bytes((double)sum_of(counts->total.requested), texts[0]),
			format_bytes((double)sum_of(counts->total.footprint), texts[1]),
			format_bytes((double)kernels[i]->peak_bytes, texts[2]));
	}
	table_print(&table, terminal);
	uint64_t copies = sum_of(kernels[0]->counts.total.requested) - sum_of(kernels[1]->counts.total.requested);
	fprintf(terminal->out, "\nThe copies are 4(NC + MGd) = %s elements.",
	        format_count(copies / sizeof(float), texts[0]));
	if (p->kv_heads < p->heads)
		fprintf(terminal->out,
		        " %zu heads share %zu of keys and\nvalues: a cache of %zu heads would be %.3g times as "
		        "large.",
		        p->heads, p->kv_heads, p->heads, (double)p->heads / (double)p->kv_heads);
	fprintf(terminal->out, "\n");
}

static const struct suggestion next[] = {
	{"let it speak: ./transformer --prompt \"How do plants make food?\"", NULL},
};

/* ---- the chapter ---- */

static const struct kernel kernels[] = {
	{
		.name = "rms_norm",
		.summary = "rows divided by the root of their mean square",
		.tensors = norm_tensors,
		.launch = run_rms_norm,
		.forms = norm_forms,
	},
	{
		.name = "rope",
		.summary = "pairs of columns turned by the token's angles",
		.tensors = rope_tensors,
		.launch = run_rope,
		.forms = rope_forms,
	},
	{
		.name = "project",
		.summary = "a matrix times each token, with what the token was added",
		.tensors = project_tensors,
		.launch = run_project,
		.forms = project_forms,
	},
	{
		.name = "swiglu",
		.summary = "silu(gate) times up",
		.tensors = swiglu_tensors,
		.launch = run_swiglu,
		.forms = swiglu_forms,
	},
	{
		.name = "permuted",
		.summary = "attention on copies: heads as arrays of their own",
		.tensors = permuted_tensors,
		.launch = run_permuted,
		.forms = permuted_forms,
		.runs = attention_runs,
	},
	{
		.name = "strided",
		.summary = "attention where the heads lie: no copies",
		.tensors = strided_tensors,
		.launch = run_strided,
		.forms = strided_forms,
		.runs = attention_runs,
	},
};

static const struct chapter chapter = {
	.name = "07_transformer",
	.program = "transformer",
	.title = "A transformer's block: attention is a line, heads are strides.",
	.next = next,
	.small = "--seq 3 --heads 2 --kv-heads 1 --dim 2 --tile-q 2 --tile-k 2 --input ramp",
	.options = OPTION_BIT(OPTION_HEADS) | OPTION_BIT(OPTION_KV_HEADS) | OPTION_BIT(OPTION_SEQ) |
                   OPTION_BIT(OPTION_KEYS) | OPTION_BIT(OPTION_DIM) | OPTION_BIT(OPTION_CAUSAL) |
                   OPTION_BIT(OPTION_SCALE) | OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K) | OPTIONS_PROMPT |
                   OPTIONS_COMMON,
	.defaults = {.heads = 9, .kv_heads = 3, .batch = 1, .seq = 64, .dim = 64, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = fill,
	.expect = transformer_expect,
	.sweep = sweep,
	.generate = transformer_generate,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
