#include "model/sampler.h"

#include "support/random.h"

#include <math.h>
#include <stdlib.h>

struct candidate {
	double weight; /* exp(z / t - max), the probability before it is normalized */
	int id;
};

struct sampler {
	double temperature, top_p;
	uint64_t start, drawn; /* of the stream; numbers of it that were used */
	size_t vocabulary;
	struct candidate candidates[]; /* [vocabulary] */
};

int sampler_make(
	double temperature, double top_p, uint64_t seed, size_t vocabulary, struct sampler **sampler,
	struct error *error)
{
	*sampler = NULL;
	if (!(temperature >= 0 && isfinite(temperature)))
		return error_set(error, EXIT_USAGE, "--temperature: %g, expected a number from 0 on", temperature);
	if (!(top_p > 0 && top_p <= 1))
		return error_set(error, EXIT_USAGE, "--top-p: %g, expected a number above 0, at most 1", top_p);
	struct sampler *made = calloc(1, sizeof *made + vocabulary * sizeof *made->candidates);
	if (!made)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the sampler");
	made->temperature = temperature;
	made->top_p = top_p;
	made->start = stream_start(seed, "sampler");
	made->vocabulary = vocabulary;
	*sampler = made;
	return 0;
}

void sampler_free(struct sampler *sampler)
{
	free(sampler);
}

/* The largest logit, the first of several; an error when there is none that means something. */
static int largest(const float *logits, size_t count, size_t *index, struct error *error)
{
	*index = 0;
	for (size_t i = 0; i < count; i++) {
		if (isnan(logits[i]) || (isinf(logits[i]) && logits[i] > 0))
			return error_set(
				error, EXIT_VERIFICATION, "logit %zu is %s, expected a number", i,
				isnan(logits[i]) ? "NaN" : "inf");
		if (logits[i] > logits[*index])
			*index = i;
	}
	if (isinf(logits[*index]))
		return error_set(error, EXIT_VERIFICATION, "all %zu logits are -inf, expected a number", count);
	return 0;
}

/* Most probable first, the lower id first of equals. */
static int compare_candidates(const void *a, const void *b)
{
	const struct candidate *first = a, *second = b;
	if (first->weight != second->weight)
		return first->weight < second->weight ? 1 : -1;
	return (first->id > second->id) - (first->id < second->id);
}

/* How many of the sorted candidates reach top_p of the sum: at least one. */
static size_t nucleus(const struct sampler *sampler, double sum)
{
	double reached = 0;
	for (size_t i = 0; i < sampler->vocabulary; i++) {
		reached += sampler->candidates[i].weight;
		if (reached >= sampler->top_p * sum)
			return i + 1;
	}
	return sampler->vocabulary;
}

static double sum_of(const struct candidate *candidates, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++)
		sum += candidates[i].weight;
	return sum;
}

int sampler_pick(struct sampler *sampler, const float *logits, int *id, struct error *error)
{
	size_t best = 0, count = sampler->vocabulary;
	if (largest(logits, count, &best, error))
		return error->exit_code;
	*id = (int)best;
	if (sampler->temperature == 0)
		return 0;

	struct candidate *candidates = sampler->candidates;
	for (size_t i = 0; i < count; i++) {
		double below = (double)logits[i] - (double)logits[best];
		candidates[i] = (struct candidate){exp(below / sampler->temperature), (int)i};
	}
	if (sampler->top_p < 1) {
		qsort(candidates, count, sizeof *candidates, compare_candidates);
		count = nucleus(sampler, sum_of(candidates, count));
	}
	double left = unit_interval(random_word(sampler->start, sampler->drawn++)) * sum_of(candidates, count);
	for (size_t i = 0; i < count; i++) {
		if (candidates[i].weight == 0)
			continue;
		*id = candidates[i].id; /* the last one, should rounding leave something */
		left -= candidates[i].weight;
		if (left < 0)
			break;
	}
	return 0;
}
