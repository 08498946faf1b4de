#include "attention_variants.h"

#include <math.h>
#include <stdlib.h>

enum { TILE = 16, SPLITS = 3 };
static const float log2_e = 1.44269504f;

const char *variant_name(enum variant variant)
{
	static const char *const names[VARIANTS_AND_FAULTS] = {
		"naive",
		"reverse",
		"pairwise",
		"from LSE",
		"scaled q",
		"fused",
		"eight partial sums",
		"online",
		"normalized",
		"exp2",
		"one key at a time",
		"last tile first",
		"split keys",
		"no rescale",
		"no max",
		"P of eight bits",
		"dropped key",
		"key too many",
		"no D",
		"no scale",
	};
	return names[variant];
}

static float pairwise_sum(const float *values, size_t count)
{
	if (count == 1)
		return values[0];
	return pairwise_sum(values, count / 2) + pairwise_sum(values + count / 2, count - count / 2);
}

static float score(enum variant variant, const float *q, const float *k, size_t d, float scale)
{
	float sum = 0.0f, partial[8] = {0};
	switch (variant) {
	case SCALED_Q:
		for (size_t c = 0; c < d; c++)
			sum += scale * q[c] * k[c];
		return sum;
	case EXP2:
		for (size_t c = 0; c < d; c++)
			sum += q[c] * (scale * log2_e) * k[c];
		return sum;
	case FUSED:
		for (size_t c = 0; c < d; c++)
			sum = fmaf(q[c], k[c], sum);
		return scale * sum;
	case EIGHT:
		for (size_t c = 0; c < d; c++)
			partial[c % 8] += q[c] * k[c];
		return scale * pairwise_sum(partial, 8);
	default:
		for (size_t c = 0; c < d; c++)
			sum += q[c] * k[c];
		return scale * sum;
	}
}

/* All scores first, then the weights, then their sum times V. */
static float three_pass_row(
	enum variant variant, const float *scores, size_t visible, const float *v, size_t d, float *o)
{
	float m = -INFINITY, *p = calloc(visible, sizeof *p), *terms = calloc(visible, sizeof *terms), l = 0.0f;
	for (size_t j = 0; j < visible; j++)
		m = fmaxf(m, scores[j]);
	for (size_t j = 0; j < visible; j++)
		p[j] = expf(scores[j] - m);
	for (size_t j = 0; j < visible; j++)
		l += p[variant == REVERSE ? visible - 1 - j : j];
	if (variant == PAIRWISE)
		l = pairwise_sum(p, visible);
	float lse = m + logf(l);
	for (size_t j = 0; j < visible; j++)
		p[j] = variant == FROM_LSE ? expf(scores[j] - lse) : p[j] / l;
	for (size_t c = 0; c < d; c++) {
		o[c] = 0.0f;
		for (size_t t = 0; t < visible; t++) {
			size_t j = variant == REVERSE ? visible - 1 - t : t;
			terms[t] = p[j] * v[j * d + c];
			o[c] = variant == FUSED ? fmaf(p[j], v[j * d + c], o[c]) : o[c] + terms[t];
		}
		if (variant == PAIRWISE)
			o[c] = pairwise_sum(terms, visible);
	}
	free(p);
	free(terms);
	return lse;
}

/* Keys first to end, tile by tile, O normalized at the end or at every tile. */
static float online_part(
	enum variant variant, const float *scores, size_t first_key, size_t end_key, const float *v, size_t d,
	float *o)
{
	bool base2 = variant == EXP2, normalize = variant == NORMALIZED;
	float m = -INFINITY, l = 0.0f;
	size_t tile = variant == ONE_KEY ? 1 : TILE, tiles = (end_key - first_key + tile - 1) / tile;
	for (size_t c = 0; c < d; c++)
		o[c] = 0.0f;
	for (size_t t = 0; t < tiles; t++) {
		size_t first = first_key + (variant == LAST_FIRST ? tiles - 1 - t : t) * tile;
		size_t end = first + tile < end_key ? first + tile : end_key;
		float m_new = m, sum = 0.0f, p[TILE];
		for (size_t j = first; j < end; j++)
			m_new = fmaxf(m_new, scores[j]);
		if (variant == NO_MAX)
			m_new = 0.0f;
		for (size_t j = first; j < end; j++) {
			p[j - first] = base2 ? exp2f(scores[j] - m_new) : expf(scores[j] - m_new);
			sum += p[j - first];
			if (variant == EIGHT_BITS)
				p[j - first] = roundf(256.0f * p[j - first]) / 256.0f;
		}
		float correction = base2 ? exp2f(m - m_new) : expf(m - m_new);
		if (variant == NO_RESCALE)
			correction = t > 0 ? 1.0f : 0.0f;
		float l_new = l * correction + sum;
		for (size_t c = 0; c < d; c++) {
			float kept = o[c] * correction * (normalize ? l : 1.0f);
			for (size_t j = first; j < end; j++)
				kept += p[j - first] * v[j * d + c];
			o[c] = normalize ? kept / l_new : kept;
		}
		m = m_new;
		l = l_new;
	}
	for (size_t c = 0; c < d && !normalize; c++)
		o[c] /= l;
	return base2 ? (m + log2f(l)) / log2_e : m + logf(l);
}

/* Parts of the keys, each normalized, weighed by their LSE. */
static float split_row(const float *scores, size_t visible, const float *v, size_t d, float *o)
{
	float part[SPLITS][128], lse[SPLITS], m = -INFINITY, l = 0.0f;
	for (size_t s = 0; s < SPLITS; s++) {
		size_t first = visible * s / SPLITS, end = visible * (s + 1) / SPLITS;
		lse[s] = end > first ? online_part(ONLINE, scores, first, end, v, d, part[s]) : -INFINITY;
		m = fmaxf(m, lse[s]);
	}
	for (size_t c = 0; c < d; c++)
		o[c] = 0.0f;
	for (size_t s = 0; s < SPLITS; s++) {
		float weight = expf(lse[s] - m);
		l += weight;
		for (size_t c = 0; weight > 0.0f && c < d; c++)
			o[c] += weight * part[s][c];
	}
	for (size_t c = 0; c < d; c++)
		o[c] /= l;
	return m + logf(l);
}

/* What a row of scores of `visible` keys adds to the gradients. `scores` becomes P. */
static void row_gradients(
	enum variant variant, const struct attention_inputs *in, size_t row, size_t visible, const float *d_o,
	float *scores, float *const outputs[OUTPUTS])
{
	size_t d = in->dim, first = row - row % in->seq;
	const float *q = in->q + row * d, *k = in->k + first * d, *v = in->v + first * d;
	float L = outputs[LSE][row], D = 0.0f, *dp = calloc(visible, sizeof *dp);
	d_o += row * d;
	for (size_t j = 0; j < visible; j++) {
		scores[j] = variant == EXP2 ? exp2f(scores[j] - L * log2_e) : expf(scores[j] - L);
		for (size_t c = 0; c < d; c++)
			dp[j] = variant == FUSED ? fmaf(d_o[c], v[j * d + c], dp[j]) : dp[j] + d_o[c] * v[j * d + c];
	}
	for (size_t j = 0; j < visible && variant < ONLINE; j++)
		D += scores[j] * dp[j];
	for (size_t c = 0; c < d && variant >= ONLINE; c++)
		D += d_o[c] * outputs[O][row * d + c];
	if (variant == NO_D)
		D = 0.0f;
	for (size_t t = 0; t < visible; t++) {
		size_t j = variant == LAST_FIRST ? visible - 1 - t : t;
		float ds = scores[j] * (dp[j] - D);
		for (size_t c = 0; c < d; c++) {
			outputs[DQ][row * d + c] += in->scale * ds * k[j * d + c];
			outputs[DK][(first + j) * d + c] += (variant == NO_SCALE ? 1.0f : in->scale) * ds * q[c];
			outputs[DV][(first + j) * d + c] += scores[j] * d_o[c];
		}
	}
	free(dp);
}

void attention_variant(
	enum variant variant, const struct attention_inputs *in, const float *d_o, float *const outputs[OUTPUTS])
{
	size_t d = in->dim, rows = in->batch * in->heads * in->seq;
	float *scores = calloc(in->seq, sizeof *scores);
	for (size_t t = 0; t < rows; t++) {
		size_t row = variant == LAST_FIRST ? rows - 1 - t : t, i = row % in->seq, first = row - i;
		size_t visible = in->causal ? i + 1 : in->seq;
		visible -= variant == DROPPED_KEY && visible > 1;
		visible += variant == KEY_TOO_MANY && in->causal && i + 1 < in->seq;
		const float *v = in->v + first * d;
		float *o = outputs[O] + row * d, *lse = outputs[LSE] + row;
		for (size_t j = 0; j < visible; j++)
			scores[j] = score(variant, in->q + row * d, in->k + (first + j) * d, d, in->scale);
		if (variant < ONLINE)
			*lse = three_pass_row(variant, scores, visible, v, d, o);
		else if (variant == SPLIT)
			*lse = split_row(scores, visible, v, d, o);
		else
			*lse = online_part(variant, scores, 0, visible, v, d, o);
		row_gradients(variant, in, row, visible, d_o, scores, outputs);
	}
	free(scores);
}
