#include "verify/gradients.h"

#include "support/parallel.h"
#include "verify/tolerance.h"

#include <math.h>
#include <stdlib.h>

/* What one query row needs of its head, and what it leaves for the sums over the queries. */
struct row {
	double *p, *p_tolerance; /* [N] weights, in the end after the factors, and how far they may be off; else 0 */
	double *ds, *ds_tolerance; /* [N] gradient of the scores */
	double *p_variance, *ds_variance;
	double spread, d_variance;         /* Phi^2, V(D) */
	double *slope;                     /* [N] of the score's soft-cap; 1 where there is none */
	double *kept;                      /* [N] what the chapter's rules multiply the weights by */
	double *magnitude;                 /* [d] sum_j p_j kept_j |v_jc| */
	double ds_sink, ds_sink_tolerance; /* of the sink; 0 where there is none */
	struct visible keys;
};

/* P and dS of one query, and their tolerances. */
static void compute_row(const struct attention_inputs *in, const float *d_o, size_t query, struct row *row)
{
	size_t d = in->dim;
	const float *v = in->v + first_key_row(in, query) * d, *gradient = d_o + query * d;
	double mean = 0.0, mean_magnitude = 0.0, mean_products = 0.0; /* D, and the sums of its terms in h and in g */
	double squares = 0.0, mean_squares = 0.0;                     /* sum p^2 t, sum p t */

	for (size_t j = 0; j < in->seq; j++)
		row->p[j] = row->ds[j] = row->slope[j] = row->kept[j] = row->p_tolerance[j] = row->ds_tolerance[j] =
			row->p_variance[j] = row->ds_variance[j] = 0.0;
	struct query_scores scores = compute_scores(in, query, row->p, row->slope);
	exponentiate_scores(in, query, row->p, &scores);
	row->keys = scores.keys;
	double factor = tolerance_factor(&scores.terms); /* of a weight: the cap's derivative is not in it */
	if (in->modifiers.softcap > 0.0f) {
		double steeper = 1.0 + 2.0 / (double)in->modifiers.softcap;
		scores.terms.score_bound *= steeper;
		scores.terms.score_variance *= steeper * steeper;
	}
	row->spread = variance_factor(&scores.terms);
	for (size_t c = 0; c < d; c++)
		row->magnitude[c] = 0.0;
	for (size_t j = row->keys.first; j < row->keys.end; j++) {
		row->p[j] /= scores.sum;
		row->kept[j] = factor_of_weight(in, query, &scores, j);
		for (size_t c = 0; c < d; c++) {
			double value = row->kept[j] * (double)v[j * d + c], product = (double)gradient[c] * value;
			row->ds[j] += product; /* dP */
			row->ds_tolerance[j] += fabs(product);
			row->ds_variance[j] += product * product; /* t */
			row->magnitude[c] += row->p[j] * fabs(value);
		}
		mean += row->p[j] * row->ds[j];
		mean_magnitude += row->p[j] * fabs(row->ds[j]);
		squares += row->p[j] * row->p[j] * row->ds_variance[j];
		mean_squares += row->p[j] * row->ds_variance[j];
	}
	for (size_t c = 0; c < d; c++)
		mean_products += fabs((double)gradient[c]) * row->magnitude[c];
	row->d_variance = (row->spread + (double)d) * (squares + mean * mean) + (double)d * mean_squares;
	for (size_t j = row->keys.first; j < row->keys.end; j++) {
		double weight = row->p[j] * row->p[j], flushed = flushed_variance(&scores.terms);
		double products = row->ds_tolerance[j] + mean_products, values = fabs(row->ds[j]) + mean_magnitude;
		row->p_tolerance[j] = tolerance_of_weight(factor, row->p[j]);
		row->ds_tolerance[j] = tolerance_of_score_gradient(&scores.terms, row->p[j], products, values);
		row->ds_variance[j] =
			weight * (row->spread * (row->ds[j] - mean) * (row->ds[j] - mean) +
		                  (double)d * (row->ds_variance[j] + row->ds[j] * row->ds[j]) + row->d_variance) +
			flushed * (1.0 + products) * (1.0 + products);
		row->p_variance[j] = row->kept[j] * row->kept[j] * (row->spread * weight + flushed);
		row->ds[j] = row->p[j] * (row->ds[j] - mean) * row->slope[j];
		row->p[j] *= row->kept[j];
		row->p_tolerance[j] *= row->kept[j];
	}
	if (!in->modifiers.sink)
		return;
	/* A key whose value, and so whose dP, is 0. */
	double sink = (double)in->modifiers.sink[query / in->seq % in->heads];
	double p = exp(sink - scores.max) / scores.sum;
	scores.terms.score_bound = fmax(scores.terms.score_bound, 8.0 * fabs(sink));
	row->ds_sink = -p * mean;
	row->ds_sink_tolerance = tolerance_of_score_gradient(&scores.terms, p, mean_products, mean_magnitude);
}

static void compute_query_gradient(
	const struct attention_inputs *in, size_t query, const struct row *row, double *dq, double *dq_tolerance,
	double *dq_row)
{
	size_t first = first_key_row(in, query), d = in->dim;
	double variance = 0.0;
	for (size_t j = row->keys.first; j < row->keys.end; j++)
		for (size_t c = 0; c < d; c++) {
			double factor = (double)in->scale * (double)in->k[(first + j) * d + c];
			dq[c] += row->ds[j] * factor;
			dq_tolerance[c] += row->ds_tolerance[j] * fabs(factor);
			variance += (row->ds_variance[j] + row->d_variance * row->p[j]) * factor * factor;
		}
	for (size_t c = 0; c < d; c++)
		variance += row->spread * dq[c] * dq[c];
	*dq_row = row_bound(variance);
}

/* dK and dV of some keys, in rows of d. */
struct key_gradients {
	double *dk, *dk_tolerance, *dv, *dv_tolerance;
	double *dk_row, *dv_row, *spread; /* [keys] V without, and the factor of, the row's own square */
};

/* What one query adds to those of one key of its head, which are row `at`. */
static void add_key_gradients(
	const struct attention_inputs *in, const float *d_o, size_t query, size_t key, const struct row *row,
	const struct key_gradients *sums, size_t at)
{
	size_t d = in->dim, j = key % in->seq;
	for (size_t c = 0; c < d; c++) {
		double factor = (double)in->scale * (double)in->q[query * d + c], gradient = d_o[query * d + c];
		sums->dk[at * d + c] += row->ds[j] * factor;
		sums->dk_tolerance[at * d + c] += row->ds_tolerance[j] * fabs(factor);
		sums->dv[at * d + c] += row->p[j] * gradient;
		sums->dv_tolerance[at * d + c] += row->p_tolerance[j] * fabs(gradient);
		sums->dk_row[at] += row->ds_variance[j] * factor * factor;
		sums->dv_row[at] += row->p_variance[j] * gradient * gradient;
	}
	if (row->p_tolerance[j] > 0.0)
		sums->spread[at] = fmax(sums->spread[at], row->spread);
}

static size_t row_at(struct row_list list, size_t index)
{
	return list.rows ? list.rows[index] : index;
}

/* The parts that the queries are split into, and what each of them adds to the sums of the keys of its heads. */
enum { PARTS = 16 };

struct part {
	size_t first_query, end_query, first_key, end_key; /* keys: indices of those asked for */
	struct key_gradients sums;                         /* from first_key */
	double *dsink, *dsink_tolerance;                   /* [H] */
	struct row row;
};

struct computation {
	const struct attention_inputs *in;
	const float *d_o;
	struct row_list queries, keys;
	double *dq, *dq_tolerance, *dq_row;
	struct part parts[PARTS];
};

/* The first of a sorted list that is not below `row`. */
static size_t position_of(struct row_list list, size_t row)
{
	size_t low = 0, high = list.count;
	while (low < high) {
		size_t middle = low + (high - low) / 2;
		if (row_at(list, middle) < row)
			low = middle + 1;
		else
			high = middle;
	}
	return low;
}

/* All queries of these heads are looked at: all heads, or where keys are picked out, that of the first of them. */
static bool is_for_sink(const struct computation *all, size_t head)
{
	const struct attention_inputs *in = all->in;
	size_t group = in->modifiers.kv_heads ? in->heads / in->modifiers.kv_heads : 1;
	if (!in->modifiers.sink)
		return false;
	return !all->keys.rows || head % in->heads == all->keys.rows[0] / in->seq * group % in->heads;
}

static void compute_part(void *context, size_t index)
{
	struct computation *all = context;
	struct part *part = &all->parts[index];
	const struct attention_inputs *in = all->in;
	size_t d = in->dim, next_query = position_of(all->queries, part->first_query);
	for (size_t query = part->first_query; query < part->end_query; query++) {
		size_t head = query / in->seq, first_row = first_key_row(in, query);
		size_t first_key = position_of(all->keys, first_row);
		size_t end_key = position_of(all->keys, first_row + in->seq);
		bool asked_for = next_query < all->queries.count && row_at(all->queries, next_query) == query;
		bool for_sink = is_for_sink(all, head);
		if (!asked_for && !for_sink && first_key == end_key)
			continue;
		compute_row(in, all->d_o, query, &part->row);
		if (for_sink) {
			part->dsink[head % in->heads] += part->row.ds_sink;
			part->dsink_tolerance[head % in->heads] += part->row.ds_sink_tolerance;
		}
		if (asked_for) {
			compute_query_gradient(
				in, query, &part->row, all->dq + next_query * d, all->dq_tolerance + next_query * d,
				all->dq_row + next_query);
			next_query++;
		}
		for (size_t k = first_key; k < end_key; k++)
			add_key_gradients(
				in, all->d_o, query, row_at(all->keys, k), &part->row, &part->sums,
				k - part->first_key);
	}
}

/* At least one element, so that NULL always means that there is no memory. */
static double *zeros(size_t count)
{
	return calloc(count ? count : 1, sizeof(double));
}

static bool allocate_key_gradients(struct key_gradients *sums, size_t keys, size_t d)
{
	size_t elements = keys * d;
	*sums = (struct key_gradients){zeros(elements), zeros(elements), zeros(elements), zeros(elements),
	                               zeros(keys),     zeros(keys),     zeros(keys)};
	return sums->dk && sums->dk_tolerance && sums->dv && sums->dv_tolerance && sums->dk_row && sums->dv_row &&
	       sums->spread;
}

static void free_key_gradients(struct key_gradients *sums)
{
	free(sums->dk);
	free(sums->dk_tolerance);
	free(sums->dv);
	free(sums->dv_tolerance);
	free(sums->dk_row);
	free(sums->dv_row);
	free(sums->spread);
}

static bool allocate_row(struct row *row, size_t seq, size_t dim)
{
	*row = (struct row){
		.p = zeros(seq),
		.p_tolerance = zeros(seq),
		.ds = zeros(seq),
		.ds_tolerance = zeros(seq),
		.p_variance = zeros(seq),
		.ds_variance = zeros(seq),
		.slope = zeros(seq),
		.kept = zeros(seq),
		.magnitude = zeros(dim)};
	return row->p && row->p_tolerance && row->ds && row->ds_tolerance && row->p_variance && row->ds_variance &&
	       row->slope && row->kept && row->magnitude;
}

static void free_row(struct row *row)
{
	free(row->p);
	free(row->p_tolerance);
	free(row->ds);
	free(row->ds_tolerance);
	free(row->p_variance);
	free(row->ds_variance);
	free(row->slope);
	free(row->kept);
	free(row->magnitude);
}

static bool allocate_parts(struct computation *all)
{
	size_t seq = all->in->seq, rows = all->in->batch * all->in->heads * seq, d = all->in->dim;
	bool allocated = true;
	for (size_t i = 0; i < PARTS; i++) {
		struct part *part = &all->parts[i];
		*part = (struct part){.first_query = rows * i / PARTS, .end_query = rows * (i + 1) / PARTS};
		part->first_key = part->end_key = position_of(all->keys, first_key_row(all->in, part->first_query));
		if (part->first_query < part->end_query)
			part->end_key = position_of(all->keys, first_key_row(all->in, part->end_query - 1) + seq);
		part->dsink = zeros(all->in->heads);
		part->dsink_tolerance = zeros(all->in->heads);
		allocated = part->dsink && part->dsink_tolerance && allocated;
		allocated = allocate_key_gradients(&part->sums, part->end_key - part->first_key, d) && allocated;
		allocated = allocate_row(&part->row, seq, d) && allocated;
	}
	return allocated;
}

static void free_parts(struct computation *all)
{
	for (size_t i = 0; i < PARTS; i++) {
		free_key_gradients(&all->parts[i].sums);
		free(all->parts[i].dsink);
		free(all->parts[i].dsink_tolerance);
		free_row(&all->parts[i].row);
	}
}

static double row_square(const double *row, size_t d)
{
	double sum = 0.0;
	for (size_t c = 0; c < d; c++)
		sum += row[c] * row[c];
	return sum;
}

/* In the order of the parts, whichever was ready first. `spread` is scratch of a number per key. */
static void sum_parts(const struct computation *all, struct attention_gradients *gradients, double *spread)
{
	size_t d = all->in->dim;
	for (size_t i = 0; i < PARTS; i++) {
		const struct part *part = &all->parts[i];
		size_t first = part->first_key * d, count = (part->end_key - part->first_key) * d;
		for (size_t t = 0; t < count; t++) {
			gradients->dk[first + t] += part->sums.dk[t];
			gradients->dk_tolerance[first + t] += part->sums.dk_tolerance[t];
			gradients->dv[first + t] += part->sums.dv[t];
			gradients->dv_tolerance[first + t] += part->sums.dv_tolerance[t];
		}
		for (size_t k = part->first_key; k < part->end_key; k++) {
			gradients->dk_row[k] += part->sums.dk_row[k - part->first_key];
			gradients->dv_row[k] += part->sums.dv_row[k - part->first_key];
			spread[k] = fmax(spread[k], part->sums.spread[k - part->first_key]);
		}
		for (size_t h = 0; h < all->in->heads; h++) {
			gradients->dsink[h] += part->dsink[h];
			gradients->dsink_tolerance[h] += part->dsink_tolerance[h];
		}
	}
	for (size_t k = 0; k < all->keys.count; k++) {
		const double *dk = gradients->dk + k * d, *dv = gradients->dv + k * d;
		gradients->dk_row[k] = row_bound(gradients->dk_row[k] + spread[k] * row_square(dk, d));
		gradients->dv_row[k] = row_bound(gradients->dv_row[k] + spread[k] * row_square(dv, d));
	}
}

bool attention_gradients_compute(
	const struct attention_inputs *inputs, const float *d_o, struct row_list queries, struct row_list keys,
	struct attention_gradients *gradients)
{
	size_t rows_of_a_head = inputs->batch * inputs->seq, d = inputs->dim;
	if (!queries.rows)
		queries.count = rows_of_a_head * inputs->heads;
	if (!keys.rows)
		keys.count =
			rows_of_a_head * (inputs->modifiers.kv_heads ? inputs->modifiers.kv_heads : inputs->heads);
	*gradients = (struct attention_gradients){
		.dq = zeros(queries.count * d),
		.dq_tolerance = zeros(queries.count * d),
		.dk = zeros(keys.count * d),
		.dk_tolerance = zeros(keys.count * d),
		.dv = zeros(keys.count * d),
		.dv_tolerance = zeros(keys.count * d),
		.dq_row = zeros(queries.count),
		.dk_row = zeros(keys.count),
		.dv_row = zeros(keys.count),
		.dsink = zeros(inputs->heads),
		.dsink_tolerance = zeros(inputs->heads),
	};
	struct computation all = {
		.in = inputs,
		.d_o = d_o,
		.queries = queries,
		.keys = keys,
		.dq = gradients->dq,
		.dq_tolerance = gradients->dq_tolerance,
		.dq_row = gradients->dq_row};
	double *spread = zeros(keys.count);
	bool allocated = allocate_parts(&all) && gradients->dq && gradients->dq_tolerance && gradients->dk &&
	                 gradients->dk_tolerance && gradients->dv && gradients->dv_tolerance && gradients->dsink &&
	                 gradients->dsink_tolerance && gradients->dq_row && gradients->dk_row && gradients->dv_row &&
	                 spread;
	if (allocated) {
		parallel_run(PARTS, compute_part, &all);
		sum_parts(&all, gradients, spread);
	} else {
		attention_gradients_free(gradients);
	}
	free_parts(&all);
	free(spread);
	return allocated;
}

void attention_gradients_free(struct attention_gradients *gradients)
{
	free(gradients->dq);
	free(gradients->dq_tolerance);
	free(gradients->dk);
	free(gradients->dk_tolerance);
	free(gradients->dv);
	free(gradients->dv_tolerance);
	free(gradients->dq_row);
	free(gradients->dk_row);
	free(gradients->dv_row);
	free(gradients->dsink);
	free(gradients->dsink_tolerance);
	*gradients = (struct attention_gradients){0};
}
