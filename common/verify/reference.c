#include "verify/reference.h"

#include "support/parallel.h"

#include <math.h>
#include <stdlib.h>

size_t first_key_row(const struct attention_inputs *in, size_t query_row)
{
	size_t group = in->modifiers.kv_heads ? in->heads / in->modifiers.kv_heads : 1;
	return query_row / in->seq / group * in->seq;
}

/* NULL without sinks. */
static const float *sink_of(const struct attention_inputs *in, size_t query_row)
{
	return in->modifiers.sink ? &in->modifiers.sink[query_row / in->seq % in->heads] : NULL;
}

static const struct score_rules *rules_of(const struct attention_inputs *in)
{
	return in->modifiers.problem ? in->modifiers.problem->rules : NULL;
}

/* A row's head, counted over the heads of all sequences. */
static size_t head_of_sequence(const struct attention_inputs *in, size_t query_row, struct sequence sequence)
{
	return query_row / in->seq + sequence.index * in->heads;
}

struct query_scores compute_scores(
	const struct attention_inputs *in, size_t query_row, double *scores, double *slopes)
{
	const struct modifiers *modifiers = &in->modifiers;
	const struct score_rules *rules = rules_of(in);
	size_t d = in->dim, token = query_row % in->seq;
	struct sequence sequence = sequence_of_token(&modifiers->packing, in->seq, token);
	size_t head = head_of_sequence(in, query_row, sequence);
	const float *q = in->q + query_row * d, *k = in->k + first_key_row(in, query_row) * d, *sink;
	double scale = in->scale, cap = modifiers->softcap <= LARGEST_ROUNDED_CAP ? modifiers->softcap : 0.0;
	struct query_scores query = {
		.sequence = sequence,
		.keys = keys_of_query(modifiers->window, in->causal, sequence.length, token - sequence.first),
		.max = -INFINITY,
		.terms = {.seq = sequence.length, .dim = d, .random_walk = in->random_walk}};

	query.keys.first += sequence.first;
	query.keys.end += sequence.first;
	for (size_t j = query.keys.first; j < query.keys.end; j++) {
		double bound, variance, dot = dot_and_bound(q, k + j * d, d, &bound, &variance);
		double bias =
			rules ? rules->bias(modifiers->problem, head, token - sequence.first, j - sequence.first)
			      : 0.0;
		scores[j] = soft_cap(modifiers->softcap, scale * dot) - bias;
		if (slopes)
			slopes[j] = soft_cap_slope(modifiers->softcap, scale * dot);
		query.max = fmax(query.max, scores[j]);
		query.terms.score_bound = fmax(query.terms.score_bound, fabs(scale) * bound + 8.0 * bias + 4.0 * cap);
		variance = scale * scale * (variance + 8.0 * dot * dot) + 8.0 * (bias * bias + cap * cap);
		query.terms.score_variance = fmax(query.terms.score_variance, variance);
	}
	if ((sink = sink_of(in, query_row))) {
		/* A sink far below the scores has no weight, and its roundings have none either. */
		double weight = exp(fmin(0.0, (double)*sink - query.max));
		query.max = fmax(query.max, (double)*sink);
		query.terms.score_bound = fmax(query.terms.score_bound, 8.0 * fabs((double)*sink) * weight);
		query.terms.score_variance = fmax(query.terms.score_variance, 8.0 * pow((double)*sink * weight, 2.0));
	}
	return query;
}

double factor_of_weight(
	const struct attention_inputs *in, size_t query_row, const struct query_scores *query, size_t key)
{
	const struct score_rules *rules = rules_of(in);
	size_t head = head_of_sequence(in, query_row, query->sequence), first = query->sequence.first;
	return rules ? rules->factor(in->modifiers.problem, head, query_row % in->seq - first, key - first) : 1.0;
}

void exponentiate_scores(
	const struct attention_inputs *in, size_t query_row, double *scores, struct query_scores *query)
{
	const float *sink = sink_of(in, query_row);
	query->sum = sink ? exp((double)*sink - query->max) : 0.0;
	for (size_t j = query->keys.first; j < query->keys.end; j++)
		query->sum += scores[j] = exp(scores[j] - query->max);
}

/* Row `row` of the problem becomes row r of the reference. `scores` is scratch of N doubles. */
static void compute_row(
	const struct attention_inputs *in, size_t row, double *scores, const struct attention_reference *reference,
	size_t r)
{
	size_t d = in->dim;
	const float *v = in->v + first_key_row(in, row) * d; /* [N, d] */
	double *o = reference->o + r * d, *o_tolerance = reference->o_tolerance + r * d;
	struct query_scores query = compute_scores(in, row, scores, NULL);
	exponentiate_scores(in, row, scores, &query);

	double factor = tolerance_factor(&query.terms), spread = variance_factor(&query.terms), variance = 0.0;
	reference->lse[r] = query.max + log(query.sum);
	reference->lse_tolerance[r] = TOLERANCE_EPS * factor;
	for (size_t j = query.keys.first; j < query.keys.end; j++) {
		double weight = scores[j] / query.sum, kept = factor_of_weight(in, row, &query, j);
		double tolerance = kept * tolerance_of_weight(factor, weight);
		double squared = kept * kept * (spread * weight * weight + flushed_variance(&query.terms));
		for (size_t c = 0; c < d; c++) {
			double value = v[j * d + c];
			o[c] += kept * weight * value;
			o_tolerance[c] += tolerance * fabs(value);
			variance += squared * value * value;
		}
	}
	for (size_t c = 0; c < d; c++)
		variance += spread * o[c] * o[c];
	reference->o_row[r] = row_bound(variance);
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
		.o_row = calloc(row_count, sizeof(double)),
	};
	struct computation all = {.in = inputs, .rows = rows, .row_count = row_count, .reference = reference};
	bool allocated = reference->o && reference->o_tolerance && reference->lse && reference->lse_tolerance &&
	                 reference->o_row;
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
	free(reference->o_row);
	*reference = (struct attention_reference){0};
}
