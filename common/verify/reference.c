#include "verify/reference.h"

#include "support/parallel.h"
#include "verify/tolerance.h"

#include <math.h>
#include <stdlib.h>

/* Row `row` of the problem becomes row r of the reference. `scores` is scratch of N doubles. */
static void compute_row(
	const struct attention_inputs *in, size_t row, double *scores, const struct attention_reference *reference,
	size_t r)
{
	size_t head = row / in->seq, i = row % in->seq, d = in->dim;
	size_t visible = in->causal ? i + 1 : in->seq;
	const float *q = in->q + row * d;            /* [d] */
	const float *k = in->k + head * in->seq * d; /* [N, d] */
	const float *v = in->v + head * in->seq * d; /* [N, d] */
	double *o = reference->o + r * d, *o_tolerance = reference->o_tolerance + r * d;
	double scale = in->scale, max = -INFINITY, sum = 0.0;
	struct tolerance_terms terms = {.seq = in->seq, .dim = d, .random_walk = in->random_walk};

	for (size_t j = 0; j < visible; j++) {
		if (variant_hides(in->variant, i, j)) {
			scores[j] = -INFINITY;
			continue;
		}
		double bound, dot = dot_and_bound(q, k + j * d, d, &bound);
		scores[j] = variant_cap(in->variant, scale * dot);
		max = fmax(max, scores[j]);
		terms.score_bound = fmax(terms.score_bound, fabs(scale) * bound);
	}
	for (size_t j = 0; j < visible; j++) {
		scores[j] = exp(scores[j] - max);
		sum += scores[j];
	}

	double factor = tolerance_factor(&terms);
	reference->lse[r] = max + log(sum);
	reference->lse_tolerance[r] = TOLERANCE_EPS * factor;
	for (size_t j = 0; j < visible; j++) {
		if (variant_hides(in->variant, i, j))
			continue;
		double weight = scores[j] / sum, tolerance = tolerance_of_weight(factor, weight);
		for (size_t c = 0; c < d; c++) {
			double value = v[j * d + c];
			o[c] += weight * value;
			o_tolerance[c] += tolerance * fabs(value);
		}
	}
}

/* The parts that the rows are split into; each has its own scratch. */
enum { PARTS = 16 };

struct computation {
	const struct attention_inputs *in;
	const size_t *rows;
	size_t row_count;
	struct attention_reference *reference;
	double *scores[PARTS];
};

static void compute_part(void *context, size_t index)
{
	struct computation *all = context;
	const struct attention_reference *reference = all->reference;
	size_t end = all->row_count * (index + 1) / PARTS;
	for (size_t r = all->row_count * index / PARTS; r < end; r++)
		compute_row(all->in, all->rows ? all->rows[r] : r, all->scores[index], reference, r);
}

bool attention_reference_compute(
	const struct attention_inputs *inputs, const size_t *rows, size_t row_count,
	struct attention_reference *reference)
{
	size_t all_rows = inputs->batch * inputs->heads * inputs->seq, d = inputs->dim;
	if (!rows)
		row_count = all_rows;
	*reference = (struct attention_reference){
		.o = calloc(row_count * d, sizeof(double)),
		.o_tolerance = calloc(row_count * d, sizeof(double)),
		.lse = calloc(row_count, sizeof(double)),
		.lse_tolerance = calloc(row_count, sizeof(double)),
	};
	struct computation all = {.in = inputs, .rows = rows, .row_count = row_count, .reference = reference};
	bool allocated = reference->o && reference->o_tolerance && reference->lse && reference->lse_tolerance;
	for (size_t i = 0; i < PARTS; i++)
		allocated = (all.scores[i] = calloc(inputs->seq, sizeof(double))) && allocated;
	if (allocated)
		parallel_run(PARTS, compute_part, &all);
	else
		attention_reference_free(reference);
	for (size_t i = 0; i < PARTS; i++)
		free(all.scores[i]);
	return allocated;
}

void attention_reference_free(struct attention_reference *reference)
{
	free(reference->o);
	free(reference->o_tolerance);
	free(reference->lse);
	free(reference->lse_tolerance);
	*reference = (struct attention_reference){0};
}
