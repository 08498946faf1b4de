#include "verify/tolerance.h"

#include <math.h>

enum { MAX_DIM = 128 };

static double summing(const struct tolerance_terms *terms)
{
	double n = (double)terms->seq;
	return terms->random_walk && terms->seq > 1024 ? 2.0 * sqrt(n) : n / 2.0;
}

double dot_and_bound(const float *q, const float *k, size_t d, double *bound, double *variance)
{
	double sums[MAX_DIM], two[2] = {0.0}, four[4] = {0.0}, sum = 0.0, magnitudes = 0.0;
	double forwards = 0.0, backwards = 0.0, by_two = 0.0, by_four = 0.0;
	*variance = 0.0;
	for (size_t c = 0; c < d; c++) {
		double product = (double)q[c] * (double)k[c];
		sums[c] = sum;
		sum += product;
		magnitudes += fabs(product);
		forwards += fabs(sum);
		*variance += product * product;
		by_two += fabs(two[c % 2] += product);
		by_four += fabs(four[c % 4] += product);
	}
	for (size_t c = 0; c < d; c++)
		backwards += fabs(sum - sums[c]);
	double partial_sums = fmax(fmax(forwards, backwards), fmax(by_two, by_four));
	*bound = 8.0 * magnitudes + partial_sums / 2.0;
	*variance += pow(partial_sums / 4.0, 2.0);
	return sum;
}

double tolerance_factor(const struct tolerance_terms *terms)
{
	return 8.0 + summing(terms) + terms->score_bound;
}

double tolerance_of_weight(double factor, double weight)
{
	return TOLERANCE_EPS * factor * weight + TOLERANCE_ETA;
}

double variance_factor(const struct tolerance_terms *terms)
{
	return 16.0 + (double)terms->seq + terms->score_variance;
}

double flushed_variance(const struct tolerance_terms *terms)
{
	const double eta = TOLERANCE_ETA / TOLERANCE_EPS;
	return (double)terms->seq * eta * eta;
}

double row_bound(double variance)
{
	return 2.0 * TOLERANCE_EPS * sqrt(variance);
}

double tolerance_of_score_gradient(const struct tolerance_terms *terms, double weight, double products, double values)
{
	double factor = 8.0 + summing(terms) + (double)terms->dim / 2.0;
	return TOLERANCE_EPS * weight * (factor * products + terms->score_bound * values) +
	       TOLERANCE_ETA * (1.0 + products);
}
