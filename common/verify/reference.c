#include "verify/reference.h"

#include "support/parallel.h"

#include <math.h>
#include <stdlib.h>

/* One row of attention: output o[d], the logsumexp, and the row's part of A. scores is scratch of N doubles. */
static void compute_row(const struct attention_inputs *in, size_t row, double *scores, double *o, double *lse,
                        double *score_bound)
{
	size_t head = row / in->seq, i = row % in->seq, d = in->dim;
	size_t visible = in->causal ? i + 1 : in->seq;
	const float *q = in->q + row * d;            /* [d] */
	const float *k = in->k + head * in->seq * d; /* [N, d] */
	const float *v = in->v + head * in->seq * d; /* [N, d] */
	double scale = in->scale;

	double max = -INFINITY;
	for (size_t j = 0; j < visible; j++) {
		if (variant_hides(in->variant, i, j)) {
			scores[j] = -INFINITY;
			continue;
		}
		double dot = 0.0, magnitude = 0.0;
		for (size_t c = 0; c < d; c++) {
			double product = (double)q[c] * (double)k[j * d + c];
			dot += product;
			magnitude += fabs(product);
		}
		scores[j] = variant_cap(in->variant, scale * dot);
		max = fmax(max, scores[j]);
		*score_bound = fmax(*score_bound, fabs(scale) * magnitude);
	}

	double sum = 0.0;
	for (size_t j = 0; j < visible; j++) {
		scores[j] = exp(scores[j] - max);
		sum += scores[j];
	}
	*lse = max + log(sum);

	for (size_t c = 0; c < d; c++)
		o[c] = 0.0;
	for (size_t j = 0; j < visible; j++)
		for (size_t c = 0; c < d; c++)
			o[c] += scores[j] / sum * (double)v[j * d + c];
}

/* The parts that the rows are split into; each has its own scratch. */
enum { PARTS = 16 };

struct computation {
	const struct attention_inputs *in;
	const size_t *rows;
	size_t row_count;
	struct attention_reference *reference;
	double *scores[PARTS], score_bound[PARTS];
};

static void compute_part(void *context, size_t index)
{
	struct computation *all = context;
	struct attention_reference *reference = all->reference;
	size_t end = all->row_count * (index + 1) / PARTS;
	for (size_t r = all->row_count * index / PARTS; r < end; r++)
		compute_row(all->in, all->rows ? all->rows[r] : r, all->scores[index],
		            reference->o + r * all->in->dim, &reference->lse[r], &all->score_bound[index]);
}

bool attention_reference_compute(const struct attention_inputs *inputs, const size_t *rows, size_t row_count,
                                 struct attention_reference *reference)
{
	size_t all_rows = inputs->batch * inputs->heads * inputs->seq, d = inputs->dim;
	if (!rows)
		row_count = all_rows;
	*reference = (struct attention_reference){
		.o = calloc(row_count * d, sizeof(double)),
		.lse = calloc(row_count, sizeof(double)),
	};
	struct computation all = {.in = inputs, .rows = rows, .row_count = row_count, .reference = reference};
	bool allocated = reference->o && reference->lse;
	for (size_t i = 0; i < PARTS; i++)
		allocated = (all.scores[i] = calloc(inputs->seq, sizeof(double))) && allocated;
	if (allocated) {
		parallel_run(PARTS, compute_part, &all);
		for (size_t i = 0; i < PARTS; i++)
			reference->score_bound = fmax(reference->score_bound, all.score_bound[i]);
		for (size_t t = 0; t < all_rows * d; t++)
			reference->value_bound = fmax(reference->value_bound, fabs((double)inputs->v[t]));
	} else {
		attention_reference_free(reference);
	}
	for (size_t i = 0; i < PARTS; i++)
		free(all.scores[i]);
	return allocated;
}

void attention_reference_free(struct attention_reference *reference)
{
	free(reference->o);
	free(reference->lse);
	*reference = (struct attention_reference){0};
}
