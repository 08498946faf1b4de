/* Chapter 09: what the harness has to know about attention whose scores are modified. */
#include "variants.h"

#include "harness.h"
#include "problem/modifiers.h"

#include <string.h>

/* ---- launching ---- */

/* Tiles are square: one of --tile-q and --tile-k is enough. By default they fit the 99 KB of an RTX 4090. */
static uint64_t tile_of(const struct problem *problem)
{
	if (problem->tile_q || problem->tile_k)
		return problem->tile_q ? problem->tile_q : problem->tile_k;
	return problem->dim <= 64 ? 64 : 32;
}

static struct attention attention_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct attention){
		.Q = device_find(memory, "Q"),
		.K = device_find(memory, "K"),
		.V = device_find(memory, "V"),
		.dO = device_find(memory, "dO"),
		.O = device_find(memory, "O"),
		.LSE = device_find(memory, "LSE"),
		.delta = device_find(memory, "D"),
		.dQ = device_find(memory, "dQ"),
		.dK = device_find(memory, "dK"),
		.dV = device_find(memory, "dV"),
		.dsink = device_find(memory, "dsink"),
		.d = (int)problem->dim,
		.tile = (int)tile_of(problem),
		.scale = problem->scale,
	};
}

static struct scores scores_of(const struct problem *problem, const struct device_memory *memory)
{
	return (struct scores){
		.window = (int)problem->window,
		.softcap = problem->softcap,
		.alibi = problem->alibi,
		.causal = problem->causal,
		.sink = device_find(memory, "sink"),
		.N = (int)problem->seq,
		.H = (int)problem->heads,
		.G = (int)problem->kv_heads,
		.starts = (const int *)device_find(memory, "starts"),
		.sequences = (int)problem->sequences,
		.longest = (int)packing_longest(&problem->packing, problem->seq),
		.dropped = dropout_threshold(problem->dropout),
		.kept = 1.0f / (1.0f - problem->dropout),
		.seed = problem->seed,
	};
}

static cudaError_t forward(const struct problem *problem, const struct device_memory *memory)
{
	return launch_forward(attention_of(problem, memory), scores_of(problem, memory));
}

/* What the two passes of the backward take as given: O and LSE, and D. */
static cudaError_t prepare_backward(const struct problem *problem, const struct device_memory *memory)
{
	cudaError_t status = forward(problem, memory);
	return status == cudaSuccess ? launch_delta(attention_of(problem, memory), scores_of(problem, memory))
	                             : status;
}

static cudaError_t dkdv(const struct problem *problem, const struct device_memory *memory)
{
	return launch_dkdv(attention_of(problem, memory), scores_of(problem, memory));
}

static cudaError_t dq(const struct problem *problem, const struct device_memory *memory)
{
	return launch_dq(attention_of(problem, memory), scores_of(problem, memory));
}

static cudaError_t decode(const struct problem *problem, const struct device_memory *memory)
{
	struct partials partials = {
		.O = device_find(memory, "O of splits"),
		.m = device_find(memory, "m of splits"),
		.l = device_find(memory, "l of splits"),
		.S = (int)problem->splits,
	};
	return launch_decode(attention_of(problem, memory), scores_of(problem, memory), partials);
}

/* ---- what a loop over tiles visits ---- */

/* Of a head, sums over its tiles of own rows: `keys` are the rows of the other kind that stream past. Own rows are queries,
 * which stream the keys that they see; or keys, which stream the queries that see them. Other tiles are skipped. */
static struct visits visits_of(const struct problem *problem, bool own_keys)
{
	struct visible (*visible)(size_t, bool, size_t, size_t) = own_keys ? queries_of_key : keys_of_query;
	struct visits visits = {0, 0, 0};
	size_t tile = tile_of(problem), W = problem->window;
	for (size_t s = 0; s < sequence_count(&problem->packing); s++) {
		size_t N = sequence_at(&problem->packing, problem->seq, s).length;
		for (size_t first = 0; first < N; first += tile) {
			size_t end = smaller(first + tile, N);
			/* What a row sees moves on with the row: the first row sees the first of all, the last one the last. */
			size_t begin = visible(W, problem->causal, N, first).first / tile * tile;
			size_t last = visible(W, problem->causal, N, end - 1).end;
			size_t streamed = smaller(N, ceil_div(last, tile) * tile) - begin;
			visits.keys += streamed;
			visits.pairs += (end - first) * streamed;
		}
	}
	return visits;
}

/* Of a head: what its queries see, without the rest of the tiles. */
static double pairs_seen(const struct problem *problem)
{
	double pairs = 0.0;
	for (size_t s = 0; s < sequence_count(&problem->packing); s++) {
		size_t N = sequence_at(&problem->packing, problem->seq, s).length;
		for (size_t i = 0; i < N; i++) {
			struct visible keys = keys_of_query(problem->window, problem->causal, N, i);
			pairs += (double)(keys.end - keys.first);
		}
	}
	return pairs;
}

/* Blocks of a launch, for each head: of packed sequences, the shorter ones have blocks without work. */
static uint64_t blocks_of_head(const struct problem *problem)
{
	uint64_t longest = packing_longest(&problem->packing, problem->seq);
	return sequence_count(&problem->packing) * ceil_div(longest, tile_of(problem));
}

/* If sequences are packed, every thread asks for the start of its own and for the next one. */
static struct closed_forms tiles_forms(const struct problem *problem, uint64_t heads)
{
	uint64_t tile = tile_of(problem), blocks = heads * blocks_of_head(problem);
	return (struct closed_forms){
		.tile_q = tile,
		.tile_k = tile,
		.blocks = blocks,
		.statistics = problem->packing.count ? 2 * 2 * tile * blocks : 0,
		.shared_bytes = tiles_shared_bytes((int)problem->dim, (int)tile),
	};
}

static bool tiles_run(const struct problem *problem, char *reason, size_t size)
{
	size_t tile = tile_of(problem), tile_k = problem->tile_k ? problem->tile_k : tile;
	bool fits = (tile == 32 || tile == 64) && tile_k == tile;
	if (!fits)
		snprintf(
			reason, size, "tiles of %zu queries x %zu keys: its register tiles take 32 x 32 or 64 x 64",
			tile, tile_k);
	return fits;
}

/* ---- the kernels, each with its tensors and closed forms ---- */

#define INPUTS                                                                                                       \
	{"Q", "BHNd", TENSOR_INPUT, false}, {"K", "BGNd", TENSOR_INPUT, false}, {"V", "BGNd", TENSOR_INPUT, false},  \
		{"sink", "H", TENSOR_INPUT, true},                                                                   \
	{                                                                                                            \
		"starts", "Z", TENSOR_STARTS, true                                                                   \
	}
#define PREPARED                                                                                                     \
	INPUTS, {"dO", "BHNd", TENSOR_GRADIENT, false}, {"O", "BHNd", TENSOR_PREPARED, false},                       \
		{"LSE", "BHN", TENSOR_OUTPUT, true},                                                                 \
	{                                                                                                            \
		"D", "BHN", TENSOR_SCRATCH, true                                                                     \
	}

static const struct tensor forward_tensors[] = {
	INPUTS, {"O", "BHNd", TENSOR_OUTPUT, false}, {"LSE", "BHN", TENSOR_OUTPUT, true}, {0}};
static const struct tensor dkdv_tensors[] = {
	PREPARED, {"dK", "BGNd", TENSOR_OUTPUT, false}, {"dV", "BGNd", TENSOR_OUTPUT, false}, {0}};
static const struct tensor dq_tensors[] = {
	PREPARED, {"dQ", "BHNd", TENSOR_OUTPUT, false}, {"dsink", "H", TENSOR_OUTPUT, true}, {0}};
static const struct tensor decode_tensors[] = {
	INPUTS,
	{"O of splits", "SzHd", TENSOR_SCRATCH, false},
	{"m of splits", "SzH", TENSOR_SCRATCH, false},
	{"l of splits", "SzH", TENSOR_SCRATCH, false},
	{"O", "zHd", TENSOR_OUTPUT, false},
	{0}};

/* Reads Q once, and K and V for every tile of queries; writes O. */
static struct closed_forms forward_forms(const struct problem *problem)
{
	uint64_t heads = attention_heads(problem), kv_heads = attention_kv_heads(problem);
	uint64_t d = problem->dim, Nd = problem->seq * d, tile = tile_of(problem);
	struct visits keys = visits_of(problem, false);
	struct closed_forms forms = tiles_forms(problem, heads);
	forms.predictions[0] =
		(struct prediction){PREDICTS_REQUESTED, heads * (Nd + 2 * d * keys.keys), heads * Nd, "2Nd + 2d·Σκᵢ"};
	forms.predictions[1] =
		(struct prediction){PREDICTS_FOOTPRINT, (heads + 2 * kv_heads) * Nd, heads * Nd, "(2 + 2G/H)Nd"};
	forms.statistics += heads * problem->seq;
	if (problem->sink) /* each thread of a block that has rows */
		forms.statistics += heads * packing_tiles(&problem->packing, problem->seq, tile) * 2 * tile;
	forms.exponentials = (double)heads * (double)keys.pairs;
	forms.flop = 4.0 * forms.exponentials * (double)d;
	return forms;
}

/* Reads K and V once, and for every tile of keys Q, dO, LSE and D of the queries that see it; writes dK and dV. */
static struct closed_forms dkdv_forms(const struct problem *problem)
{
	uint64_t heads = attention_heads(problem), kv_heads = attention_kv_heads(problem);
	uint64_t d = problem->dim, Nd = problem->seq * d;
	struct visits queries = visits_of(problem, true);
	struct closed_forms forms = tiles_forms(problem, kv_heads);
	forms.predictions[0] = (struct prediction){
		PREDICTS_REQUESTED, 2 * kv_heads * Nd + heads * 2 * d * queries.keys, 2 * kv_heads * Nd,
		"4(G/H)Nd + 2d·ΣRⱼ"};
	forms.predictions[1] = (struct prediction){
		PREDICTS_FOOTPRINT, 2 * (heads + kv_heads) * Nd, 2 * kv_heads * Nd, "(2 + 4G/H)Nd"};
	forms.statistics += heads * 2 * queries.keys;
	forms.flop = 8.0 * (double)heads * (double)queries.pairs * (double)d;
	forms.exponentials = (double)heads * pairs_seen(problem);
	forms.unread = problem->sink ? problem->heads : 0; /* LSE holds the sinks */
	return forms;
}

/* Reads Q, dO, LSE and D once, and K and V for every tile of queries; writes dQ. With sinks a warp for each head reads LSE
 * and D once more, and each of its threads the sink; it writes dsink. */
static struct closed_forms dq_forms(const struct problem *problem)
{
	enum { SINK_READS = 32 };
	uint64_t heads = attention_heads(problem), kv_heads = attention_kv_heads(problem), N = problem->seq;
	uint64_t d = problem->dim, Nd = N * d;
	struct visits keys = visits_of(problem, false);
	struct closed_forms forms = tiles_forms(problem, heads);
	forms.predictions[0] = (struct prediction){
		PREDICTS_REQUESTED, heads * (2 * Nd + 2 * d * keys.keys), heads * Nd, "3Nd + 2d·Σκᵢ"};
	forms.predictions[1] =
		(struct prediction){PREDICTS_FOOTPRINT, 2 * (heads + kv_heads) * Nd, heads * Nd, "(3 + 2G/H)Nd"};
	forms.statistics += heads * 2 * N;
	if (problem->sink)
		forms.statistics += heads * 2 * N + problem->heads * (SINK_READS + 1);
	forms.flop = 6.0 * (double)heads * (double)keys.pairs * (double)d;
	forms.exponentials = (double)heads * pairs_seen(problem);
	return forms;
}

/* Of all sequences together, the keys that the last query of each sees; with S, at most so many counted of each: the splits
 * that have a key. */
static uint64_t keys_seen(const struct problem *problem, size_t most)
{
	size_t seen = 0;
	for (size_t s = 0; s < sequence_count(&problem->packing); s++) {
		size_t length = sequence_at(&problem->packing, problem->seq, s).length;
		seen += smaller(problem->window ? smaller(problem->window, length) : length, most);
	}
	return problem->batch * seen;
}

/* Reads the last W keys and values once for each head of them, and Q for each split; partials are written, and read by the
 * merge, which writes O. ΣW is the sum over the sequences. */
static struct closed_forms decode_forms(const struct problem *problem)
{
	enum { LANES = 32 }; /* of a head's warp: each asks for the starts, and in one split for the sink */
	uint64_t z = problem->sequences, H = problem->heads, G = problem->kv_heads, S = problem->splits;
	uint64_t d = problem->dim, all = attention_rows(problem), KV = 2 * keys_seen(problem, SIZE_MAX) * G * d;
	uint64_t partials = S * z * H * (d + 2), rows = z * H * d, blocks = z * G * S;
	bool packed = problem->packing.count, narrow = keys_seen(problem, SIZE_MAX) * H < all;
	double pairs = (double)H * (double)keys_seen(problem, SIZE_MAX);
	return (struct closed_forms){
		.predictions =
			{{PREDICTS_REQUESTED, KV + S * rows + partials, partials + rows,
	                  packed && narrow ? "2(G/H)dΣW + z((S+1)d + 2S(d+2))"
	                  : packed         ? "2(G/H)Nd + z((S+1)d + 2S(d+2))"
	                  : narrow         ? "2(G/H)Wd + (S+1)d + 2S(d+2)"
	                                   : "2(G/H)Nd + (S+1)d + 2S(d+2)"},
	                 {PREDICTS_FOOTPRINT, KV + rows + partials, partials + rows,
	                  packed && narrow ? "2(G/H)dΣW + z(2S(d+2) + 2d)"
	                  : packed         ? "2(G/H)Nd + z(2S(d+2) + 2d)"
	                  : narrow         ? "2(G/H)Wd + 2S(d+2) + 2d"
	                                   : "2(G/H)Nd + 2S(d+2) + 2d"}},
		.statistics = (problem->sink ? LANES * z * H : 0) + (packed ? 2 * LANES * z * H * S : 0),
		.blocks = blocks > z * H ? blocks : z * H, /* of the larger launch: the merge has z H */
		.shared_bytes = decode_shared_bytes((int)d, (int)(H / G)),
		.flop = pairs * (4.0 * (double)d + 4.0), /* that of the merge is left out, so a floor stays a bound */
		.exponentials = pairs,
		.unread = (all * d - rows) + (2 * attention_kv_heads(problem) * problem->seq * d - KV),
	};
}

static bool decode_runs(const struct problem *problem, char *reason, size_t size)
{
	size_t group = problem->heads / problem->kv_heads;
	if (problem->dropout > 0.0f)
		snprintf(reason, size, "dropout is for training: nothing is dropped when a token is decoded");
	else if (group > MOST_GROUP)
		snprintf(
			reason, size, "%zu heads share one of keys, and each is a warp of a block: the limit is %d",
			group, MOST_GROUP);
	else if (problem->sequences > MOST_SEQUENCES_OF_GRID)
		snprintf(reason, size, "sequences are the grid's z, the limit is %d", MOST_SEQUENCES_OF_GRID);
	else
		return true;
	return false;
}

static const struct kernel kernels[] = {
	{
		.name = "forward",
		.summary = "O and LSE; scores modified, then masked",
		.tensors = forward_tensors,
		.launch = forward,
		.forms = forward_forms,
		.runs = tiles_run,
	},
	{
		.name = "dkdv",
		.summary = "dK and dV, from the O and LSE of forward",
		.tensors = dkdv_tensors,
		.prepare = prepare_backward,
		.launch = dkdv,
		.forms = dkdv_forms,
		.runs = tiles_run,
	},
	{
		.name = "dq",
		.summary = "dQ, and the gradient of the sinks",
		.tensors = dq_tensors,
		.prepare = prepare_backward,
		.launch = dq,
		.forms = dq_forms,
		.runs = tiles_run,
	},
	{
		.name = "decode",
		.summary = "the last query of each sequence; its keys are split",
		.tensors = decode_tensors,
		.launch = decode,
		.forms = decode_forms,
		.runs = decode_runs,
	},
};

/* What the kernels that are run have to be compared with. */
static int expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error)
{
	bool gradients = find_values(inputs, "dO") != NULL;
	int status =
		(gradients ? attention_gradients_expect : attention_expect)(problem, inputs, expectations, error);
	return status == 0 ? attention_last_expect(problem, inputs, expectations, error) : status;
}

/* N: 64 to 512, on a GPU to 16,384; with --causal and --window the picture of the page. */
static bool sweep(size_t step, bool simulated, struct problem *problem)
{
	problem->seq = (size_t)64 << step;
	return problem->seq <= (simulated ? 512 : 16384);
}

/* ---- what is told of a run ---- */

/* The same tokens as one sequence of which a query sees all, but for the causal mask. Decode has a token of each sequence. */
static struct closed_forms forms_of_all(const struct kernel_result *kernel)
{
	struct problem all = *kernel->problem;
	all.window = 0;
	if (kernel->kernel->launch != decode)
		all.packing = (struct packing){0};
	problem_fill_defaults(&all);
	return kernel->kernel->forms(&all);
}

static double requested(struct closed_forms forms)
{
	return 4.0 * (double)(forms.predictions[0].read_elements + forms.predictions[0].write_elements);
}

static double bytes_requested(const struct kernel_result *kernel)
{
	return requested(kernel->forms);
}

static double bytes_of_all(const struct kernel_result *kernel)
{
	return requested(forms_of_all(kernel));
}

static double flop_of_all(const struct kernel_result *kernel)
{
	return forms_of_all(kernel).flop;
}

static double flop(const struct kernel_result *kernel)
{
	return kernel->forms.flop;
}

static void print_finding(FILE *out, const struct run_result *result)
{
	const struct problem *p = &result->problem;
	const struct kernel_result *forward = result_counted(result, "forward"),
				   *decode = result_counted(result, "decode");
	char seen[32], computed[32], all[32];
	double N = (double)p->seq, heads = (double)attention_heads(p);
	if (forward)
		fprintf(out,
		        "\nOf %s pairs of a query and a key per head, %s are seen;\nforward computes %s, in whole "
		        "tiles of %zu x %zu.\n",
		        format_count((uint64_t)(N * N), all), format_count((uint64_t)pairs_seen(p), seen),
		        format_count((uint64_t)(forward->forms.exponentials / heads), computed),
		        forward->forms.tile_q, forward->forms.tile_k);
	if (!decode || (!result->options->verbose && result->kernel_count > 1))
		return;
	double kv = 8.0 * (double)(keys_seen(p, SIZE_MAX) * p->kv_heads * p->dim);
	uint64_t without = p->sequences * p->splits - keys_seen(p, p->splits);
	fprintf(out, "In decode %zu split%s cost%s %.1f %% more bytes than keys and values alone", p->splits,
	        p->splits == 1 ? "" : "s", p->splits == 1 ? "s" : "", 100.0 * (bytes_requested(decode) - kv) / kv);
	if (without)
		fprintf(out, ";\n%llu split%s no key", (unsigned long long)without, without == 1 ? " has" : "s have");
	fprintf(out, ".\n");
}

static void print_lesson(const struct terminal *terminal, const struct run_result *result)
{
	static const struct column columns[] = {
		{"bytes of\nmatrices", .unit = UNIT_BYTES, .value = bytes_requested},
		{"both\nleft out", .unit = UNIT_BYTES, .value = bytes_of_all},
		{"\nFLOP", .unit = UNIT_COUNT, .value = flop},
		{"both\nleft out", .unit = UNIT_COUNT, .value = flop_of_all},
		{"\nblocks", .metric = METRIC_BLOCKS},
	};
	columns_print(
		terminal, result, "What window and packing leave of the work", true, "\nkernel", columns,
		sizeof columns / sizeof columns[0]);
	print_finding(terminal->out, result);
}

static const struct suggestion next[] = {
	{"predict what a window leaves of it, then", "--causal --window 64"},
	{"predict the pairs, then", "--causal --window 64 --tile-q 32"},
	{"predict which counts change, then", "--softcap 50 --alibi --sink"},
	{"predict what four texts leave of it, then", "--lengths 256,128,64,64"},
	{"predict the footprints, then", "--heads 4 --kv-heads 2 --verbose"},
	{"the exercises in README.md, make answer N=1", NULL},
};

static const struct chapter chapter = {
	.name = "09_variants",
	.program = "variants",
	.title = "What models do to scores: windows, caps, biases, sinks, packing.",
	.next = next,
	.small = "--seq 4 --dim 2 --splits 2 --input ramp",
	.options = OPTIONS_ATTENTION | OPTION_BIT(OPTION_KV_HEADS) | OPTIONS_MODIFIERS | OPTION_BIT(OPTION_TILE_Q) |
                   OPTION_BIT(OPTION_TILE_K) | OPTION_BIT(OPTION_SPLITS) | OPTIONS_COMMON,
	.defaults = {.batch = 1, .heads = 2, .seq = 256, .dim = 64, .splits = 4, .seed = 1, .rules = &variants_rules},
	.kernels = kernels,
	.kernel_count = sizeof kernels / sizeof kernels[0],
	.fill = input_fill_attention,
	.expect = expect,
	.sweep = sweep,
	.print_lesson = print_lesson,
};

int main(int argc, char **argv)
{
	return chapter_main(&chapter, argc, argv);
}
