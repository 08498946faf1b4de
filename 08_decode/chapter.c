/* Chapter 08: what the harness has to know about the kernels that decode. N tokens are kept; the letters are README.md's. */
#include "decode.h"

#include "harness.h"
#include "problem/row_inputs.h"
#include "support/random.h"
#include "verify/grouped_attention.h"

#include <stdlib.h>
#include <string.h>

/* ---- what the kernels share: Q and O of one token, K and V of all; a row of K is a token ---- */

static struct decode decode_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct decode){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.O = device_find(memory, "O"),
		.row = problem->kv_heads * problem->dim,
		.head = problem->dim,
		.n = (int)problem->seq,
		.H = (int)problem->heads,
		.G = (int)problem->kv_heads,
		.d = (int)problem->dim,
		.scale = problem->scale,
	};
}

static struct partials partials_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct partials){
		.O = device_find(memory, "O of splits"),
		.m = device_find(memory, "m of splits"),
		.l = device_find(memory, "l of splits"),
		.S = (int)problem->splits,
	};
}

static cudaError_t merge(cudaError_t status, struct decode decode, struct partials partials)
{
	return status == cudaSuccess ? launch_merge(partials, decode.O, decode.H, decode.d) : status;
}

static bool group_fits(const struct problem *problem, char *reason, size_t size)
{
	size_t group = problem->heads / problem->kv_heads;
	if (group > MOST_GROUP)
		snprintf(
			reason, size, "%zu heads share one of keys, and each is a warp of a block: the limit is %d",
			group, MOST_GROUP);
	return group <= MOST_GROUP;
}

/* The arithmetic of the merge is in no closed form, so a floor stays a bound. */
struct sizes {
	uint64_t H, G, d, S, KV; /* KV: numbers of K and of V together */
};

static struct sizes sizes_of(const struct problem *problem)
{
	uint64_t G = problem->kv_heads, d = problem->dim;
	return (struct sizes){problem->heads, G, d, problem->splits, 2 * problem->seq * G * d};
}

/* ---- decode_naive and decode_grouped ---- */

static const struct tensor whole_tensors[] = {
	{"Q", "Hd", TENSOR_INPUT, false},
	{"K", "NGd", TENSOR_INPUT, false},
	{"V", "NGd", TENSOR_INPUT, false},
	{"O", "Hd", TENSOR_OUTPUT, false},
	{0},
};

static cudaError_t run_naive(const struct problem *problem, const struct device_memory *memory)
{
	return launch_decode_naive(decode_of(problem, memory));
}

/* A warp for each head reads the keys of its head. */
struct closed_forms naive_forms(const struct problem *problem)
{
	struct sizes s = sizes_of(problem);
	uint64_t Hd = s.H * s.d;
	double pairs = (double)problem->heads * (double)problem->seq;
	return (struct closed_forms){
		.predictions =
			{{PREDICTS_REQUESTED, 2 * problem->seq * Hd + Hd, Hd, "2NHd + 2Hd"},
	                 {PREDICTS_FOOTPRINT, s.KV + Hd, Hd, "2NGd + 2Hd"}},
		.blocks = s.H,
		.shared_bytes = decode_shared_bytes((int)s.d, 1),
		.flop = pairs * (4.0 * (double)s.d + 4.0),
		.exponentials = pairs,
	};
}

static cudaError_t run_grouped(const struct problem *problem, const struct device_memory *memory)
{
	return launch_decode_grouped(decode_of(problem, memory));
}

struct closed_forms grouped_forms(const struct problem *problem)
{
	struct sizes s = sizes_of(problem);
	struct closed_forms forms = naive_forms(problem);
	forms.predictions[0] = (struct prediction){PREDICTS_REQUESTED, s.KV + s.H * s.d, s.H * s.d, "2NGd + 2Hd"};
	forms.blocks = s.G;
	forms.shared_bytes = decode_shared_bytes((int)s.d, (int)(s.H / s.G));
	return forms;
}

/* ---- decode_split ---- */

static const struct tensor split_tensors[] = {
	{"Q", "Hd", TENSOR_INPUT, false},
	{"K", "NGd", TENSOR_INPUT, false},
	{"V", "NGd", TENSOR_INPUT, false},
	{"O of splits", "SHd", TENSOR_SCRATCH, false},
	{"m of splits", "SH", TENSOR_SCRATCH, false},
	{"l of splits", "SH", TENSOR_SCRATCH, false},
	{"O", "Hd", TENSOR_OUTPUT, false},
	{0},
};

static cudaError_t run_split(const struct problem *problem, const struct device_memory *memory)
{
	struct decode decode = decode_of(problem, memory);
	struct partials partials = partials_of(problem, memory);
	return merge(launch_decode_split(decode, partials), decode, partials);
}

/* Q for each split; O, m and l of each written, and read by the merge. */
struct closed_forms split_forms(const struct problem *problem)
{
	struct sizes s = sizes_of(problem);
	struct closed_forms forms = grouped_forms(problem);
	uint64_t Hd = s.H * s.d, partials = s.S * s.H * (s.d + 2);
	forms.predictions[0] = (struct prediction){
		PREDICTS_REQUESTED, s.KV + s.S * Hd + partials, partials + Hd, "2NGd + (S+1)Hd + 2SH(d+2)"};
	forms.predictions[1] = (struct prediction){
		PREDICTS_FOOTPRINT, s.KV + Hd + partials, partials + Hd, "2NGd + 2SH(d + 2) + 2Hd"};
	uint64_t blocks = s.G * s.S;
	forms.blocks = blocks > s.H ? blocks : s.H; /* of the larger launch: the merge has H */
	return forms;
}

/* ---- decode_paged ---- */

/* The table's entries are whole numbers of 4 bytes. */
static const struct tensor paged_tensors[] = {
	{"Q", "Hd", TENSOR_INPUT, false},
	{"K", "NGd", TENSOR_INPUT, false},
	{"V", "NGd", TENSOR_INPUT, false},
	{"table", "T", TENSOR_FILLED, false},
	{"K pages", "TpGd", TENSOR_FILLED, false},
	{"V pages", "TpGd", TENSOR_FILLED, false},
	{"O of splits", "SHd", TENSOR_SCRATCH, false},
	{"m of splits", "SH", TENSOR_SCRATCH, false},
	{"l of splits", "SH", TENSOR_SCRATCH, false},
	{"O", "Hd", TENSOR_OUTPUT, false},
	{0},
};

static struct pages pages_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct pages){(const int *)device_find(memory, "table"), (int)problem->page};
}

void shuffle_pages(uint64_t seed, int *pages, size_t count)
{
	for (size_t i = 0; i < count; i++)
		pages[i] = (int)i;
	for (size_t i = count; i > 1; i--) {
		size_t other = random_word(stream_start(seed, "pages"), i) % i;
		int page = pages[i - 1];
		pages[i - 1] = pages[other];
		pages[other] = page;
	}
}

/* Pages in an order drawn with the seed, and K and V in them. */
static cudaError_t fill_pages(const struct problem *problem, const struct device_memory *memory)
{
	size_t bytes = problem->pages * sizeof(int);
	int *order = malloc(bytes);
	if (!order)
		return cudaErrorMemoryAllocation;
	shuffle_pages(problem->seed, order, problem->pages);
	cudaError_t status = cudaMemcpy(device_find(memory, "table"), order, bytes, cudaMemcpyHostToDevice);
	free(order);
	if (status != cudaSuccess)
		return status;
	return launch_append((struct append){
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.K_pages = device_find(memory, "K pages"),
		.V_pages = device_find(memory, "V pages"),
		.pages = pages_of(problem, memory),
		.rows = (int)problem->seq,
		.width = (int)(problem->kv_heads * problem->dim),
		.first = 0,
	});
}

static cudaError_t run_paged(const struct problem *problem, const struct device_memory *memory)
{
	struct decode decode = decode_of(problem, memory);
	struct partials partials = partials_of(problem, memory);
	decode.K = device_find(memory, "K pages");
	decode.V = device_find(memory, "V pages");
	return merge(launch_decode_paged(decode, partials, pages_of(problem, memory)), decode, partials);
}

/* The entries that are read of the table, of one head of keys: a page that two splits share is counted twice. */
static uint64_t pages_touched(uint64_t n, uint64_t splits, uint64_t page)
{
	uint64_t touched = 0;
	for (uint64_t s = 0; s < splits; s++) {
		uint64_t begin = s * n / splits, end = (s + 1) * n / splits;
		if (begin < end)
			touched += (end - 1) / page - begin / page + 1;
	}
	return touched;
}

struct closed_forms paged_forms(const struct problem *problem)
{
	struct sizes s = sizes_of(problem);
	struct closed_forms forms = split_forms(problem);
	forms.predictions[0].read_elements += s.G * pages_touched(problem->seq, s.S, problem->page);
	forms.predictions[0].formula = "2NGd + (S+1)Hd + 2SH(d+2) + GΣτ";
	forms.predictions[1].read_elements += problem->pages;
	forms.predictions[1].formula = "2NGd + 2SH(d + 2) + 2Hd + T";
	forms.shared_bytes = paged_shared_bytes((int)s.d, (int)(s.H / s.G));
	return forms;
}

/* ---- inputs, and what the output should be ---- */

/* One query, the last of N tokens: as chapter 07 has it, whose inputs and reference these are. */
static struct problem as_last_token(const struct problem *problem)
{
	struct problem last = *problem;
	last.keys = problem->seq;
	last.seq = 1;
	return last;
}

static void fill(const struct problem *problem, const char *tensor, float *values)
{
	struct problem last = as_last_token(problem);
	input_fill_rows(&last, tensor, values);
}

static int expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	struct problem last = as_last_token(problem);
	size_t rows = problem->heads;
	*expectations = (struct expectations){.all_rows = rows, .row_count = rows};
	if (!heads_are_grouped(problem, error))
		return error->exit_code;
	if (grouped_attention_expect(&last, inputs, NULL, rows, expectations))
		return 0;
	expectations_free(expectations);
	return error_set(error, EXIT_ENVIRONMENT, "out of memory for the reference");
}

/* More and more tokens, and for each number of them more and more splits. */
static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	static const size_t splits[] = {1, 4, 16, 44, 88, 176};
	enum { SPLITS = sizeof splits / sizeof splits[0] };
	problem->seq = (size_t)256 << 2 * (step / SPLITS);
	problem->splits = splits[step % SPLITS];
	problem_fill_defaults(problem);
	return problem->seq <= (simulated ? 4096 : 16384);
}

/* ---- what a run shows: what each kernel asks for, how many SMs have work, what splitting costs ---- */

/* Bytes asked of keys and values, or else of the table. */
static uint64_t bytes_of(const struct kernel_result *kernel, bool keys_and_values)
{
	uint64_t bytes = 0;
	for (size_t t = 0; t < kernel->counts.total.tensor_count; t++) {
		const struct tensor_traffic *tensor = &kernel->counts.total.tensors[t];
		if (keys_and_values ? tensor->name[0] == 'K' || tensor->name[0] == 'V' : tensor->name[0] == 't')
			bytes += tensor->requested.read_bytes + tensor->requested.write_bytes;
	}
	return bytes;
}

static uint64_t all_bytes(const struct kernel_result *kernel)
{
	return kernel->counts.total.requested.read_bytes + kernel->counts.total.requested.write_bytes;
}

/* Of the launch that reads the keys, for each head of keys as many as there are splits of them; or only
 * those whose split has a key: the others have nothing to do. */
static uint64_t blocks_of(const struct kernel_result *kernel, const struct problem *problem, bool with_keys)
{
	const char *name = kernel->kernel->name;
	if (strcmp(name, "decode_naive") == 0 || strcmp(name, "decode_grouped") == 0)
		return kernel->forms.blocks;
	return problem->kv_heads * (with_keys ? smaller(problem->seq, problem->splits) : problem->splits);
}

static void print_row(
	struct table *table, const struct kernel_result *kernel, const struct problem *problem, const struct gpu *gpu)
{
	uint64_t kv = bytes_of(kernel, true), words = bytes_of(kernel, false), all = all_bytes(kernel);
	char texts[4][32], count[32] = "", busy[32] = "-";
	if (words)
		format_count(words / sizeof(int), count);
	if (gpu)
		format_count(smaller(blocks_of(kernel, problem, true), (uint64_t)gpu->sms), busy);
	table_row(
		table, STYLE_PLAIN, "%s|%s|%s|%s|%s|%s|%s", kernel->kernel->name,
		format_count(blocks_of(kernel, problem, false), texts[0]), busy, format_bytes((double)kv, texts[1]),
		format_bytes((double)(all - kv - words), texts[2]), count, format_bytes((double)all, texts[3]));
}

static const char *plural(size_t count)
{
	return count == 1 ? "" : "s";
}

static void print_blocks(FILE *out, const struct kernel_result *split, const struct problem *p, uint64_t sms)
{
	size_t without = p->splits - smaller(p->seq, p->splits);
	fprintf(out, "\n%zu head%s of keys x %zu make %llu blocks: %llu of %llu SMs have work.", p->kv_heads,
	        plural(p->kv_heads), p->splits, (unsigned long long)blocks_of(split, p, false),
	        (unsigned long long)smaller(blocks_of(split, p, true), sms), (unsigned long long)sms);
	if (without)
		fprintf(out, "\n%zu split%s no key.", without, without == 1 ? " has" : "s have");
}

static void print_finding(
	const struct terminal *terminal, const struct run_result *result, const struct kernel_result *split)
{
	const struct problem *p = &result->problem;
	double kv = (double)bytes_of(split, true), all = (double)all_bytes(split);
	terminal_print(
		terminal, STYLE_BOLD, "\n%zu split%s cost%s %.1f %% more bytes than keys and values alone", p->splits,
		plural(p->splits), p->splits == 1 ? "s" : "", 100.0 * (all - kv) / kv);
	fprintf(terminal->out, ": Q once for each,\nO, m and l written and read by the merge, then O.");
	if (result->device->gpu && (result->options->verbose || result->kernel_count == 1))
		print_blocks(terminal->out, split, p, (uint64_t)result->device->gpu->sms);
	fputc('\n', terminal->out);
}

static void print_pages(FILE *out, const struct problem *p)
{
	uint64_t touched = pages_touched(p->seq, p->splits, p->page);
	fprintf(out, "The table has %zu page%s of %zu token%s; a head of keys reads %llu of its words%s\n", p->pages,
	        plural(p->pages), p->page, plural(p->page), (unsigned long long)touched,
	        touched > p->pages ? ":\ntwo splits that share a page both look it up." : ".");
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	struct table table = table_new("lrrrrrr");
	size_t rows = 0;
	table_row(&table, STYLE_BOLD, "kernel|blocks|SMs with|keys,|Q, O and|table|requested");
	table_row(&table, STYLE_BOLD, "||work|values|partials|words|");
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		if (!kernel->verified || !kernel->counts.counted)
			continue;
		print_row(&table, kernel, &result->problem, result->device->gpu);
		rows++;
	}
	if (!rows)
		return;
	size_t others = result->problem.seq - 1;
	terminal_print(terminal, STYLE_BOLD, "\nOne token after %zu other%s", others, plural(others));
	fprintf(terminal->out, ": bytes asked of global memory\n");
	table_print(&table, terminal);
	const struct kernel_result *split = result_counted(result, "decode_split");
	if (split && split->verified)
		print_finding(terminal, result, split);
	const struct kernel_result *paged = result_counted(result, "decode_paged");
	if (paged && paged->verified && (result->options->verbose || result->kernel_count == 1))
		print_pages(terminal->out, &result->problem);
}

static const struct suggestion next[] = {
	{"predict what 176 splits cost, then", "--splits 176"},
	{"predict the table words of pages of one token, then", "--page 1"},
	{"how many SMs have work, from 1 split to 176: ./decode --sweep", NULL},
};

/* ---- the chapter ---- */

static const struct kernel kernels[] = {
	{
		.name = "decode_naive",
		.summary = "one block per head of queries, the whole cache in one loop",
		.tensors = whole_tensors,
		.launch = run_naive,
		.forms = naive_forms,
	},
	{
		.name = "decode_grouped",
		.summary = "heads that share keys share a block: K and V once",
		.tensors = whole_tensors,
		.launch = run_grouped,
		.forms = grouped_forms,
		.runs = group_fits,
	},
	{
		.name = "decode_split",
		.summary = "the keys are split over blocks; a second kernel merges",
		.tensors = split_tensors,
		.launch = run_split,
		.forms = split_forms,
		.runs = group_fits,
	},
	{
		.name = "decode_paged",
		.summary = "the same on pages that lie anywhere, each looked up in a table",
		.tensors = paged_tensors,
		.prepare = fill_pages,
		.launch = run_paged,
		.forms = paged_forms,
		.runs = group_fits,
	},
};

static const struct chapter chapter = {
	.name = "08_decode",
	.program = "decode",
	.title = "One query, a long memory: split the keys.",
	.next = next,
	.small = "--seq 3 --heads 2 --kv-heads 1 --dim 2 --splits 2 --page 2 --input ramp",
	.options = OPTION_BIT(OPTION_HEADS) | OPTION_BIT(OPTION_KV_HEADS) | OPTION_BIT(OPTION_SEQ) |
                   OPTION_BIT(OPTION_DIM) | OPTION_BIT(OPTION_SPLITS) | OPTION_BIT(OPTION_PAGE) |
                   OPTION_BIT(OPTION_SCALE) | (OPTIONS_PROMPT & ~OPTION_BIT(OPTION_COUNT_ALL)) | OPTIONS_COMMON,
	.defaults =
		{.heads = 9, .kv_heads = 3, .batch = 1, .seq = 1024, .dim = 64, .splits = 44, .page = 16, .seed = 1},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = fill,
	.expect = expect,
	.sweep = sweep,
	.generate = decode_generate,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
