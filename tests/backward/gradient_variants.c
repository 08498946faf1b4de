#include "gradient_variants.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 32 };
static const float log2_e = 1.44269504f;

const char *gradient_variant_name(enum gradient_variant variant)
{
	static const char *const names[GRADIENT_VARIANTS] = {
		[CORRECT_NAIVE] = "naive",
		[CORRECT_SPLIT] = "split",
		[CORRECT_REVERSED] = "reversed",
		[CORRECT_EXP2] = "exp2",
		[CORRECT_SCALED_LAST] = "scaled last",
		[CORRECT_FUSED] = "fused",
		[FAULT_ZEROS] = "zeros",
		[FAULT_DO_ROW] = "wrong row of dO",
		[FAULT_NO_D] = "D missing",
		[FAULT_DQ_UNSCALED] = "dQ unscaled",
		[FAULT_DK_UNSCALED] = "dK unscaled",
		[FAULT_NOT_NORMALISED] = "P not normalized",
		[FAULT_NO_MAX] = "no maximum",
		[FAULT_DROPPED_TAIL] = "dropped tail",
		[FAULT_DROPPED_KEY] = "dropped key",
		[FAULT_CAUSAL_OFF] = "causal off by one",
		[FAULT_O_NOT_NORMALISED] = "O not normalized",
		[FAULT_LAST_ROW] = "last row unwritten",
		[FAULT_NAN] = "NaN",
	};
	return names[variant];
}

/* One query: its scores, its weights, D and dS. All arrays hold N numbers. */
struct row {
	float *s, *p, *ds;
};

static float score(enum gradient_variant variant, const float *q, const float *k, size_t d, float scale)
{
	bool fused = variant == CORRECT_FUSED;
	float sum = 0.0f, factor = variant == CORRECT_EXP2 ? scale * log2_e : scale;
	if (variant == CORRECT_SCALED_LAST) {
		for (size_t c = 0; c < d; c++)
			sum += q[c] * k[c];
		return scale * sum;
	}
	for (size_t c = 0; c < d; c++)
		sum = fused ? fmaf(factor * q[c], k[c], sum) : sum + factor * q[c] * k[c];
	return sum;
}

/* Weights of the visible keys; returns the sum of the exponentials. */
static float weigh(enum gradient_variant variant, struct row *row, size_t visible)
{
	bool base2 = variant == CORRECT_EXP2, shifted = variant != FAULT_NO_MAX && variant != FAULT_NOT_NORMALISED;
	float m = -INFINITY, l = 0.0f;
	for (size_t j = 0; j < visible; j++)
		m = fmaxf(m, row->s[j]);
	m = shifted ? m : 0.0f;
	for (size_t j = 0; j < visible; j++)
		l += base2 ? exp2f(row->s[j] - m) : expf(row->s[j] - m);
	float L = base2 ? m + log2f(l) : m + logf(l);
	for (size_t j = 0; j < visible; j++) {
		if (variant == FAULT_NOT_NORMALISED)
			row->p[j] = expf(row->s[j]);
		else if (variant == FAULT_NO_MAX)
			row->p[j] = expf(row->s[j]) / l;
		else
			row->p[j] = base2 ? exp2f(row->s[j] - L) : expf(row->s[j] - L);
	}
	return l;
}

static float row_constant(
	enum gradient_variant variant, const struct attention_inputs *in, const float *d_o, const float *v,
	const struct row *row, size_t visible, float l)
{
	float D = 0.0f;
	if (variant == FAULT_NO_D)
		return 0.0f;
	if (variant == CORRECT_NAIVE) {
		for (size_t j = 0; j < visible; j++)
			D += row->p[j] * row->ds[j];
		return D;
	}
	for (size_t c = 0; c < in->dim; c++) {
		float o = 0.0f;
		for (size_t j = 0; j < visible; j++)
			o += row->p[j] * v[j * in->dim + c];
		D += d_o[c] * (variant == FAULT_O_NOT_NORMALISED ? o * l : o);
	}
	return D;
}

static void one_query(
	enum gradient_variant variant, const struct attention_inputs *in, const float *all_d_o, size_t head, size_t i,
	struct row *row, float *dq, float *dk, float *dv)
{
	size_t N = in->seq, d = in->dim, query = head * N + i, visible = in->causal ? i + 1 : N;
	const float *q = in->q + query * d, *k = in->k + head * N * d, *v = in->v + head * N * d;
	const float *d_o = all_d_o + query * d;
	const float *dv_row = variant == FAULT_DO_ROW ? all_d_o + (head * N + (i + 1) % N) * d : d_o;
	if (variant == FAULT_CAUSAL_OFF && in->causal && visible > 1)
		visible--;
	for (size_t j = 0; j < visible; j++)
		row->s[j] = score(variant, q, k + j * d, d, in->scale);
	float l = weigh(variant, row, visible);
	for (size_t j = 0; j < visible; j++) {
		float dp = 0.0f;
		for (size_t c = 0; c < d; c++)
			dp = variant == CORRECT_FUSED ? fmaf(d_o[c], v[j * d + c], dp) : dp + d_o[c] * v[j * d + c];
		row->ds[j] = dp;
	}
	float D = row_constant(variant, in, d_o, v, row, visible, l);
	bool in_tail = i >= N / TILE * TILE;
	for (size_t t = 0; t < visible; t++) {
		size_t j = variant == CORRECT_REVERSED ? visible - 1 - t : t;
		float ds = row->p[j] * (row->ds[j] - D);
		for (size_t c = 0; c < d; c++) {
			if (!(variant == FAULT_DROPPED_KEY && j == visible / 2))
				dq[query * d + c] +=
					(variant == FAULT_DQ_UNSCALED ? 1.0f : in->scale) * ds * k[j * d + c];
			if (variant == FAULT_DROPPED_TAIL && in_tail)
				continue;
			dk[(head * N + j) * d + c] += (variant == FAULT_DK_UNSCALED ? 1.0f : in->scale) * ds * q[c];
			dv[(head * N + j) * d + c] += row->p[j] * dv_row[c];
		}
	}
}

void gradient_variant(
	enum gradient_variant variant, const struct attention_inputs *in, const float *d_o, float *dq, float *dk,
	float *dv)
{
	size_t N = in->seq, heads = in->batch * in->heads, elements = heads * N * in->dim;
	struct row row = {calloc(N, sizeof(float)), calloc(N, sizeof(float)), calloc(N, sizeof(float))};
	float *tensors[] = {dq, dk, dv};
	for (int t = 0; t < 3; t++)
		memset(tensors[t], 0, elements * sizeof(float));
	for (size_t head = 0; head < heads && variant != FAULT_ZEROS; head++)
		for (size_t t = 0; t < N; t++)
			one_query(
				variant, in, d_o, head, variant == CORRECT_REVERSED ? N - 1 - t : t, &row, dq, dk,
				dv);
	if (variant == FAULT_LAST_ROW)
		memset(dq + elements - in->dim, 0, in->dim * sizeof(float));
	if (variant == FAULT_NAN)
		dk[elements / 2] = NAN;
	free(row.s);
	free(row.p);
	free(row.ds);
}
