#include "verify/gradients.h"

#include "support/parallel.h"

#include <math.h>
#include <stdlib.h>

/* What one query row needs of its head, and what it leaves for the sums over the queries: N doubles each. */
struct row {
	double *p;     /* weights; 0 where the mask hides the key */
	double *slope; /* of the score's soft-cap; 1 where there is none */
	double *ds;    /* gradient of the scores */
};

static double dot(const float *a, const float *b, size_t d)
{
	double sum = 0.0;
	for (size_t c = 0; c < d; c++)
		sum += (double)a[c] * (double)b[c];
	return sum;
}

static double largest(const float *values, size_t count)
{
	double most = 0.0;
	for (size_t t = 0; t < count; t++)
		most = fmax(most, fabs((double)values[t]));
	return most;
}

static double largest_norm(const float *values, size_t rows, size_t d)
{
	double most = 0.0;
	for (size_t row = 0; row < rows; row++)
		most = fmax(most, sqrt(dot(values + row * d, values + row * d, d)));
	return most;
}

/* P and dS of one query. */
static void compute_row(const struct attention_inputs *in, const float *d_o, size_t query, struct row *row,
                        double *score_bound)
{
	size_t first = query / in->seq * in->seq, i = query % in->seq, d = in->dim;
	size_t visible = in->causal ? i + 1 : in->seq;
	const float *q = in->q + query * d, *k = in->k + first * d, *v = in->v + first * d;
	double scale = in->scale, max = -INFINITY, sum = 0.0, mean = 0.0;

	for (size_t j = 0; j < in->seq; j++)
		row->p[j] = row->ds[j] = row->slope[j] = 0.0;
	for (size_t j = 0; j < visible; j++) {
		if (variant_hides(in->variant, i, j)) {
			row->p[j] = -INFINITY;
			continue;
		}
		double score = 0.0, magnitude = 0.0;
		for (size_t c = 0; c < d; c++) {
			double product = (double)q[c] * (double)k[j * d + c];
			score += product;
			magnitude += fabs(product);
		}
		row->p[j] = variant_cap(in->variant, scale * score);
		row->slope[j] = variant_slope(in->variant, scale * score);
		max = fmax(max, row->p[j]);
		*score_bound = fmax(*score_bound, fabs(scale) * magnitude);
	}
	for (size_t j = 0; j < visible; j++)
		sum += row->p[j] = exp(row->p[j] - max);
	for (size_t j = 0; j < visible; j++) {
		row->p[j] /= sum;
		row->ds[j] = dot(d_o + query * d, v + j * d, d); /* dP */
		mean += row->p[j] * row->ds[j];
	}
	for (size_t j = 0; j < visible; j++)
		row->ds[j] = row->p[j] * (row->ds[j] - mean) * row->slope[j];
}

static void compute_query_gradient(const struct attention_inputs *in, size_t query, const struct row *row, double *dq)
{
	size_t first = query / in->seq * in->seq, d = in->dim;
	for (size_t j = 0; j < in->seq; j++)
		for (size_t c = 0; c < d; c++)
			dq[c] += (double)in->scale * row->ds[j] * (double)in->k[(first + j) * d + c];
}

/* What one query adds to dK and dV of one key of its head. */
static void add_key_gradients(const struct attention_inputs *in, const float *d_o, size_t query, size_t key,
                              const struct row *row, double *dk, double *dv)
{
	size_t d = in->dim, j = key % in->seq;
	for (size_t c = 0; c < d; c++) {
		dk[c] += (double)in->scale * row->ds[j] * (double)in->q[query * d + c];
		dv[c] += row->p[j] * (double)d_o[query * d + c];
	}
}

static size_t row_at(struct row_list list, size_t index)
{
	return list.rows ? list.rows[index] : index;
}

/* The parts that the queries are split into, and what each of them adds to the sums of the keys of its heads. */
enum { PARTS = 16 };

struct part {
	size_t first_query, end_query, first_key, end_key; /* keys: indices of those asked for */
	double *dk, *dv, *weight_sums;                     /* from first_key */
	double score_bound;
	struct row row;
};

struct computation {
	const struct attention_inputs *in;
	const float *d_o;
	struct row_list queries, keys;
	double *dq;
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

static void compute_part(void *context, size_t index)
{
	struct computation *all = context;
	struct part *part = &all->parts[index];
	const struct attention_inputs *in = all->in;
	size_t d = in->dim, next_query = position_of(all->queries, part->first_query);
	for (size_t query = part->first_query; query < part->end_query; query++) {
		size_t head = query / in->seq;
		size_t first_key = position_of(all->keys, head * in->seq);
		size_t end_key = position_of(all->keys, (head + 1) * in->seq);
		bool asked_for = next_query < all->queries.count && row_at(all->queries, next_query) == query;
		if (!asked_for && first_key == end_key)
			continue;
		compute_row(in, all->d_o, query, &part->row, &part->score_bound);
		if (asked_for)
			compute_query_gradient(in, query, &part->row, all->dq + next_query++ * d);
		for (size_t k = first_key; k < end_key; k++) {
			size_t key = row_at(all->keys, k), of_part = k - part->first_key;
			add_key_gradients(in, all->d_o, query, key, &part->row, part->dk + of_part * d,
			                  part->dv + of_part * d);
			part->weight_sums[of_part] += part->row.p[key % in->seq];
		}
	}
}

/* At least one element, so that NULL always means that there is no memory. */
static double *zeros(size_t count)
{
	return calloc(count ? count : 1, sizeof(double));
}

static bool allocate_parts(struct computation *all)
{
	size_t seq = all->in->seq, rows = all->in->batch * all->in->heads * seq, d = all->in->dim;
	bool allocated = true;
	for (size_t i = 0; i < PARTS; i++) {
		struct part *part = &all->parts[i];
		*part = (struct part){.first_query = rows * i / PARTS, .end_query = rows * (i + 1) / PARTS};
		part->first_key = position_of(all->keys, part->first_query / seq * seq);
		part->end_key = position_of(all->keys, (part->end_query + seq - 1) / seq * seq);
		size_t keys = part->end_key - part->first_key;
		part->dk = zeros(keys * d);
		part->dv = zeros(keys * d);
		part->weight_sums = zeros(keys);
		part->row = (struct row){zeros(seq), zeros(seq), zeros(seq)};
		allocated = allocated && part->dk && part->dv && part->weight_sums && part->row.p &&
		            part->row.slope && part->row.ds;
	}
	return allocated;
}

static void free_parts(struct computation *all)
{
	for (size_t i = 0; i < PARTS; i++) {
		free(all->parts[i].dk);
		free(all->parts[i].dv);
		free(all->parts[i].weight_sums);
		free(all->parts[i].row.p);
		free(all->parts[i].row.slope);
		free(all->parts[i].row.ds);
	}
}

/* In the order of the parts, whichever was ready first. */
static void sum_parts(const struct computation *all, double *weight_sums, struct attention_gradients *gradients)
{
	size_t d = all->in->dim;
	for (size_t i = 0; i < PARTS; i++) {
		const struct part *part = &all->parts[i];
		for (size_t k = part->first_key; k < part->end_key; k++) {
			size_t of_part = k - part->first_key;
			weight_sums[k] += part->weight_sums[of_part];
			for (size_t c = 0; c < d; c++) {
				gradients->dk[k * d + c] += part->dk[of_part * d + c];
				gradients->dv[k * d + c] += part->dv[of_part * d + c];
			}
		}
		gradients->score_bound = fmax(gradients->score_bound, part->score_bound);
	}
	for (size_t k = 0; k < all->keys.count; k++)
		gradients->weight_bound = fmax(gradients->weight_bound, weight_sums[k]);
}

bool attention_gradients_compute(const struct attention_inputs *inputs, const float *d_o, struct row_list queries,
                                 struct row_list keys, struct attention_gradients *gradients)
{
	size_t all_rows = inputs->batch * inputs->heads * inputs->seq, d = inputs->dim;
	if (!queries.rows)
		queries.count = all_rows;
	if (!keys.rows)
		keys.count = all_rows;
	*gradients = (struct attention_gradients){
		.dq = calloc(queries.count * d, sizeof(double)),
		.dk = calloc(keys.count * d, sizeof(double)),
		.dv = calloc(keys.count * d, sizeof(double)),
		.weight_bound = 1.0,
	};
	struct computation all = {.in = inputs, .d_o = d_o, .queries = queries, .keys = keys, .dq = gradients->dq};
	double *weight_sums = zeros(keys.count);
	bool allocated = allocate_parts(&all) && weight_sums && gradients->dq && gradients->dk && gradients->dv;
	if (allocated) {
		parallel_run(PARTS, compute_part, &all);
		sum_parts(&all, weight_sums, gradients);
		gradients->product_bound = largest_norm(d_o, all_rows, d) * largest_norm(inputs->v, all_rows, d);
		gradients->q_bound = largest(inputs->q, all_rows * d);
		gradients->k_bound = largest(inputs->k, all_rows * d);
		gradients->do_bound = largest(d_o, all_rows * d);
	} else {
		attention_gradients_free(gradients);
	}
	free_parts(&all);
	free(weight_sums);
	return allocated;
}

void attention_gradients_free(struct attention_gradients *gradients)
{
	free(gradients->dq);
	free(gradients->dk);
	free(gradients->dv);
	*gradients = (struct attention_gradients){0};
}
