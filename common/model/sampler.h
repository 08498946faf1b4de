/*
 * Picks the next token from the logits of the model.
 *
 *   temperature 0      greedy: the largest logit, the lowest id of several
 *   temperature t > 0  p_i = exp(z_i / t) / sum_j exp(z_j / t), in double
 *   top_p < 1          only the smallest set of most probable tokens whose sum reaches top_p, renormalized (nucleus
 *                      sampling: Holtzman et al. 2020, section 3.1); of equally probable ones the lower id goes first
 *
 * The n-th pick that is not greedy draws the n-th number of the stream "sampler" of the seed (support/random.h): a
 * function of the seed and n alone, the same on every machine.
 */
#ifndef MODEL_SAMPLER_H
#define MODEL_SAMPLER_H

#include "support/error.h"

#include <stddef.h>
#include <stdint.h>

struct sampler;

/*
 * For logits [vocabulary], vocabulary >= 1. *sampler is the caller's, for sampler_free. EXIT_USAGE unless temperature
 * is finite and >= 0 and 0 < top_p <= 1.
 */
int sampler_make(
	double temperature, double top_p, uint64_t seed, size_t vocabulary, struct sampler **sampler,
	struct error *error);
void sampler_free(struct sampler *sampler);

/*
 * The next token. A logit of -inf is never picked. EXIT_VERIFICATION when a logit is NaN or +inf, or all are -inf:
 * then the kernels, or the weights, are wrong.
 */
int sampler_pick(struct sampler *sampler, const float *logits, int *id, struct error *error);

#endif
