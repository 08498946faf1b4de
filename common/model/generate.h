/*
 * A chapter's program with --prompt: a language model answers through the chapter's forward pass, token by token. Then the
 * whole text goes through a pass in double precision at once, without a cache: each logit that a token was chosen by is
 * compared, and which token that pass would have chosen. The chapter gives the forward pass (struct generator), what it
 * counted and what it says; the tokens, the estimate of the time, the comparison and the reports are one for all chapters.
 */
#ifndef MODEL_GENERATE_H
#define MODEL_GENERATE_H

#include "chapter.h"
#include "measure/counts.h"
#include "model/forward.h"
#include "report/json.h"
#include "report/table.h"

enum phase { PHASE_PROMPT, PHASE_ANSWER, PHASES };

/* What is known of a run; below `state` what the driver finds out. */
struct generation {
	const struct chapter *chapter;
	const struct options *options;
	const struct device *device;
	const struct terminal *terminal;
	const struct language_model *model;
	bool tiny;   /* the model is the committed one, of random weights */
	void *state; /* the chapter's */

	struct operations operations; /* what `begin` made */
	const char *replaced; /* "rope, swiglu": kernels of the chapter that plain C stands in for; NULL: none */
	struct tokens prompt, answer; /* the prompt: the conversation up to the answer */
	char *text;                   /* the answer, ends with a zero; NULL: it is empty */
	size_t text_length;
	bool ended;                              /* by a token that ends an answer, not by most_tokens */
	size_t most_tokens, capacity, most_rows; /* of the answer; tokens that are run; rows of a call, at most */
	float *logits;                           /* [logit_rows, vocabulary], of each token that was chosen, */
	size_t logit_rows;                       /* the one that ended the answer, too */
	double seconds;                          /* of the tokens of the answer that were run, with --time; else 0 */
	double logits_error;                     /* the largest difference of a logit; NaN if one is none */
	size_t same_ids;                         /* tokens that the pass without a cache would have chosen, too */
	float *replaced_logits;                  /* [replaced_tokens, vocabulary], of the first tokens, */
	size_t replaced_tokens;                  /* which also the replaced kernels ran; 0: they were not run */
	double replaced_error;                   /* as logits_error */
	bool has_counts, counts_equal, verified;
	unsigned long long hazards;
};

/* The chapter's part. `state` is generation->state; a NULL function has nothing to do. */
struct generator {
	uint64_t refused; /* options that the model decides, besides OPTIONS_NOT_WITH_PROMPT */
	int (*check_options)(const struct options *options, const struct device *device, struct error *error);

	/* Makes generation->operations, whose name --quiet prints, for calls of most_rows and a text of capacity tokens. */
	int (*begin)(struct generation *generation, struct error *error);

	/* Operations that are all kernels, for a text of so many tokens. NULL where `replaced` is. */
	int (*begin_all)(
		const struct generation *generation, size_t tokens, struct operations *operations,
		struct error *error);

	/* Adds what a call counted. Afterwards: is all of it what the closed forms say? */
	void (*add_counts)(struct generation *generation, enum phase phase, const struct counts *counts);
	bool (*counts_equal)(const struct generation *generation);

	/* For the estimate: the closed forms of attention to n tokens in one layer (NULL: it grows with the pairs of tokens);
	 * bytes requested of a prompt and an answer whose every kernel is counted. */
	struct closed_forms (*attention_forms)(const struct generation *generation, size_t n);
	uint64_t (*requested)(const struct generation *generation, size_t prompt, size_t answer);

	void (*describe)(const struct generation *generation, FILE *out); /* a line: what the kernels compute */
	void (*report)(const struct generation *generation);              /* tables, below the verdict */
	void (*add_json)(const struct generation *generation, struct json *json);
	const char *(*next)(const struct generation *generation); /* what to try next: never what has just been run */
};

/* Runs, reports, and returns the exit status, as struct chapter's `generate`. */
int generate(
	const struct generator *generator, void *state, const struct chapter *chapter, const struct options *options,
	const struct device *device, const struct terminal *terminal, struct error *error);

/* The tokens of the answer that were run: not the last one, unless another ended the answer. */
size_t generation_decoded(const struct generation *generation);

#endif
