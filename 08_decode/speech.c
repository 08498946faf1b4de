#include "speak.h"

#include "report/json.h"
#include "support/number.h"

/* ---- for people ---- */

void speech_print_head(const struct terminal *terminal, const struct speech *speech)
{
	const struct language_model *model = speech->model;
	const struct cache_shape *cache = &speech->cache;
	char weights[32];
	terminal_print(terminal, STYLE_BOLD, "%s", speech->chapter->name);
	fprintf(terminal->out, "  %.60s: %d layers, %d heads on %d, C = %d, %s\n", model->title, model->layers,
	        model->heads, model->kv_heads, model->width,
	        format_bytes((double)language_model_weight_bytes(model), weights));
	fprintf(terminal->out, "%s:\nattention is %s", speech->device->title, way_names[cache->way]);
	if (cache->way >= WAY_SPLIT)
		fprintf(terminal->out, ", S = %zu", cache->splits);
	if (cache->way == WAY_PAGED)
		fprintf(terminal->out, ", pages of %zu tokens", cache->page);
	fprintf(terminal->out, "; the rest is plain C\n");
	if (speech->tiny)
		fprintf(terminal->out,
		        "A tiny model of random weights: what it says means nothing. `make model` brings one\n"
		        "that speaks.\n");
	terminal_print(terminal, STYLE_BOLD, "\n> %s\n", speech->options->prompt);
}

static void print_verdict(const struct terminal *terminal, const struct speech *speech)
{
	const struct conversation *said = &speech->conversation;
	char logits[32];
	bool close = speech->logits_error <= LOGIT_TOLERANCE;
	terminal_print(terminal, close ? STYLE_GOOD : STYLE_BAD, "%s", close ? "verified" : "FAILED  ");
	fprintf(terminal->out, "  %s logits of %zu tokens beside a double-precision pass\n",
	        format_count(said->logit_rows * (uint64_t)speech->model->vocabulary, logits), said->logit_rows);
	fprintf(terminal->out,
	        "          without a cache: error %.2g at most, tolerance %.0e;\n"
	        "          %zu of %zu tokens are the likeliest of that pass\n",
	        speech->logits_error, LOGIT_TOLERANCE, speech->same_ids, said->logit_rows);
	for (int phase = 0; phase < PHASES && speech->has_counts; phase++)
		if (asked_sum(speech->counted[phase]) != speech->expected[phase]) {
			terminal_print(
				terminal, STYLE_BAD, "FAILED    what was counted is not what the closed forms say\n");
			break;
		}
	if (speech->hazards)
		terminal_print(
			terminal, STYLE_BAD, "FAILED    the simulated device reported %llu error%s\n",
			speech->hazards, speech->hazards == 1 ? "" : "s");
}

static void print_bytes(struct table *table, const char *what, uint64_t bytes, size_t tokens)
{
	char text[32];
	if (bytes)
		table_row(table, STYLE_PLAIN, "%s|%s", what, format_bytes((double)bytes / (double)tokens, text));
}

/* The mean of the decoded tokens. On a GPU, and in the plain build, only the closed form is known. */
static void print_token(const struct terminal *terminal, const struct speech *speech, size_t decoded)
{
	struct asked counted = speech->counted[PHASE_ANSWER];
	struct table table = table_new("lr");
	char bytes[32];
	terminal_print(terminal, STYLE_BOLD, "\nBytes asked for a decoded token");
	fprintf(terminal->out, ", the mean of %zu after a prompt of %zu\n\n", decoded,
	        speech->conversation.prompt.count);
	print_bytes(&table, "keys and values", counted.cache, decoded);
	print_bytes(&table, "Q, O and partials", counted.others, decoded);
	print_bytes(&table, "words of the page table", counted.table, decoded);
	print_bytes(&table, "attention, closed form", speech->expected[PHASE_ANSWER], decoded);
	if (speech->has_counts)
		print_bytes(&table, "attention, counted", asked_sum(counted), decoded);
	table_row(
		&table, STYLE_PLAIN, "weights, as stored|%s",
		format_bytes((double)language_model_weight_bytes(speech->model), bytes));
	table_print(&table, terminal);
	if (speech->seconds > 0.0)
		fprintf(terminal->out, "\n%.3g tokens per second: %s\n", (double)decoded / speech->seconds,
		        speech->device->simulated ? "a CPU, plain build, nothing counted"
		                                  : "attention on the GPU, the rest and the copies on the CPU");
}

/* Never what has just been run. */
static const char *next_of(const struct speech *speech)
{
	if (speech->verified && speech->tiny)
		return "a model that makes sense: make model, then the same again";
	if (speech->verified && speech->cache.way == WAY_PAGED && speech->has_counts)
		return "no pages and no splits: the same with --kernel decode_naive";
	if (speech->verified && speech->has_counts)
		return "tokens per second: make fast, then the same of ./decode.fast";
	return "the kernels one by one, ./decode";
}

void speech_print(const struct terminal *terminal, const struct speech *speech)
{
	size_t decoded = conversation_decoded(&speech->conversation);
	fputc('\n', terminal->out);
	print_verdict(terminal, speech);
	if (decoded)
		print_token(terminal, speech, decoded);
	fprintf(terminal->out, "\nNext: %s\n", next_of(speech));
}

void speech_print_quiet(const struct terminal *terminal, const struct speech *speech)
{
	fprintf(terminal->out, "%s  ", way_names[speech->cache.way]);
	terminal_print(
		terminal, speech->verified ? STYLE_GOOD : STYLE_BAD, "%s", speech->verified ? "verified" : "FAILED");
	fprintf(terminal->out, "  logits: error %.2g at most, tolerance %.0e\n", speech->logits_error,
	        LOGIT_TOLERANCE);
}

/* ---- JSON ---- */

static void write_phase(struct json *json, const char *key, const struct speech *speech, enum phase phase)
{
	struct asked counted = speech->counted[phase];
	json_open_object(json, key);
	json_count(json, "model_bytes", speech->expected[phase]);
	if (speech->has_counts) {
		json_count(json, "counted_bytes", asked_sum(counted));
		json_count(json, "kv_bytes", counted.cache);
		json_count(json, "table_bytes", counted.table);
	}
	json_close_object(json);
}

void speech_write_json(FILE *out, const struct speech *speech)
{
	const struct conversation *said = &speech->conversation;
	struct json json = json_to(out);
	json_open_object(&json, NULL);
	json_string(&json, "chapter", speech->chapter->name);
	json_string(&json, "device", speech->device->simulated ? "sim" : "cuda");
	json_string(&json, "gpu", speech->device->name);
	json_string(&json, "model", speech->model->title);
	json_bool(&json, "tiny", speech->tiny);
	json_string(&json, "kernel", way_names[speech->cache.way]);
	json_count(&json, "splits", speech->cache.splits);
	json_count(&json, "page", speech->cache.page);
	json_string(&json, "prompt", speech->options->prompt);
	json_count(&json, "prompt_tokens", said->prompt.count);
	json_open_array(&json, "tokens");
	for (size_t i = 0; i < said->answer.count; i++)
		json_count(&json, NULL, (uint64_t)said->answer.ids[i]);
	json_close_array(&json);
	json_string(&json, "text", said->text ? said->text : "");
	json_bool(&json, "ended", said->ended);
	json_bool(&json, "verified", speech->verified);
	json_number(&json, "logits_error", speech->logits_error);
	json_number(&json, "logits_tolerance", LOGIT_TOLERANCE);
	json_count(&json, "logit_rows", said->logit_rows);
	json_count(&json, "same_ids", speech->same_ids);
	json_count(&json, "weights_bytes", language_model_weight_bytes(speech->model));
	if (speech->seconds > 0.0)
		json_number(&json, "tokens_per_s", (double)conversation_decoded(said) / speech->seconds);
	json_open_object(&json, "asked"); /* of attention: sums over the prompt's tokens, over the answer's */
	write_phase(&json, "prompt", speech, PHASE_PROMPT);
	write_phase(&json, "answer", speech, PHASE_ANSWER);
	json_close_object(&json);
	json_close_object(&json);
	fputc('\n', out);
}
