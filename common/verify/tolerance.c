#include "verify/tolerance.h"

#include <math.h>

static double summing(const struct tolerance_terms *terms)
{
	double n = (double)terms->seq;
	return terms->random_walk && terms->seq > 1024 ? 2.0 * sqrt(n) : n / 2.0;
}

double dot_and_bound(const float *q, const float *k, size_t d, double *bound)
{
	double sum = 0.0, magnitudes = 0.0, partial_sums = 0.0;
	for (size_t c = 0; c < d; c++) {
		double product = (double)q[c] * (double)k[c];
		sum += product;
		magnitudes += fabs(product);
		partial_sums += fabs(sum);
	}
	*bound = 8.0 * magnitudes + partial_sums / 2.0;
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

double tolerance_of_score_gradient(const struct tolerance_terms *terms, double weight, double products, double values)
{
	double factor = 8.0 + summing(terms) + (double)terms->dim / 2.0;
	return TOLERANCE_EPS * weight * (factor * products + terms->score_bound * values) + TOLERANCE_ETA * products;
}
