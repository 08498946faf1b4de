#include "speak.h"

#include "duration.h"
#include "speech.h"

#include "estimate.h"
#include "harness.h"
#include "model/sampler.h"
#include "problem/option_rules.h"
#include "report/progress.h"
#include "support/output_file.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* Rows of a call: what a prompt is cut into. */
enum { MOST_ROWS = 128, DEFAULT_TOKENS = 80, DEFAULT_TOKENS_COUNTED = 4 };

struct conversation {
	struct speech *speech;
	struct operations operations;
	struct device_pass *attention; /* where only attention is the kernels' */
	struct pass pass;
	struct sampler *sampler;
	float *logits; /* [capacity, vocabulary], of each token that was chosen */
	double *row;   /* [vocabulary] */
	size_t most_tokens, capacity, most_rows;
	struct progress progress;
	FILE *text; /* where the answer goes as it comes; NULL: nowhere */
};

/* ---- options ---- */

static int refuse_options(const struct options *options, struct error *error)
{
	static const enum option_name of_shapes[] = {OPTION_HEADS,  OPTION_KV_HEADS, OPTION_SEQ,   OPTION_KEYS,
	                                             OPTION_DIM,    OPTION_CAUSAL,   OPTION_SCALE, OPTION_TILE_Q,
	                                             OPTION_TILE_K, OPTION_INPUT,    OPTION_LOAD,  OPTION_SAVE,
	                                             OPTION_SWEEP,  OPTION_TIME,     OPTION_TSV,   OPTION_EXPLAIN};
	for (size_t i = 0; i < sizeof of_shapes / sizeof of_shapes[0]; i++)
		if (options->given & OPTION_BIT(of_shapes[i]))
			return error_set(
				error, EXIT_USAGE, "--%s: not with --prompt, where the model decides",
				rule_of(of_shapes[i]).name);
	const char *kernel = options->kernel;
	if (kernel && strcmp(kernel, "strided") != 0 && strcmp(kernel, "permuted") != 0)
		return error_set(
			error, EXIT_USAGE, "--kernel: expected strided or permuted with --prompt, got '%.60s'",
			kernel);
	return 0;
}

static int keep_model(const struct options *options, const struct model_place *place, struct error *error)
{
	if (options->json && output_file_is_same(options->json, place->path))
		return error_set(
			error, EXIT_USAGE, "--json: %.200s is the model, expected another file", options->json);
	return 0;
}

/* ---- beginning ---- */

/* Room for the prompt and the answer, as far as the model's context goes. */
static int size_conversation(struct conversation *conversation, struct error *error)
{
	const struct speech *speech = conversation->speech;
	size_t context = (size_t)speech->model->context, prompt = speech->prompt.count;
	conversation->most_tokens = speech->options->tokens;
	if (!conversation->most_tokens)
		conversation->most_tokens = speech->options->count_all ? DEFAULT_TOKENS_COUNTED : DEFAULT_TOKENS;
	if (prompt >= context)
		return error_set(
			error, EXIT_USAGE, "--prompt: %zu tokens, expected fewer than the model's context of %zu",
			prompt, context);
	/* The last token of an answer is chosen and not run. */
	conversation->most_tokens = smaller(conversation->most_tokens, context - prompt + 1);
	conversation->capacity = prompt + conversation->most_tokens - 1;
	conversation->most_rows = smaller(prompt, MOST_ROWS);
	size_t vocabulary = (size_t)speech->model->vocabulary;
	conversation->logits = calloc(conversation->most_tokens, vocabulary * sizeof(float));
	conversation->row = calloc(vocabulary, sizeof(double));
	if (!conversation->logits || !conversation->row)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the logits");
	return 0;
}

static int begin(struct conversation *conversation, struct error *error)
{
	struct speech *speech = conversation->speech;
	const struct options *options = speech->options;
	size_t vocabulary = (size_t)speech->model->vocabulary;
	if (sampler_make(
		    (double)options->temperature, (double)options->top_p, options->problem.seed, vocabulary,
		    &conversation->sampler, error) != 0 ||
	    chat_prompt(speech->model->tokenizer, NULL, options->prompt, &speech->prompt, error) != 0 ||
	    size_conversation(conversation, error) != 0)
		return error->exit_code;
	int status = speech->all_kernels
	                     ? device_operations(
				       speech->model, speech->heads, conversation->capacity, conversation->most_rows,
				       &conversation->operations, error)
	                     : device_attention(
				       speech->model, speech->heads, conversation->capacity, conversation->most_rows,
				       &conversation->operations, &conversation->attention, error);
	if (status != 0)
		return status;
	return pass_begin(
		speech->model, &conversation->operations, conversation->capacity, conversation->most_rows,
		&conversation->pass, error);
}

static void end(struct conversation *conversation)
{
	if (conversation->operations.end)
		conversation->operations.end(conversation->operations.state);
	device_pass_free(conversation->attention);
	sampler_free(conversation->sampler);
	free(conversation->logits);
	free(conversation->row);
}

/* Hours are refused without --yes. What --count-all takes is said first, also while standard output is for data. */
static int refuse_hours(struct conversation *conversation, struct error *error)
{
	const struct speech *speech = conversation->speech;
	const struct options *options = speech->options;
	bool said = options->count_all && !options->quiet;
	struct duration duration;
	char what[ESTIMATE_TEXT_SIZE];
	if (!speech->device->simulated || speech->device->plain || (options->yes && !said))
		return 0;
	if (duration_estimate(
		    &conversation->pass, speech->heads, speech->prompt.count,
		    conversation->most_tokens - 1 /* the last one is not run */, said, &duration, error) != 0)
		return error->exit_code;
	if (said) {
		fflush(stdout);
		duration_print(stderr, &duration);
	}
	snprintf(what, sizeof what, "--prompt, %zu + %zu tokens", duration.prompt, duration.answer);
	return estimate_refuse(duration.seconds, what, options, error);
}

/* ---- the answer ---- */

static int run_tokens(
	struct conversation *conversation, enum phase phase, const int *ids, size_t count, float *logits,
	struct error *error)
{
	struct speech *speech = conversation->speech;
	size_t first = conversation->pass.tokens, vocabulary = (size_t)speech->model->vocabulary;
	struct counts counts;
	counts_forget();
	if (pass_run(&conversation->pass, ids, count, conversation->row, error) != 0 ||
	    (conversation->attention && device_pass_status(conversation->attention, error) != 0) ||
	    counts_collect(0, counts_launches(), &counts, error) != 0)
		return error->exit_code;
	speech->has_counts = counts.counted;
	moved_add_counts(&counts, speech->counted[phase]);
	counts_free(&counts);
	moved_add_model(
		speech->model, speech->heads, first, count, conversation->most_rows, speech->model_moved[phase]);
	for (size_t i = 0; i < vocabulary; i++)
		logits[i] = (float)conversation->row[i]; /* they were fp32 */
	return 0;
}

/* A model may say any byte: what would move a terminal's cursor or ring its bell is not passed on. */
static int write_text(FILE *out, const char *bytes, size_t length, struct error *error)
{
	for (size_t i = 0; i < length; i++) {
		unsigned char byte = (unsigned char)bytes[i];
		fputc((byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f ? '?' : byte, out);
	}
	if (fflush(out) != 0)
		return error_set(error, EXIT_ENVIRONMENT, "standard output: cannot be written: %s", strerror(errno));
	return 0;
}

static int add_token(struct conversation *conversation, int id, struct error *error)
{
	struct speech *speech = conversation->speech;
	size_t length;
	const char *bytes = tokenizer_bytes(speech->model->tokenizer, id, &length);
	char *text = realloc(speech->text, speech->text_length + length + 1);
	if (!text)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the answer");
	memcpy(text + speech->text_length, bytes, length);
	speech->text = text;
	speech->text_length += length;
	text[speech->text_length] = '\0';
	if (conversation->text && write_text(conversation->text, bytes, length, error) != 0)
		return error->exit_code;
	return tokens_append(&speech->answer, id, error);
}

static int answer(struct conversation *conversation, struct error *error)
{
	struct speech *speech = conversation->speech;
	size_t vocabulary = (size_t)speech->model->vocabulary;
	float *logits = conversation->logits;
	progress_show(&conversation->progress, true, "reading the prompt, %zu tokens", speech->prompt.count);
	if (run_tokens(conversation, PHASE_PROMPT, speech->prompt.ids, speech->prompt.count, logits, error) != 0)
		return error->exit_code;
	progress_clear(&conversation->progress);
	for (;;) {
		int id;
		speech->logit_rows++;
		if (sampler_pick(conversation->sampler, logits, &id, error) != 0)
			return error->exit_code;
		if (language_model_ends(speech->model, id)) {
			speech->ended = true;
			return 0;
		}
		if (add_token(conversation, id, error) != 0)
			return error->exit_code;
		if (speech->answer.count == conversation->most_tokens)
			return 0;
		logits += vocabulary;
		if (run_tokens(conversation, PHASE_ANSWER, &id, 1, logits, error) != 0)
			return error->exit_code;
	}
}

/* ---- is it right? ---- */

/* The larger error; NaN, once there is one. */
static double worse(double error, double expected, float actual)
{
	double difference = fabs((double)actual - expected);
	return difference <= error ? error : difference;
}

static int compare_logits(struct conversation *conversation, struct error *error)
{
	struct speech *speech = conversation->speech;
	size_t vocabulary = (size_t)speech->model->vocabulary;
	struct operations reference;
	struct pass pass;
	if (reference_operations(speech->model, &reference, error) != 0)
		return error->exit_code;
	int status =
		pass_begin(speech->model, &reference, conversation->capacity, conversation->most_rows, &pass, error);
	for (size_t row = 0; !status && row < speech->logit_rows; row++) {
		progress_show(
			&conversation->progress, row == 0, "comparing logits: %zu of %zu tokens", row,
			speech->logit_rows);
		const int *ids = row == 0 ? speech->prompt.ids : &speech->answer.ids[row - 1];
		status = pass_run(&pass, ids, row == 0 ? speech->prompt.count : 1, conversation->row, error);
		for (size_t i = 0; !status && i < vocabulary; i++)
			speech->logits_error =
				worse(speech->logits_error, conversation->row[i],
			              conversation->logits[row * vocabulary + i]);
	}
	progress_clear(&conversation->progress);
	reference.end(reference.state);
	return status;
}

static void judge(struct speech *speech)
{
	speech->counts_equal = true;
	for (int phase = 0; phase < PHASES; phase++)
		for (int kind = 0; kind < KINDS; kind++)
			if (speech_runs(speech, (enum kind)kind) &&
			    !moved_is_equal(speech->model_moved[phase][kind], speech->counted[phase][kind]))
				speech->counts_equal = false;
	speech->hazards = device_hazards();
	speech->verified = speech->logits_error <= LOGIT_TOLERANCE && (speech->counts_equal || !speech->has_counts) &&
	                   !speech->hazards;
}

/* ---- the whole ---- */

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
	struct conversation conversation = {
		.speech = speech,
		.progress = progress_new(!options->quiet && (json_on_stdout || !isatty(STDOUT_FILENO))),
		.text = json_on_stdout ? NULL : terminal->out,
	};
	int status = begin(&conversation, error);
	if (!status)
		status = refuse_hours(&conversation, error);
	if (!status && conversation.text && !options->quiet) {
		speech_print_head(terminal, speech);
		fflush(terminal->out); /* the prompt takes a while */
	}
	if (!status)
		status = answer(&conversation, error);
	if (conversation.text && speech->answer.count)
		fputc('\n', conversation.text);
	if (!status)
		status = compare_logits(&conversation, error);
	end(&conversation);
	if (status)
		return status;
	judge(speech);
	if (conversation.text && options->quiet)
		speech_print_quiet(terminal, speech);
	else if (conversation.text)
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
	if (refuse_options(options, error) != 0 || language_model_find(options->model, &place, error) != 0 ||
	    keep_model(options, &place, error) != 0 || language_model_open(place.path, &model, error) != 0)
		return error->exit_code;
	struct speech speech = {
		.chapter = chapter,
		.options = options,
		.device = device,
		.model = &model,
		.tiny = place.tiny,
		.heads = options->kernel && strcmp(options->kernel, "permuted") == 0 ? HEADS_PERMUTED : HEADS_STRIDED,
		.all_kernels = options->count_all || !device->simulated || device->plain,
	};
	int status = converse(&speech, terminal, error);
	tokens_free(&speech.prompt);
	tokens_free(&speech.answer);
	free(speech.text);
	language_model_close(&model);
	return status;
}
