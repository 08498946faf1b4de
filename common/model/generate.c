#include "model/generate.h"

#include "model/sampler.h"
#include "run/estimate.h"
#include "support/clock.h"
#include "support/number.h"
#include "support/output_file.h"
#include "support/progress.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* The largest difference a logit may have from the pass in double precision: ten times what three prompts of 80 tokens of
 * SmolLM2-135M showed (1.03e-4). A bound of the roundings of 30 layers would be too large to be useful. */
#define LOGIT_TOLERANCE 1e-3

/* Tokens of an answer without --tokens; rows of a call, which a prompt is cut into. */
enum { DEFAULT_TOKENS = 80, DEFAULT_TOKENS_COUNTED = 4, MOST_ROWS = 128 };

struct session {
	const struct generator *generator;
	struct generation *generation;
	struct sampler *sampler;
	struct pass pass;
	struct progress progress;
	FILE *out; /* where the answer goes as it comes; NULL: nowhere */
};

/* ---- the conversation ---- */

static int no_memory(const char *what, struct error *error)
{
	return error_set(error, EXIT_ENVIRONMENT, "out of memory for the %s", what);
}

/* Room for the prompt and the answer, as far as the model's context goes. */
static int size_conversation(struct generation *g, struct error *error)
{
	const struct options *options = g->options;
	size_t context = (size_t)g->model->context, prompt = g->prompt.count, tokens = options->tokens;
	if (prompt >= context)
		return error_set(
			error, EXIT_USAGE, "--prompt: %zu tokens, expected fewer than the model's context of %zu",
			prompt, context);
	if (!tokens)
		tokens = options->count_all ? DEFAULT_TOKENS_COUNTED : DEFAULT_TOKENS;
	/* The last token of an answer is chosen and not run. */
	g->most_tokens = smaller(tokens, context - prompt + 1);
	g->capacity = prompt + g->most_tokens - 1;
	g->most_rows = smaller(prompt, MOST_ROWS);
	g->logits = calloc(g->most_tokens, (size_t)g->model->vocabulary * sizeof(float));
	return g->logits ? 0 : no_memory("logits", error);
}

static int begin(struct session *session, struct error *error)
{
	struct generation *g = session->generation;
	const struct options *options = g->options;
	if (sampler_make(
		    (double)options->temperature, (double)options->top_p, options->problem.seed,
		    (size_t)g->model->vocabulary, &session->sampler, error) != 0 ||
	    chat_prompt(&g->model->tokenizer, NULL, options->prompt, &g->prompt, error) != 0 ||
	    size_conversation(g, error) != 0 || session->generator->begin(g, error) != 0)
		return error->exit_code;
	return pass_begin(g->model, &g->operations, g->capacity, g->most_rows, &session->pass, error);
}

/* Runs tokens after those before: counts them, and keeps the logits after the last one. `row` [vocabulary] is scratch. */
static int run_tokens(
	struct session *session, enum phase phase, const int *ids, size_t count, double *row, struct error *error)
{
	struct generation *g = session->generation;
	size_t vocabulary = (size_t)g->model->vocabulary;
	struct counts counts;
	if (phase == PHASE_PROMPT)
		progress_show(&session->progress, "reading the prompt, %zu tokens", count);
	counts_forget();
	double start = clock_seconds();
	if (pass_run(&session->pass, ids, count, row, error) != 0)
		return error->exit_code;
	if (phase == PHASE_ANSWER && g->options->time)
		g->seconds += clock_seconds() - start;
	if (counts_collect(0, counts_launches(), &counts, error) != 0)
		return error->exit_code;
	progress_clear(&session->progress);
	g->has_counts = counts.counted;
	session->generator->add_counts(g, phase, &counts);
	counts_free(&counts);
	for (size_t i = 0; i < vocabulary; i++)
		g->logits[g->logit_rows * vocabulary + i] = (float)row[i]; /* they were fp32 */
	g->logit_rows++;
	return 0;
}

/* A model may write any byte: what would move a terminal's cursor or ring its bell is not passed on, U+0000 to U+001F and
 * U+007F to U+009F but for the end of a line and the tabulator. `before`: the byte that was written last. */
static int write_text(FILE *out, const char *bytes, size_t length, unsigned char before, struct error *error)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		bool control = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ||
		               (before == 0xc2 && byte >= 0x80 && byte <= 0x9f);
		fputc(control ? '?' : byte, out);
		before = byte;
	}
	if (fflush(out) != 0)
		return error_set(error, EXIT_ENVIRONMENT, "standard output: cannot be written: %s", strerror(errno));
	return 0;
}

static int add_token(struct session *session, int id, struct error *error)
{
	struct generation *g = session->generation;
	size_t length, first = g->text_length;
	const char *bytes = tokenizer_bytes(&g->model->tokenizer, id, &length);
	char *text = realloc(g->text, first + length + 1);
	if (!text)
		return no_memory("answer", error);
	memcpy(text + first, bytes, length);
	g->text = text;
	g->text_length += length;
	text[g->text_length] = '\0';
	unsigned char before = first > 0 ? (unsigned char)text[first - 1] : 0;
	if (session->out && write_text(session->out, bytes, length, before, error) != 0)
		return error->exit_code;
	return tokens_append(&g->answer, id, error);
}

static int answer(struct session *session, double *row, struct error *error)
{
	struct generation *g = session->generation;
	size_t vocabulary = (size_t)g->model->vocabulary;
	int status = run_tokens(session, PHASE_PROMPT, g->prompt.ids, g->prompt.count, row, error);
	while (!status) {
		int id;
		if (sampler_pick(session->sampler, g->logits + (g->logit_rows - 1) * vocabulary, &id, error) != 0)
			return error->exit_code;
		if (language_model_ends(g->model, id)) {
			g->ended = true;
			return 0;
		}
		if (add_token(session, id, error) != 0)
			return error->exit_code;
		if (g->answer.count == g->most_tokens)
			return 0;
		status = run_tokens(session, PHASE_ANSWER, &id, 1, row, error);
	}
	return status;
}

size_t generation_decoded(const struct generation *g)
{
	return g->answer.count - !g->ended;
}

/* ---- how long will it take? ---- */

/*
 * Layer 0 runs on a few tokens, through the operations of this run and through those of the reference, which computes every
 * token again; the rest follows from the ratio of the work. A guess, right to a factor of two or so; all that is neither
 * attention nor a product with weights takes little.
 */
struct work { /* of attention and of the products with weights: seconds, or multiplications, of which only ratios count */
	double attention, products;
};

/* Multiplications that any machine does in less than an hour, so that nobody waits for a measurement. */
#define LITTLE_WORK 1e10

/* How often it is measured: the first time a device also makes its own tables, which takes far less than a second. */
enum { MEASUREMENTS = 3, MOST_MEASURED_ROWS = 32, MOST_MEASURED_BLOCKS = 4096 };
static const double enough_s = 1.0;

/* Q, K and V of layer 0 for the first tokens, then their attention. */
static int time_layer(struct pass *pass, size_t rows, struct work *seconds, struct error *error)
{
	const struct operations *run = pass->operations;
	const struct layer_weights *layer = &pass->model->layer[0];
	double start = clock_seconds();
	run->project(run->state, &layer->q, pass->n, rows, NULL, pass->q);
	run->project(run->state, &layer->k, pass->n, rows, NULL, pass->keys);
	run->project(run->state, &layer->v, pass->n, rows, NULL, pass->values);
	if (operations_status(run, error) != 0)
		return error->exit_code;
	double projected = clock_seconds();
	run->attend(run->attend_state, 0, pass->q, pass->keys, pass->values, rows, 0, pass->o);
	if (operations_status(run, error) != 0)
		return error->exit_code;
	seconds->attention = fmin(seconds->attention, clock_seconds() - projected);
	seconds->products = fmin(seconds->products, projected - start);
	return 0;
}

/* `pass` has run nothing yet; its buffers are used. */
static int measure(struct pass *pass, size_t rows, struct work *seconds, struct error *error)
{
	static const int some_tokens[MOST_MEASURED_ROWS];
	const struct operations *run = pass->operations;
	*seconds = (struct work){INFINITY, INFINITY};
	run->embed(run->state, some_tokens, rows, pass->x);
	run->rms_norm(run->state, pass->x, pass->model->layer[0].attention_norm, rows, pass->n);
	for (int i = 0; i < MEASUREMENTS && !(i > 0 && seconds->attention + seconds->products > enough_s); i++)
		if (time_layer(pass, rows, seconds, error) != 0)
			return error->exit_code;
	return 0;
}

static int measure_reference(
	const struct language_model *model, size_t rows, struct work *seconds, struct error *error)
{
	struct operations operations;
	struct pass pass;
	if (reference_operations(model, &operations, error) != 0)
		return error->exit_code;
	int status = pass_begin(model, &operations, rows, rows, &pass, error);
	if (!status)
		status = measure(&pass, rows, seconds, error);
	operations_end(&operations);
	return status;
}

static double pairs(size_t tokens)
{
	return 0.5 * (double)tokens * (double)(tokens + 1);
}

static double weights_of(const struct matrix *matrix)
{
	return (double)matrix->rows * (double)matrix->columns;
}

static double qkv_weights(const struct layer_weights *layer)
{
	return weights_of(&layer->q) + weights_of(&layer->k) + weights_of(&layer->v);
}

/* Of `tokens` tokens in all layers, and of the logits after `logit_rows` of them. */
static struct work work_of(const struct language_model *model, size_t tokens, size_t logit_rows)
{
	double layers = 0.0;
	for (int i = 0; i < model->layers; i++) {
		const struct layer_weights *layer = &model->layer[i];
		layers += qkv_weights(layer) + weights_of(&layer->o) + weights_of(&layer->gate) +
		          weights_of(&layer->up) + weights_of(&layer->down);
	}
	return (struct work){
		.attention = pairs(tokens) * (double)model->width * (double)model->layers,
		.products = (double)tokens * layers + (double)logit_rows * weights_of(&model->output),
	};
}

/* Of this run's attention in one layer: it grows evenly with the tokens that are seen, from the first one on. */
static double attention_work(const struct session *session, size_t tokens)
{
	const struct generation *g = session->generation;
	if (!session->generator->attention_forms)
		return pairs(tokens) * (double)g->model->width;
	struct closed_forms first = session->generator->attention_forms(g, 1);
	struct closed_forms last = session->generator->attention_forms(g, tokens);
	return 0.5 * (double)tokens * (estimate_work(&first) + estimate_work(&last));
}

/* Fewer where each of them launches many blocks. */
static size_t measured_rows(const struct session *session)
{
	const struct generation *g = session->generation;
	size_t rows = smaller(MOST_MEASURED_ROWS, g->most_rows), most = MOST_MEASURED_ROWS;
	if (session->generator->attention_forms)
		most = MOST_MEASURED_BLOCKS / (size_t)session->generator->attention_forms(g, 1).blocks;
	return smaller(rows, most < 1 ? 1 : most);
}

static int estimate(struct session *session, size_t tokens, bool always, double *seconds, struct error *error)
{
	const struct language_model *model = session->generation->model;
	size_t rows = measured_rows(session);
	struct work all = work_of(model, tokens, session->generation->most_tokens), part, own, reference;
	double attention = attention_work(session, tokens) * model->layers;
	*seconds = 0.0; /* so little work that it is not measured */
	if (!always && attention + all.products < LITTLE_WORK)
		return 0;
	if (measure(&session->pass, rows, &own, error) != 0 || measure_reference(model, rows, &reference, error) != 0)
		return error->exit_code;
	part = (struct work){pairs(rows) * (double)model->width, (double)rows * qkv_weights(&model->layer[0])};
	*seconds = attention / attention_work(session, rows) * own.attention +
	           all.attention / part.attention * reference.attention +
	           all.products / part.products * (own.products + reference.products);
	return 0;
}

static void print_estimate(FILE *out, uint64_t requested, size_t prompt, size_t answered, double seconds)
{
	char bytes[32];
	fprintf(out, "Counting every kernel: %zu + %zu tokens, %s requested, ", prompt, answered,
	        format_bytes((double)requested, bytes));
	if (seconds < 1.0)
		fprintf(out, "less than a second\n");
	else if (seconds < 100.0)
		fprintf(out, "about %.0f s\n", seconds);
	else
		fprintf(out, "about %.0f min\n", seconds / 60.0);
}

/* Hours are refused without --yes. What --count-all takes is said first, also while standard output is for data. */
static int refuse_hours(struct session *session, struct error *error)
{
	const struct generation *g = session->generation;
	size_t prompt = g->prompt.count, answered = g->most_tokens - 1;
	bool told = g->options->count_all && !g->options->quiet;
	double seconds;
	char what[ESTIMATE_TEXT_SIZE];
	if (!g->device->simulated || g->device->plain || (g->options->yes && !told))
		return 0;
	if (estimate(session, prompt + answered, told, &seconds, error) != 0)
		return error->exit_code;
	if (told) {
		fflush(stdout);
		print_estimate(stderr, session->generator->requested(g, prompt, answered), prompt, answered, seconds);
	}
	snprintf(what, sizeof what, "--prompt, %zu + %zu tokens", prompt, answered);
	return estimate_refuse(seconds, what, g->options, error);
}

/* ---- is it right? ---- */

/* Where plain C stands in for kernels, these run the first few tokens besides, if that takes no time worth mentioning: a
 * call of several tokens, then one of a further one. Multiplications; a token of the real model has 13 times as many. */
#define NO_TIME 1e7
enum { REPLACED_TOKENS = 4 };

static int run_replaced(struct session *session, double *row, struct error *error)
{
	struct generation *g = session->generation;
	size_t vocabulary = (size_t)g->model->vocabulary, tokens = smaller(REPLACED_TOKENS, g->prompt.count);
	struct operations operations = {0};
	struct pass pass;
	if (!g->replaced || work_of(g->model, tokens, tokens).products > NO_TIME)
		return 0;
	g->replaced_logits = calloc(tokens, vocabulary * sizeof(float));
	if (!g->replaced_logits)
		return no_memory("logits", error);
	int status = session->generator->begin_all(g, tokens, &operations, error);
	if (!status)
		status = pass_begin(g->model, &operations, tokens, tokens, &pass, error);
	for (size_t done = 0, rows; !status && done < tokens; done += rows) {
		rows = done || tokens == 1 ? 1 : tokens - 1;
		status = pass_run(&pass, g->prompt.ids + done, rows, row, error);
		for (size_t r = 0; !status && r < rows; r++) {
			status = pass_logits(&pass, r, row, error);
			for (size_t i = 0; i < vocabulary; i++)
				g->replaced_logits[(done + r) * vocabulary + i] = (float)row[i];
		}
	}
	operations_end(&operations);
	g->replaced_tokens = tokens;
	return status;
}

static size_t likeliest(const double *logits, size_t count)
{
	size_t best = 0;
	for (size_t i = 1; i < count; i++)
		best = logits[i] > logits[best] ? i : best;
	return best;
}

/* All tokens at once: no row reads what an earlier call has kept. */
static int compare_with(
	struct session *session, const struct operations *reference, const int *ids, size_t count, double *expected,
	struct error *error)
{
	struct generation *g = session->generation;
	size_t vocabulary = (size_t)g->model->vocabulary;
	struct pass pass;
	progress_show(&session->progress, "%zu tokens at once, without a cache", count);
	if (pass_begin(g->model, reference, count, count, &pass, error) != 0 ||
	    pass_run(&pass, ids, count, expected, error) != 0)
		return error->exit_code;
	for (size_t row = 0; row < g->logit_rows; row++) {
		if (pass_logits(&pass, g->prompt.count - 1 + row, expected, error) != 0)
			return error->exit_code;
		g->logits_error = logits_error(g->logits + row * vocabulary, expected, vocabulary, g->logits_error);
		size_t id = likeliest(expected, vocabulary);
		g->same_ids += row < g->answer.count ? id == (size_t)g->answer.ids[row]
		                                     : language_model_ends(g->model, (int)id);
	}
	for (size_t token = 0; token < g->replaced_tokens; token++) {
		if (pass_logits(&pass, token, expected, error) != 0)
			return error->exit_code;
		g->replaced_error = logits_error(
			g->replaced_logits + token * vocabulary, expected, vocabulary, g->replaced_error);
	}
	return 0;
}

static int compare_logits(struct session *session, struct error *error)
{
	const struct generation *g = session->generation;
	size_t prompt = g->prompt.count, decoded = generation_decoded(g);
	struct operations reference;
	if (reference_operations(g->model, &reference, error) != 0)
		return error->exit_code;
	int *ids = malloc((prompt + decoded) * sizeof *ids);
	double *expected = malloc((size_t)g->model->vocabulary * sizeof *expected);
	int status = EXIT_ENVIRONMENT;
	if (ids && expected) {
		memcpy(ids, g->prompt.ids, prompt * sizeof *ids);
		if (decoded)
			memcpy(ids + prompt, g->answer.ids, decoded * sizeof *ids);
		status = compare_with(session, &reference, ids, prompt + decoded, expected, error);
	} else {
		no_memory("logits", error);
	}
	free(ids);
	free(expected);
	operations_end(&reference);
	progress_clear(&session->progress);
	return status;
}

static void judge(const struct generator *generator, struct generation *g)
{
	g->counts_equal = !g->has_counts || generator->counts_equal(g);
	g->hazards = device_hazards();
	g->verified = g->logits_error <= LOGIT_TOLERANCE && g->replaced_error <= LOGIT_TOLERANCE && g->counts_equal &&
	              !g->hazards;
}

/* ---- reports ---- */

static void print_head(const struct generator *generator, const struct generation *g)
{
	const struct language_model *model = g->model;
	FILE *out = g->terminal->out;
	char weights[32];
	terminal_print(g->terminal, STYLE_BOLD, "%s", g->chapter->name);
	fprintf(out, "  %.60s: %d layers, %d heads on %d, C = %d, %s\n%s:\n", model->title, model->layers,
	        model->heads, model->kv_heads, model->width,
	        format_bytes((double)language_model_weight_bytes(model), weights), g->device->title);
	generator->describe(g, out);
	if (g->tiny)
		fprintf(out, "A tiny model of random weights: what it says means nothing. `make model` brings one\n"
		             "that speaks.\n");
	terminal_print(g->terminal, STYLE_BOLD, "\n> %s\n", g->options->prompt);
	fflush(out); /* the prompt takes a while */
}

/* Of the kernels that this answer did without. */
static void print_replaced(const struct generation *g)
{
	bool close = g->replaced_error <= LOGIT_TOLERANCE;
	if (!g->replaced_tokens) {
		fprintf(g->terminal->out,
		        "not run   %s: plain C stands in for them,\n"
		        "          --count-all runs and verifies them\n",
		        g->replaced);
		return;
	}
	terminal_print(g->terminal, close ? STYLE_GOOD : STYLE_BAD, "%s", close ? "verified" : "FAILED  ");
	fprintf(g->terminal->out,
	        "  %s, which plain C stands in for, on %zu\n"
	        "          token%s of the prompt: logits with an error of %.2g at most\n",
	        g->replaced, g->replaced_tokens, g->replaced_tokens == 1 ? "" : "s", g->replaced_error);
}

static void print_verdict(const struct generation *g)
{
	bool close = g->logits_error <= LOGIT_TOLERANCE;
	FILE *out = g->terminal->out;
	char logits[32];
	terminal_print(g->terminal, close ? STYLE_GOOD : STYLE_BAD, "%s", close ? "verified" : "FAILED  ");
	fprintf(out,
	        "  %s logits of %zu tokens beside a double-precision pass\n"
	        "          without a cache: error %.2g at most, tolerance %.0e;\n"
	        "          %zu of %zu tokens are the likeliest of that pass\n",
	        format_count(g->logit_rows * (uint64_t)g->model->vocabulary, logits), g->logit_rows, g->logits_error,
	        LOGIT_TOLERANCE, g->same_ids, g->logit_rows);
	if (g->replaced)
		print_replaced(g);
	if (!g->counts_equal)
		terminal_print(
			g->terminal, STYLE_BAD, "FAILED    what was counted is not what the closed forms say\n");
	if (g->hazards)
		terminal_print(
			g->terminal, STYLE_BAD, "FAILED    the simulated device reported %llu error%s\n", g->hazards,
			g->hazards == 1 ? "" : "s");
}

static void print(const struct generator *generator, const struct generation *g)
{
	FILE *out = g->terminal->out;
	if (g->options->quiet) {
		fprintf(out, "%s  ", g->operations.name);
		terminal_print(
			g->terminal, g->verified ? STYLE_GOOD : STYLE_BAD, "%s", g->verified ? "verified" : "FAILED");
		fprintf(out, "  logits: error %.2g at most, tolerance %.0e",
		        g->replaced_error <= g->logits_error ? g->logits_error : g->replaced_error, LOGIT_TOLERANCE);
		if (g->replaced && !g->replaced_tokens)
			fprintf(out, "; not run: %s", g->replaced);
		fputc('\n', out);
		return;
	}
	fputc('\n', out);
	print_verdict(g);
	generator->report(g);
	fprintf(out, "\nNext: %s\n", generator->next(g));
}

static int write_json(const struct generator *generator, const struct generation *g, struct error *error)
{
	struct output_file file;
	if (output_file_open(&file, g->options->json, error) != 0)
		return error->exit_code;
	struct json json = json_to(file.stream);
	json_open_object(&json, NULL);
	json_string(&json, "chapter", g->chapter->name);
	json_string(&json, "device", g->device->simulated ? "sim" : "cuda");
	json_string(&json, "gpu", g->device->name);
	json_string(&json, "model", g->model->title);
	json_bool(&json, "tiny", g->tiny);
	json_string(&json, "prompt", g->options->prompt);
	json_count(&json, "prompt_tokens", g->prompt.count);
	json_open_array(&json, "tokens");
	for (size_t i = 0; i < g->answer.count; i++)
		json_count(&json, NULL, (uint64_t)g->answer.ids[i]);
	json_close_array(&json);
	json_string(&json, "text", g->text ? g->text : "");
	json_bool(&json, "ended", g->ended);
	json_bool(&json, "verified", g->verified);
	json_number(&json, "logits_error", g->logits_error);
	json_number(&json, "logits_tolerance", LOGIT_TOLERANCE);
	json_count(&json, "logit_rows", g->logit_rows);
	json_count(&json, "same_ids", g->same_ids);
	if (g->replaced) {
		json_string(&json, "replaced_kernels", g->replaced);
		json_count(&json, "replaced_kernels_tokens", g->replaced_tokens);
	}
	if (g->replaced_tokens) {
		json_number(&json, "replaced_kernels_error", g->replaced_error);
		json_bool(&json, "replaced_kernels_verified", g->replaced_error <= LOGIT_TOLERANCE);
	}
	json_count(&json, "weights_bytes", language_model_weight_bytes(g->model));
	if (g->seconds > 0.0)
		json_number(&json, "tokens_per_s", (double)generation_decoded(g) / g->seconds);
	generator->add_json(g, &json);
	json_close_object(&json);
	fputc('\n', file.stream);
	return output_file_commit(&file, error);
}

/* ---- the whole ---- */

static int converse(const struct generator *generator, struct generation *g, struct error *error)
{
	const struct options *options = g->options;
	bool json_on_stdout = options->json && strcmp(options->json, "-") == 0;
	struct session session = {
		.generator = generator,
		.generation = g,
		.progress = progress_new(!options->quiet && (json_on_stdout || !isatty(STDOUT_FILENO))),
		.out = json_on_stdout ? NULL : g->terminal->out,
	};
	double *row = calloc((size_t)g->model->vocabulary, sizeof *row);
	int status = row ? begin(&session, error) : no_memory("logits", error);
	if (!status)
		status = refuse_hours(&session, error);
	if (!status && session.out && !options->quiet)
		print_head(generator, g);
	if (!status)
		status = answer(&session, row, error);
	progress_clear(&session.progress);
	if (session.out && g->answer.count)
		fputc('\n', session.out);
	operations_end(&g->operations);
	if (!status)
		status = run_replaced(&session, row, error);
	if (!status)
		status = compare_logits(&session, error);
	sampler_free(session.sampler);
	free(row);
	if (status)
		return status;
	judge(generator, g);
	if (session.out)
		print(generator, g);
	if (options->json && write_json(generator, g, error) != 0)
		return error->exit_code;
	return g->verified ? EXIT_ALL_VERIFIED : EXIT_VERIFICATION;
}

int generate(
	const struct generator *generator, void *state, const struct chapter *chapter, const struct options *options,
	const struct device *device, const struct terminal *terminal, struct error *error)
{
	struct model_place place;
	struct language_model model;
	if (options_refuse(
		    options, OPTIONS_NOT_WITH_PROMPT | generator->refused,
		    "not with --prompt, where the model decides", error) != 0 ||
	    generator->check_options(options, device, error) != 0 ||
	    language_model_find(options->model, &place, error) != 0 ||
	    model_place_keep(&place, options->json, error) != 0 ||
	    language_model_open(place.path, &model, error) != 0)
		return error->exit_code;
	struct generation g = {
		.chapter = chapter,
		.options = options,
		.device = device,
		.terminal = terminal,
		.model = &model,
		.tiny = place.tiny,
		.state = state,
	};
	int status = converse(generator, &g, error);
	tokens_free(&g.prompt);
	tokens_free(&g.answer);
	free(g.logits);
	free(g.replaced_logits);
	free(g.text);
	language_model_close(&model);
	return status;
}
