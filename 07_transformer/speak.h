/*
 * Chapter 07 with --prompt: a language model answers through the chapter's kernels, and every logit that a token was chosen
 * by is compared with those of a forward pass in double precision.
 *
 * Attention is the kernel, counted, and the rest plain C; with --count-all, in the plain build and on a GPU all are kernels.
 */
#ifndef SPEAK_H
#define SPEAK_H

#include "chapter.h"

/* As struct chapter wants it: runs, reports, returns the exit status. EXIT_USAGE with an option of the kernels' own shapes. */
int speak(
	const struct chapter *chapter, const struct options *options, const struct device *device,
	const struct terminal *terminal, struct error *error);

#endif
