/*
 * Chapter 08 with --prompt: a language model answers through one of the chapter's kernels and a cache. Then the whole text goes
 * through a pass in double precision at once, without a cache: every logit is compared, and which token each row would have
 * chosen.
 */
#ifndef SPEAK_H
#define SPEAK_H

#include "decode_pass.h"

#include "measure/counts.h"
#include "model/conversation.h"
#include "report/table.h"

/* Bytes that attention asks global memory for. */
struct asked {
	uint64_t cache, table, others; /* keys and values; words of the page table; Q, O and partials */
};

struct speech {
	const struct chapter *chapter;
	const struct options *options;
	const struct device *device;
	const struct language_model *model;
	bool tiny; /* the model is the committed one: it speaks nonsense */
	struct cache_shape cache;
	struct conversation conversation;
	double logits_error; /* the largest of all; NaN if one is none */
	size_t same_ids;     /* tokens that are the ones a pass without a cache would have chosen */
	struct asked counted[PHASES];
	uint64_t expected[PHASES]; /* bytes, from closed forms */
	bool has_counts, verified;
	double seconds; /* of the decoded tokens; 0: they were counted, which takes its time */
	unsigned long long hazards;
};

uint64_t asked_sum(struct asked asked);

/* As struct chapter wants it. EXIT_USAGE with an option of the kernels' own shapes. */
int speak(
	const struct chapter *chapter, const struct options *options, const struct device *device,
	const struct terminal *terminal, struct error *error);

/* speech.c: above the text, below it, --quiet and --json. */
void speech_print_head(const struct terminal *terminal, const struct speech *speech);
void speech_print(const struct terminal *terminal, const struct speech *speech);
void speech_print_quiet(const struct terminal *terminal, const struct speech *speech);
void speech_write_json(FILE *out, const struct speech *speech);

#endif
