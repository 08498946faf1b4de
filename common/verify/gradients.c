#include "verify/gradients.h"

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

static void compute(const struct attention_inputs *in, const float *d_o, struct row_list queries,
                    struct row_list keys, struct row *row, double *weight_sums, struct attention_gradients *g)
{
	size_t all_rows = in->batch * in->heads * in->seq, d = in->dim, next_query = 0, first_key = 0;
	for (size_t query = 0; query < all_rows; query++) {
		size_t head = query / in->seq, end_key = first_key;
		while (first_key < keys.count && row_at(keys, first_key) / in->seq < head)
			first_key++;
		for (end_key = first_key; end_key < keys.count && row_at(keys, end_key) / in->seq == head;)
			end_key++;
		bool asked_for = next_query < queries.count && row_at(queries, next_query) == query;
		if (!asked_for && first_key == end_key)
			continue;
		compute_row(in, d_o, query, row, &g->score_bound);
		if (asked_for)
			compute_query_gradient(in, query, row, g->dq + next_query++ * d);
		for (size_t k = first_key; k < end_key; k++) {
			add_key_gradients(in, d_o, query, row_at(keys, k), row, g->dk + k * d, g->dv + k * d);
			weight_sums[k] += row->p[row_at(keys, k) % in->seq];
		}
	}
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
	struct row row = {calloc(inputs->seq, sizeof(double)), calloc(inputs->seq, sizeof(double)),
	                  calloc(inputs->seq, sizeof(double))};
	double *weight_sums = calloc(keys.count, sizeof(double));
	bool allocated =
		gradients->dq && gradients->dk && gradients->dv && row.p && row.slope && row.ds && weight_sums;
	if (allocated) {
		compute(inputs, d_o, queries, keys, &row, weight_sums, gradients);
		for (size_t k = 0; k < keys.count; k++)
			gradients->weight_bound = fmax(gradients->weight_bound, weight_sums[k]);
		gradients->product_bound = largest_norm(d_o, all_rows, d) * largest_norm(inputs->v, all_rows, d);
		gradients->q_bound = largest(inputs->q, all_rows * d);
		gradients->k_bound = largest(inputs->k, all_rows * d);
		gradients->do_bound = largest(d_o, all_rows * d);
	} else {
		attention_gradients_free(gradients);
	}
	free(row.p);
	free(row.slope);
	free(row.ds);
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
