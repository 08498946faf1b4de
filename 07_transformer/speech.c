#include "speech.h"

#include "report/json.h"
#include "support/number.h"

bool speech_runs(const struct speech *speech, enum kind kind)
{
	if (kind == KIND_PERMUTE)
		return speech->heads == HEADS_PERMUTED;
	return kind == KIND_ATTENTION || speech->all_kernels;
}

/* ---- for people ---- */

void speech_print_head(const struct terminal *terminal, const struct speech *speech)
{
	const struct language_model *model = speech->model;
	char weights[32];
	terminal_print(terminal, STYLE_BOLD, "%s", speech->chapter->name);
	fprintf(terminal->out, "  %.60s: %d layers, %d heads on %d, C = %d, %s\n", model->title, model->layers,
	        model->heads, model->kv_heads, model->width,
	        format_bytes((double)language_model_weight_bytes(model), weights));
	fprintf(terminal->out, "%s:\n%s\n", speech->device->title,
	        speech->all_kernels ? "every operation is a kernel" : "attention is the kernel, the rest is plain C");
	if (speech->tiny)
		fprintf(terminal->out,
		        "A tiny model of random weights: what it says means nothing. `make model` brings one\n"
		        "that speaks.\n");
	terminal_print(terminal, STYLE_BOLD, "\n> %s\n", speech->options->prompt);
}

static void print_logits(const struct terminal *terminal, const struct speech *speech)
{
	char logits[32];
	bool close = speech->logits_error <= LOGIT_TOLERANCE;
	terminal_print(terminal, close ? STYLE_GOOD : STYLE_BAD, "%s", close ? "verified" : "FAILED");
	fprintf(terminal->out, "  %s logits of %zu tokens beside a double-precision pass:\n          ",
	        format_count(speech->conversation.logit_rows * (uint64_t)speech->model->vocabulary, logits),
	        speech->conversation.logit_rows);
	fprintf(terminal->out, "error %.2g at most, tolerance %.0e\n", speech->logits_error, LOGIT_TOLERANCE);
	if (speech->has_counts && !speech->counts_equal)
		terminal_print(terminal, STYLE_BAD, "FAILED  what was counted is not what the closed forms say\n");
	if (speech->hazards)
		terminal_print(
			terminal, STYLE_BAD, "FAILED  the simulated device reported %llu error%s\n", speech->hazards,
			speech->hazards == 1 ? "" : "s");
}

/* A token's share, in bytes; "" for nothing. */
static const char *share(uint64_t bytes, size_t tokens, char text[32])
{
	text[0] = '\0';
	return bytes ? format_bytes((double)bytes / (double)tokens, text) : text;
}

static void print_moved(const struct terminal *terminal, const struct speech *speech, enum phase phase, size_t tokens)
{
	struct table table = table_new("lrrrrr");
	table_row(&table, STYLE_BOLD, "kernel|weights|keys, values|activations|closed form|counted");
	struct moved sum = {0};
	for (int kind = 0; kind < KINDS; kind++) {
		struct moved model = speech->model_moved[phase][kind];
		char texts[5][32];
		bool counted = speech->has_counts && speech_runs(speech, (enum kind)kind);
		if (!moved_sum(model))
			continue;
		table_row(
			&table, STYLE_PLAIN, "%s|%s|%s|%s|%s|%s", kind_names[kind],
			share(model.weights, tokens, texts[0]), share(model.kv, tokens, texts[1]),
			share(model.activations, tokens, texts[2]), share(moved_sum(model), tokens, texts[3]),
			counted ? share(moved_sum(speech->counted[phase][kind]), tokens, texts[4]) : "-");
		sum.weights += model.weights;
		sum.kv += model.kv;
		sum.activations += model.activations;
	}
	char texts[4][32];
	table_row(
		&table, STYLE_BOLD, "sum|%s|%s|%s|%s|", share(sum.weights, tokens, texts[0]),
		share(sum.kv, tokens, texts[1]), share(sum.activations, tokens, texts[2]),
		share(moved_sum(sum), tokens, texts[3]));
	table_print(&table, terminal);
}

/* The cache grows with every token: at some n it is what the weights are, and what attention asks for is that long before. */
static void print_takeover(const struct terminal *terminal, const struct speech *speech)
{
	const struct language_model *model = speech->model;
	uint64_t group = (uint64_t)(model->heads / model->kv_heads), weights = language_model_weight_bytes(model);
	uint64_t a_token =
		2 * sizeof(float) * (uint64_t)model->layers * (uint64_t)(model->kv_heads * model->head_dim);
	char cache[32], stored[32], equal[32], asked[32], context[32];
	fprintf(terminal->out,
	        "\nThe cache grows by %s bytes per token: at n = %s it is as large as the\n"
	        "weights, %s as stored. %d heads on %d ask for each of its bytes %llu times, so\n"
	        "from n = %s on attention asks for more than that. The context ends at %s.\n",
	        format_count(a_token, cache), format_count(ceil_div(weights, a_token), equal),
	        format_bytes((double)weights, stored), model->heads, model->kv_heads, (unsigned long long)group,
	        format_count(ceil_div(weights, group * a_token), asked),
	        format_count((uint64_t)model->context, context));
}

/* Never what has just been run. */
static const char *next_of(const struct speech *speech)
{
	if (speech->verified && speech->tiny)
		return speech->options->model ? "a model that makes sense: make model, then the same without --model"
		                              : "a model that makes sense: make model, then the same again";
	if (speech->verified && speech->heads == HEADS_STRIDED)
		return "what copies of the heads cost: the same with --kernel permuted";
	if (speech->verified && !speech->options->count_all)
		return "every kernel counted, 4 tokens: the same with --count-all";
	if (speech->verified)
		return "one token at a time, on every SM: cd ../08_decode && make";
	return "the kernels one by one, ./transformer --causal";
}

void speech_print(const struct terminal *terminal, const struct speech *speech)
{
	fputc('\n', terminal->out);
	print_logits(terminal, speech);
	size_t decoded = conversation_decoded(&speech->conversation);
	if (decoded > 0) {
		terminal_print(terminal, STYLE_BOLD, "\nMemory asked for a decoded token");
		fprintf(terminal->out, ", %zu tokens after a prompt of %zu\n\n", decoded,
		        speech->conversation.prompt.count);
		print_moved(terminal, speech, PHASE_ANSWER, decoded);
	}
	if (speech->options->verbose || decoded == 0) {
		terminal_print(terminal, STYLE_BOLD, "\nMemory asked for a token of the prompt\n\n");
		print_moved(terminal, speech, PHASE_PROMPT, speech->conversation.prompt.count);
	}
	print_takeover(terminal, speech);
	fprintf(terminal->out, "\nNext: %s\n", next_of(speech));
}

void speech_print_quiet(const struct terminal *terminal, const struct speech *speech)
{
	fprintf(terminal->out, "%s  ", speech->heads == HEADS_STRIDED ? "strided" : "permuted");
	terminal_print(
		terminal, speech->verified ? STYLE_GOOD : STYLE_BAD, "%s", speech->verified ? "verified" : "FAILED");
	fprintf(terminal->out, "  logits: error %.2g at most, tolerance %.0e\n", speech->logits_error,
	        LOGIT_TOLERANCE);
}

/* ---- JSON ---- */

static void write_moved(struct json *json, const char *key, struct moved moved)
{
	json_open_object(json, key);
	json_count(json, "weights_bytes", moved.weights);
	json_count(json, "kv_bytes", moved.kv);
	json_count(json, "activations_bytes", moved.activations);
	json_count(json, "bytes", moved_sum(moved));
	json_close_object(json);
}

static void write_phase(struct json *json, const char *key, const struct speech *speech, enum phase phase)
{
	json_open_array(json, key);
	for (int kind = 0; kind < KINDS; kind++) {
		if (!moved_sum(speech->model_moved[phase][kind]))
			continue;
		json_open_object(json, NULL);
		json_string(json, "kernel", kind_names[kind]);
		write_moved(json, "model", speech->model_moved[phase][kind]);
		if (speech->has_counts && speech_runs(speech, (enum kind)kind))
			write_moved(json, "counted", speech->counted[phase][kind]);
		json_close_object(json);
	}
	json_close_array(json);
}

void speech_write_json(FILE *out, const struct speech *speech)
{
	struct json json = json_to(out);
	json_open_object(&json, NULL);
	json_string(&json, "chapter", speech->chapter->name);
	json_string(&json, "device", speech->device->simulated ? "sim" : "cuda");
	json_string(&json, "gpu", speech->device->name);
	json_string(&json, "model", speech->model->title);
	json_bool(&json, "tiny", speech->tiny);
	json_string(&json, "heads", speech->heads == HEADS_STRIDED ? "strided" : "permuted");
	json_bool(&json, "all_kernels", speech->all_kernels);
	json_string(&json, "prompt", speech->options->prompt);
	json_count(&json, "prompt_tokens", speech->conversation.prompt.count);
	json_open_array(&json, "tokens");
	for (size_t i = 0; i < speech->conversation.answer.count; i++)
		json_count(&json, NULL, (uint64_t)speech->conversation.answer.ids[i]);
	json_close_array(&json);
	json_string(&json, "text", speech->conversation.text ? speech->conversation.text : "");
	json_bool(&json, "ended", speech->conversation.ended);
	json_bool(&json, "verified", speech->verified);
	json_number(&json, "logits_error", speech->logits_error);
	json_number(&json, "logits_tolerance", LOGIT_TOLERANCE);
	json_count(&json, "logit_rows", speech->conversation.logit_rows);
	json_count(&json, "weights_bytes", language_model_weight_bytes(speech->model));
	json_open_object(&json, "moved"); /* sums over the prompt's tokens, over the answer's */
	write_phase(&json, "prompt", speech, PHASE_PROMPT);
	write_phase(&json, "answer", speech, PHASE_ANSWER);
	json_close_object(&json);
	json_close_object(&json);
	fputc('\n', out);
}
