#include "speak.h"

#include "duration.h"
#include "speech.h"

#include "estimate.h"
#include "harness.h"
#include "report/progress.h"
#include "support/output_file.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { DEFAULT_TOKENS = 80, DEFAULT_TOKENS_COUNTED = 4 };

struct session {
	struct speech *speech;
	struct operations operations;
	struct device_pass *attention; /* where only attention is the kernels' */
	struct pass pass;
	struct progress progress;
};

/* ---- options ---- */

static int refuse_options(const struct options *options, struct error *error)
{
	if (options_refuse(
		    options,
		    OPTIONS_NOT_OF_SPEECH | OPTION_BIT(OPTION_KEYS) | OPTION_BIT(OPTION_CAUSAL) |
			    OPTION_BIT(OPTION_TILE_Q) | OPTION_BIT(OPTION_TILE_K) | OPTION_BIT(OPTION_TIME),
		    "not with --prompt, where the model decides", error) != 0)
		return error->exit_code;
	const char *kernel = options->kernel;
	if (kernel && strcmp(kernel, "strided") != 0 && strcmp(kernel, "permuted") != 0)
		return error_set(
			error, EXIT_USAGE, "--kernel: expected strided or permuted with --prompt, got '%.60s'",
			kernel);
	return 0;
}

/* ---- beginning ---- */

static int run(void *context, enum phase phase, const int *ids, size_t count, double *logits, struct error *error);

static int begin(struct session *session, FILE *text, struct error *error)
{
	struct speech *speech = session->speech;
	const struct options *options = speech->options;
	struct conversation *conversation = &speech->conversation;
	size_t tokens = options->tokens;
	if (!tokens)
		tokens = options->count_all ? DEFAULT_TOKENS_COUNTED : DEFAULT_TOKENS;
	const struct question question = {
		options->prompt, tokens, (double)options->temperature, (double)options->top_p, options->problem.seed};
	if (conversation_begin(speech->model, &question, conversation, error) != 0)
		return error->exit_code;
	conversation->out = text;
	conversation->run = run;
	conversation->context = session;
	size_t capacity = conversation->capacity, most_rows = conversation->most_rows;
	int status = speech->all_kernels
	                     ? device_operations(
				       speech->model, speech->heads, capacity, most_rows, &session->operations, error)
	                     : device_attention(
				       speech->model, speech->heads, capacity, most_rows, &session->operations,
				       &session->attention, error);
	if (status != 0)
		return status;
	return pass_begin(speech->model, &session->operations, capacity, most_rows, &session->pass, error);
}

static void end(struct session *session)
{
	if (session->operations.end)
		session->operations.end(session->operations.state);
	device_pass_free(session->attention);
}

/* Hours are refused without --yes. What --count-all takes is said first, also while standard output is for data. */
static int refuse_hours(struct session *session, struct error *error)
{
	const struct speech *speech = session->speech;
	const struct options *options = speech->options;
	bool said = options->count_all && !options->quiet;
	struct duration duration;
	char what[ESTIMATE_TEXT_SIZE];
	if (!speech->device->simulated || speech->device->plain || (options->yes && !said))
		return 0;
	if (duration_estimate(
		    &session->pass, speech->heads, speech->conversation.prompt.count,
		    speech->conversation.most_tokens - 1 /* the last one is not run */, said, &duration, error) != 0)
		return error->exit_code;
	if (said) {
		fflush(stdout);
		duration_print(stderr, &duration);
	}
	snprintf(what, sizeof what, "--prompt, %zu + %zu tokens", duration.prompt, duration.answer);
	return estimate_refuse(duration.seconds, what, options, error);
}

/* ---- the answer ---- */

static int run(void *context, enum phase phase, const int *ids, size_t count, double *logits, struct error *error)
{
	struct session *session = context;
	struct speech *speech = session->speech;
	size_t first = session->pass.tokens;
	struct counts counts;
	if (phase == PHASE_PROMPT)
		progress_show(&session->progress, true, "reading the prompt, %zu tokens", count);
	counts_forget();
	if (pass_run(&session->pass, ids, count, logits, error) != 0 ||
	    (session->attention && device_pass_status(session->attention, error) != 0) ||
	    counts_collect(0, counts_launches(), &counts, error) != 0)
		return error->exit_code;
	progress_clear(&session->progress);
	speech->has_counts = counts.counted;
	moved_add_counts(&counts, speech->counted[phase]);
	counts_free(&counts);
	moved_add_model(
		speech->model, speech->heads, first, count, session->pass.most_rows, speech->model_moved[phase]);
	return 0;
}

/* ---- is it right? ---- */

static int compare_with(
	struct session *session, const struct operations *reference, double *expected, struct error *error)
{
	struct speech *speech = session->speech;
	const struct conversation *said = &speech->conversation;
	struct pass pass;
	int status = pass_begin(speech->model, reference, said->capacity, said->most_rows, &pass, error);
	for (size_t row = 0; !status && row < said->logit_rows; row++) {
		progress_show(
			&session->progress, row == 0, "comparing logits: %zu of %zu tokens", row, said->logit_rows);
		const int *ids = row == 0 ? said->prompt.ids : &said->answer.ids[row - 1];
		status = pass_run(&pass, ids, row == 0 ? said->prompt.count : 1, expected, error);
		if (!status)
			speech->logits_error = conversation_logits_error(said, row, expected, speech->logits_error);
	}
	progress_clear(&session->progress);
	return status;
}

static int compare_logits(struct session *session, struct error *error)
{
	const struct language_model *model = session->speech->model;
	struct operations reference;
	if (reference_operations(model, &reference, error) != 0)
		return error->exit_code;
	double *expected = calloc((size_t)model->vocabulary, sizeof *expected);
	int status = expected ? compare_with(session, &reference, expected, error)
	                      : error_set(error, EXIT_ENVIRONMENT, "out of memory for the logits");
	free(expected);
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
	end(&session);
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
	if (refuse_options(options, error) != 0 || language_model_find(options->model, &place, error) != 0 ||
	    model_place_keep(&place, options->json, error) != 0 ||
	    language_model_open(place.path, &model, error) != 0)
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
	conversation_end(&speech.conversation);
	language_model_close(&model);
	return status;
}
