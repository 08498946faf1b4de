/*
 * A conversation with a language model: a prompt, and an answer token by token, each chosen by logits that are kept, so that
 * they can be compared afterwards. Who runs the forward pass, and what is counted meanwhile, is the caller's.
 */
#ifndef MODEL_CONVERSATION_H
#define MODEL_CONVERSATION_H

#include "model/forward.h"
#include "model/sampler.h"

#include <stdio.h>

/* The largest difference a logit may have from the pass in double precision: ten times what three prompts of 80 tokens of
 * SmolLM2-135M showed (1.03e-4). No bound of the roundings of 30 layers says anything. */
#define LOGIT_TOLERANCE 1e-3

/* Rows of a call: what a prompt is cut into. */
enum { CONVERSATION_ROWS = 128 };

enum phase { PHASE_PROMPT, PHASE_ANSWER, PHASES };

/* What is asked. */
struct question {
	const char *prompt;
	size_t most_tokens; /* of the answer */
	double temperature, top_p;
	uint64_t seed;
};

struct conversation {
	const struct language_model *model;
	struct tokens prompt, answer; /* the prompt: the conversation up to the answer */
	char *text;                   /* the answer, ends with a zero; NULL: it is empty */
	size_t text_length;
	bool ended;                              /* by a token that ends an answer, not by most_tokens */
	size_t most_tokens, capacity, most_rows; /* tokens there is room for; rows of a call of pass_run at most */
	float *logits;                           /* [logit_rows, vocabulary], of each token that was chosen, */
	size_t logit_rows;                       /* the one that ended the answer, too */
	FILE *out;                               /* where the answer goes as it comes; NULL: nowhere */
	struct sampler *sampler;

	/* Runs tokens after those before; `logits` [vocabulary] are to be those after the last one. */
	int (*run)(
		void *context, enum phase phase, const int *ids, size_t count, double *logits, struct error *error);
	void *context;
};

/* Tokens of the prompt, room for the logits, the sampler. The caller sets out, run and context; conversation_end frees all,
 * after an error too. EXIT_USAGE for a prompt that cannot be said, or is longer than the model's context. */
int conversation_begin(
	const struct language_model *model, const struct question *question, struct conversation *conversation,
	struct error *error);

/* Runs the prompt, then the answer. */
int conversation_answer(struct conversation *conversation, struct error *error);

/* The tokens of the answer that were run: not the last one, unless another ended the answer. */
size_t conversation_decoded(const struct conversation *conversation);

/* The larger of `largest` and the differences of the logits that token `row` was chosen by; NaN, once there is one. */
double conversation_logits_error(
	const struct conversation *conversation, size_t row, const double *expected, double largest);

void conversation_end(struct conversation *conversation);

#endif
