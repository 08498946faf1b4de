/*
 * Chapter 07: what speak() finds out, and how it is told.
 */
#ifndef SPEECH_H
#define SPEECH_H

#include "traffic.h"

#include "chapter.h"
#include "model/conversation.h"
#include "report/table.h"

struct speech {
	const struct chapter *chapter;
	const struct options *options;
	const struct device *device;
	const struct language_model *model;
	bool tiny; /* the model is the committed one: it speaks nonsense */
	enum heads heads;
	bool all_kernels; /* not only attention */
	struct conversation conversation;
	double logits_error; /* the largest of all; NaN if one is none */
	struct moved model_moved[PHASES][KINDS], counted[PHASES][KINDS];
	bool has_counts;
	unsigned long long hazards;
	bool counts_equal, verified;
};

/* Does this kind of kernel run, so that there is something counted beside its closed form? */
bool speech_runs(const struct speech *speech, enum kind kind);

/* Above the text: the model, and the prompt. */
void speech_print_head(const struct terminal *terminal, const struct speech *speech);

/* Below the text: what was compared, and the table of one token; 80 columns. */
void speech_print(const struct terminal *terminal, const struct speech *speech);

/* One line, for --quiet. */
void speech_print_quiet(const struct terminal *terminal, const struct speech *speech);

/* The object of --json. */
void speech_write_json(FILE *out, const struct speech *speech);

#endif
