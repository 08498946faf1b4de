#include "speak.h"

#include "decode.h"

#include "estimate.h"
#include "harness.h"
#include "model/pass_time.h"
#include "report/progress.h"
#include "support/clock.h"
#include "support/output_file.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Without --splits: one for each so many tokens, a tile of the kernels. */
enum { DEFAULT_TOKENS = 80, TOKENS_OF_A_SPLIT = 32, MOST_MEASURED_BLOCKS = 4096 };

struct session {
	struct speech *speech;
	struct operations operations;
	struct decode_pass *kernels;
	struct pass pass;
	struct progress progress;
};

/* ---- options ---- */

static enum way way_of(const char *kernel)
{
	for (int way = 0; kernel && way < WAYS; way++)
		if (strcmp(kernel, way_names[way]) == 0)
			return (enum way)way;
	return WAY_PAGED;
}

static int refuse_options(const struct options *options, const struct device *device, struct error *error)
{
	if (options_refuse(options, OPTIONS_NOT_OF_SPEECH, "not with --prompt, where the model decides", error) != 0)
		return error->exit_code;
	if (options->kernel && strcmp(options->kernel, way_names[way_of(options->kernel)]) != 0)
		return error_set(
			error, EXIT_USAGE, "--kernel: not %.40s with --prompt, where no score is modified",
			options->kernel);
	if (options->given & OPTION_BIT(OPTION_TIME) && device->simulated && !device->plain)
		return error_set(
			error, EXIT_USAGE,
			"--time: with --prompt only the plain build measures times: make fast, then "
			"./decode.fast");
	return 0;
}

/* ---- how long will it take? ---- */

/* Of attention in one layer to n tokens. */
static double attention_work(const struct speech *speech, size_t n)
{
	struct closed_forms forms = decode_pass_forms(speech->model, speech->cache, n);
	return estimate_work(&forms);
}

/* For each of the first `tokens`, the sum: the work grows evenly with the tokens that are seen. */
static double attention_sum(const struct speech *speech, size_t tokens)
{
	return 0.5 * (double)tokens * (attention_work(speech, 1) + attention_work(speech, tokens));
}

/* Rows of a measurement: fewer where each of them launches many blocks. */
static size_t measured_rows(const struct speech *speech, size_t most)
{
	struct closed_forms forms = decode_pass_forms(speech->model, speech->cache, 1);
	size_t rows = MOST_MEASURED_BLOCKS / (size_t)forms.blocks;
	return smaller(most, rows < 1 ? 1 : smaller(rows, MOST_MEASURED_ROWS));
}

/* Hours are refused without --yes. The reference computes every token again. */
static int refuse_hours(struct session *session, struct error *error)
{
	const struct speech *speech = session->speech;
	const struct conversation *said = &speech->conversation;
	size_t tokens = said->prompt.count + said->most_tokens - 1; /* the last one is not run */
	size_t rows = measured_rows(speech, smaller(tokens, said->most_rows));
	double work = attention_sum(speech, tokens) * speech->model->layers;
	struct pass_time all = pass_work(speech->model, tokens, said->most_tokens), part, own, reference;
	char what[ESTIMATE_TEXT_SIZE];
	if (!speech->device->simulated || speech->device->plain || speech->options->yes ||
	    work + all.products < LITTLE_WORK)
		return 0;
	if (pass_measure(&session->pass, rows, &own, &reference, &part, error) != 0)
		return error->exit_code;
	double seconds = work / attention_sum(speech, rows) * own.attention +
	                 all.attention / part.attention * reference.attention +
	                 all.products / part.products * (own.products + reference.products);
	snprintf(what, sizeof what, "--prompt, %zu + %zu tokens", said->prompt.count, said->most_tokens - 1);
	return estimate_refuse(seconds, what, speech->options, error);
}

/* ---- the answer ---- */

uint64_t asked_sum(struct asked asked)
{
	return asked.cache + asked.table + asked.others;
}

/* What is counted of attention; that rows are put into their pages is not. */
static void add_counts(const struct counts *counts, struct asked *asked)
{
	for (size_t i = 0; i < counts->launch_count; i++) {
		const struct launch_counts *launch = &counts->launches[i];
		for (size_t t = 0; t < launch->tensor_count && strcmp(launch->kernel, "append_rows") != 0; t++) {
			const char *name = launch->tensors[t].name;
			const struct traffic *traffic = &launch->tensors[t].requested;
			bool cached =
				(name[0] == 'K' || name[0] == 'V') && (!name[1] || strcmp(name + 1, " pages") == 0);
			uint64_t *sum = cached                       ? &asked->cache
			                : strcmp(name, "table") == 0 ? &asked->table
			                                             : &asked->others;
			*sum += traffic->read_bytes + traffic->write_bytes;
		}
	}
}

static int run(void *context, enum phase phase, const int *ids, size_t count, double *logits, struct error *error)
{
	struct session *session = context;
	struct speech *speech = session->speech;
	const struct language_model *model = speech->model;
	size_t first = session->pass.tokens;
	struct counts counts;
	if (phase == PHASE_PROMPT)
		progress_show(&session->progress, true, "reading the prompt, %zu tokens", count);
	counts_forget();
	double begin = clock_seconds();
	if (pass_run(&session->pass, ids, count, logits, error) != 0 ||
	    decode_pass_status(session->kernels, error) != 0)
		return error->exit_code;
	if (phase == PHASE_ANSWER && speech->options->time)
		speech->seconds += clock_seconds() - begin;
	if (counts_collect(0, counts_launches(), &counts, error) != 0)
		return error->exit_code;
	progress_clear(&session->progress);
	speech->has_counts = counts.counted;
	add_counts(&counts, &speech->counted[phase]);
	counts_free(&counts);
	for (size_t i = 0; i < count; i++) {
		struct closed_forms forms = decode_pass_forms(model, speech->cache, first + i + 1);
		speech->expected[phase] += sizeof(float) * (uint64_t)model->layers *
		                           (forms.models[0].read_elements + forms.models[0].write_elements);
	}
	return 0;
}

/* ---- is it right? ---- */

static size_t likeliest(const double *logits, size_t count)
{
	size_t best = 0;
	for (size_t i = 1; i < count; i++)
		best = logits[i] > logits[best] ? i : best;
	return best;
}

/* All tokens at once: no row reads what an earlier call has kept. */
static int compare_with(
	struct session *session, const struct operations *reference, const int *ids, size_t count, double *logits,
	struct error *error)
{
	struct speech *speech = session->speech;
	const struct conversation *said = &speech->conversation;
	struct pass pass;
	progress_show(&session->progress, true, "%zu tokens at once, without a cache", count);
	if (pass_begin(speech->model, reference, count, count, &pass, error) != 0 ||
	    pass_run(&pass, ids, count, logits, error) != 0)
		return error->exit_code;
	for (size_t row = 0; row < said->logit_rows; row++) {
		if (pass_logits(&pass, said->prompt.count - 1 + row, logits, error) != 0)
			return error->exit_code;
		speech->logits_error = conversation_logits_error(said, row, logits, speech->logits_error);
		size_t id = likeliest(logits, (size_t)speech->model->vocabulary);
		speech->same_ids += row < said->answer.count ? id == (size_t)said->answer.ids[row]
		                                             : language_model_ends(speech->model, (int)id);
	}
	progress_clear(&session->progress);
	return 0;
}

static int compare_logits(struct session *session, struct error *error)
{
	const struct conversation *said = &session->speech->conversation;
	const struct language_model *model = session->speech->model;
	size_t decoded = conversation_decoded(said), count = said->prompt.count + decoded;
	struct operations reference;
	if (reference_operations(model, &reference, error) != 0)
		return error->exit_code;
	int *ids = malloc(count * sizeof *ids);
	double *logits = malloc((size_t)model->vocabulary * sizeof *logits);
	int status = EXIT_ENVIRONMENT;
	if (ids && logits) {
		memcpy(ids, said->prompt.ids, said->prompt.count * sizeof *ids);
		if (decoded)
			memcpy(ids + said->prompt.count, said->answer.ids, decoded * sizeof *ids);
		status = compare_with(session, &reference, ids, count, logits, error);
	} else {
		error_set(error, EXIT_ENVIRONMENT, "out of memory for the logits");
	}
	free(ids);
	free(logits);
	reference.end(reference.state);
	return status;
}

static void judge(struct speech *speech)
{
	bool equal = true;
	for (int phase = 0; phase < PHASES; phase++)
		equal = equal && asked_sum(speech->counted[phase]) == speech->expected[phase];
	speech->hazards = device_hazards();
	speech->verified =
		speech->logits_error <= LOGIT_TOLERANCE && (equal || !speech->has_counts) && !speech->hazards;
}

/* ---- the whole ---- */

static int begin(struct session *session, FILE *text, struct error *error)
{
	struct speech *speech = session->speech;
	const struct options *options = speech->options;
	struct conversation *conversation = &speech->conversation;
	const struct question question = {
		options->prompt, options->tokens ? options->tokens : DEFAULT_TOKENS, (double)options->temperature,
		(double)options->top_p, options->problem.seed};
	if (conversation_begin(speech->model, &question, conversation, error) != 0)
		return error->exit_code;
	conversation->out = text;
	conversation->run = run;
	conversation->context = session;
	size_t capacity = conversation->capacity, most_rows = conversation->most_rows;
	if (!(options->given & OPTION_BIT(OPTION_SPLITS)))
		speech->cache.splits = ceil_div(capacity, TOKENS_OF_A_SPLIT);
	else if (speech->cache.splits > capacity)
		return error_set(
			error, EXIT_USAGE,
			"--splits: expected at most %zu with this --prompt, its tokens and the answer's, got %zu",
			capacity, speech->cache.splits);
	if (decode_operations(
		    speech->model, speech->cache, capacity, most_rows, &session->operations, &session->kernels,
		    error) != 0)
		return error->exit_code;
	return pass_begin(speech->model, &session->operations, capacity, most_rows, &session->pass, error);
}

static int write_json(const struct speech *speech, struct error *error)
{
	struct output_file file;
	if (output_file_open(&file, speech->options->json, error) != 0)
		return error->exit_code;
	speech_write_json(file.stream, speech);
	return output_file_commit(&file, error);
}

static int converse(struct speech *speech, const struct terminal *terminal, struct error *error)
{
	const struct options *options = speech->options;
	bool json_on_stdout = options->json && strcmp(options->json, "-") == 0;
	FILE *text = json_on_stdout ? NULL : terminal->out;
	struct session session = {
		.speech = speech,
		.progress = progress_new(!options->quiet && (json_on_stdout || !isatty(STDOUT_FILENO))),
	};
	int status = begin(&session, text, error);
	if (!status)
		status = refuse_hours(&session, error);
	if (!status && text && !options->quiet) {
		speech_print_head(terminal, speech);
		fflush(terminal->out); /* the prompt takes a while */
	}
	if (!status)
		status = conversation_answer(&speech->conversation, error);
	progress_clear(&session.progress);
	if (text && speech->conversation.answer.count)
		fputc('\n', text);
	if (!status)
		status = compare_logits(&session, error);
	if (session.operations.end)
		session.operations.end(session.operations.state);
	decode_pass_free(session.kernels);
	if (status)
		return status;
	judge(speech);
	if (text && options->quiet)
		speech_print_quiet(terminal, speech);
	else if (text)
		speech_print(terminal, speech);
	if (options->json && write_json(speech, error) != 0)
		return error->exit_code;
	return speech->verified ? EXIT_ALL_VERIFIED : EXIT_VERIFICATION;
}

int speak(
	const struct chapter *chapter, const struct options *options, const struct device *device,
	const struct terminal *terminal, struct error *error)
{
	struct model_place place;
	struct language_model model;
	if (refuse_options(options, device, error) != 0 || language_model_find(options->model, &place, error) != 0 ||
	    model_place_keep(&place, options->json, error) != 0 ||
	    language_model_open(place.path, &model, error) != 0)
		return error->exit_code;
	struct speech speech = {
		.chapter = chapter,
		.options = options,
		.device = device,
		.model = &model,
		.tiny = place.tiny,
		.cache =
			{way_of(options->kernel), options->problem.splits, options->problem.page,
	                 options->problem.seed},
	};
	int status = EXIT_USAGE;
	if (speech.cache.way != WAY_NAIVE && model.heads / model.kv_heads > MOST_GROUP)
		error_set(
			error, EXIT_USAGE, "--model: %d heads share one of keys, expected %d at most for %s",
			model.heads / model.kv_heads, MOST_GROUP, way_names[speech.cache.way]);
	else
		status = converse(&speech, terminal, error);
	conversation_end(&speech.conversation);
	language_model_close(&model);
	return status;
}
