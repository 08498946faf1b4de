#include "model/conversation.h"

#include "support/number.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

/* Room for the prompt and the answer, as far as the model's context goes. */
static int size_conversation(struct conversation *conversation, size_t most_tokens, struct error *error)
{
	size_t context = (size_t)conversation->model->context, prompt = conversation->prompt.count;
	if (prompt >= context)
		return error_set(
			error, EXIT_USAGE, "--prompt: %zu tokens, expected fewer than the model's context of %zu",
			prompt, context);
	/* The last token of an answer is chosen and not run. */
	conversation->most_tokens = smaller(most_tokens, context - prompt + 1);
	conversation->capacity = prompt + conversation->most_tokens - 1;
	conversation->most_rows = smaller(prompt, CONVERSATION_ROWS);
	size_t vocabulary = (size_t)conversation->model->vocabulary;
	conversation->logits = calloc(conversation->most_tokens, vocabulary * sizeof(float));
	if (!conversation->logits)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the logits");
	return 0;
}

int conversation_begin(
	const struct language_model *model, const struct question *question, struct conversation *conversation,
	struct error *error)
{
	*conversation = (struct conversation){.model = model};
	if (sampler_make(
		    question->temperature, question->top_p, question->seed, (size_t)model->vocabulary,
		    &conversation->sampler, error) != 0 ||
	    chat_prompt(model->tokenizer, NULL, question->prompt, &conversation->prompt, error) != 0 ||
	    size_conversation(conversation, question->most_tokens, error) != 0)
		return error->exit_code;
	return 0;
}

void conversation_end(struct conversation *conversation)
{
	sampler_free(conversation->sampler);
	tokens_free(&conversation->prompt);
	tokens_free(&conversation->answer);
	free(conversation->logits);
	free(conversation->text);
}

/* Runs tokens; the logits are kept behind those before. */
static int run_tokens(
	struct conversation *conversation, enum phase phase, const int *ids, size_t count, double *row,
	struct error *error)
{
	size_t vocabulary = (size_t)conversation->model->vocabulary;
	if (conversation->run(conversation->context, phase, ids, count, row, error) != 0)
		return error->exit_code;
	for (size_t i = 0; i < vocabulary; i++)
		conversation->logits[conversation->logit_rows * vocabulary + i] = (float)row[i]; /* they were fp32 */
	conversation->logit_rows++;
	return 0;
}

/* A model may say any byte: what would move a terminal's cursor or ring its bell is not passed on, U+0000 to U+001F and
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

static int add_token(struct conversation *conversation, int id, struct error *error)
{
	size_t length;
	const char *bytes = tokenizer_bytes(conversation->model->tokenizer, id, &length);
	char *text = realloc(conversation->text, conversation->text_length + length + 1);
	if (!text)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the answer");
	memcpy(text + conversation->text_length, bytes, length);
	conversation->text = text;
	conversation->text_length += length;
	text[conversation->text_length] = '\0';
	size_t first = conversation->text_length - length;
	unsigned char before = first > 0 ? (unsigned char)text[first - 1] : 0;
	if (conversation->out && write_text(conversation->out, bytes, length, before, error) != 0)
		return error->exit_code;
	return tokens_append(&conversation->answer, id, error);
}

static int add_answer(struct conversation *conversation, double *row, struct error *error)
{
	const struct tokens *prompt = &conversation->prompt;
	size_t vocabulary = (size_t)conversation->model->vocabulary;
	int status = run_tokens(conversation, PHASE_PROMPT, prompt->ids, prompt->count, row, error);
	while (!status) {
		int id;
		const float *logits = conversation->logits + (conversation->logit_rows - 1) * vocabulary;
		if (sampler_pick(conversation->sampler, logits, &id, error) != 0)
			return error->exit_code;
		if (language_model_ends(conversation->model, id)) {
			conversation->ended = true;
			return 0;
		}
		if (add_token(conversation, id, error) != 0)
			return error->exit_code;
		if (conversation->answer.count == conversation->most_tokens)
			return 0;
		status = run_tokens(conversation, PHASE_ANSWER, &id, 1, row, error);
	}
	return status;
}

int conversation_answer(struct conversation *conversation, struct error *error)
{
	double *row = calloc((size_t)conversation->model->vocabulary, sizeof *row);
	int status = row ? add_answer(conversation, row, error)
	                 : error_set(error, EXIT_ENVIRONMENT, "out of memory for the logits");
	free(row);
	return status;
}

size_t conversation_decoded(const struct conversation *conversation)
{
	return conversation->answer.count - !conversation->ended;
}

double conversation_logits_error(
	const struct conversation *conversation, size_t row, const double *expected, double largest)
{
	size_t vocabulary = (size_t)conversation->model->vocabulary;
	for (size_t i = 0; i < vocabulary; i++) {
		double difference = fabs((double)conversation->logits[row * vocabulary + i] - expected[i]);
		largest = isnan(largest) || difference <= largest ? largest : difference;
	}
	return largest;
}
