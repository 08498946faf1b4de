#include "attention_variants.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 16, SPLITS = 3 };
static const float log2_e = 1.44269504f;

const char *variant_name(enum variant variant)
{
	static const char *const names[FAULT_END] = {
		[CORRECT_NAIVE] = "naive",
		[CORRECT_REVERSE] = "reverse",
		[CORRECT_PAIRWISE] = "pairwise",
		[CORRECT_FROM_LSE] = "from LSE",
		[CORRECT_SCALED_Q] = "scaled q",
		[CORRECT_FUSED] = "fused",
		[CORRECT_EIGHT] = "eight partial sums",
		[CORRECT_ONLINE] = "online",
		[CORRECT_NORMALISED] = "normalized",
		[CORRECT_EXP2] = "exp2",
		[CORRECT_ONE_KEY] = "one key at a time",
		[CORRECT_LAST_FIRST] = "last tile first",
		[CORRECT_SPLIT] = "split keys",
		[FAULT_ZEROS] = "zeros",
		[FAULT_NAN] = "NaN",
		[FAULT_LAST_ROW] = "last row unwritten",
		[FAULT_NO_RESCALE] = "no rescale",
		[FAULT_BLOCK_MAX] = "block max",
		[FAULT_NO_MAX] = "no max",
		[FAULT_MAX_FROM_ZERO] = "max from zero",
		[FAULT_DROPPED_TAIL] = "dropped tail",
		[FAULT_CAUSAL_OFF] = "causal off by one",
		[FAULT_SMALL_MASK] = "mask of -1e4",
		[FAULT_BF16_P] = "bf16 P",
	};
	return names[variant];
}

static float pairwise_sum(const float *values, size_t count)
{
	if (count == 1)
		return values[0];
	return pairwise_sum(values, count / 2) + pairwise_sum(values + count / 2, count - count / 2);
}

/* The volatile keeps gcc from proving that the cut bits do not matter. */
static float cut_to_bf16(float value)
{
	volatile uint32_t bits;
	uint32_t copy;
	memcpy(&copy, &value, sizeof copy);
	bits = copy & UINT32_C(0xffff0000);
	copy = bits;
	memcpy(&value, &copy, sizeof value);
	return value;
}

static float score(enum variant variant, const float *q, const float *k, size_t d, float scale)
{
	float sum = 0.0f, partial[8] = {0};
	switch (variant) {
	case CORRECT_SCALED_Q:
		for (size_t c = 0; c < d; c++)
			sum += scale * q[c] * k[c];
		return sum;
	case CORRECT_EXP2:
		for (size_t c = 0; c < d; c++)
			sum += q[c] * (scale * log2_e) * k[c];
		return sum;
	case CORRECT_FUSED:
		for (size_t c = 0; c < d; c++)
			sum = fmaf(q[c], k[c], sum);
		return scale * sum;
	case CORRECT_EIGHT:
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
	if (variant == FAULT_NO_MAX)
		m = 0.0f;
	for (size_t j = 0; j < visible; j++)
		p[j] = expf(scores[j] - m);
	for (size_t j = 0; j < visible; j++)
		l += p[variant == CORRECT_REVERSE ? visible - 1 - j : j];
	if (variant == CORRECT_PAIRWISE)
		l = pairwise_sum(p, visible);
	float lse = m + logf(l);
	for (size_t j = 0; j < visible; j++)
		p[j] = variant == CORRECT_FROM_LSE ? expf(scores[j] - lse) : p[j] / l;
	for (size_t c = 0; c < d; c++) {
		o[c] = 0.0f;
		for (size_t t = 0; t < visible; t++) {
			size_t j = variant == CORRECT_REVERSE ? visible - 1 - t : t;
			float weight = variant == FAULT_BF16_P ? cut_to_bf16(p[j]) : p[j];
			terms[t] = weight * v[j * d + c];
			o[c] = variant == CORRECT_FUSED ? fmaf(weight, v[j * d + c], o[c]) : o[c] + terms[t];
		}
		if (variant == CORRECT_PAIRWISE)
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
	bool base2 = variant == CORRECT_EXP2, normalize = variant == CORRECT_NORMALISED;
	float m = variant == FAULT_MAX_FROM_ZERO ? 0.0f : -INFINITY, l = 0.0f;
	size_t tile = variant == CORRECT_ONE_KEY ? 1 : TILE, tiles = (end_key - first_key + tile - 1) / tile;
	for (size_t c = 0; c < d; c++)
		o[c] = 0.0f;
	for (size_t t = 0; t < tiles; t++) {
		size_t first = first_key + (variant == CORRECT_LAST_FIRST ? tiles - 1 - t : t) * tile;
		size_t end = first + tile < end_key ? first + tile : end_key;
		if (variant == FAULT_DROPPED_TAIL && end - first < TILE)
			break;
		float m_new = variant == FAULT_BLOCK_MAX ? -INFINITY : m, sum = 0.0f, p[TILE];
		for (size_t j = first; j < end; j++)
			m_new = fmaxf(m_new, scores[j]);
		for (size_t j = first; j < end; j++) {
			p[j - first] = base2 ? exp2f(scores[j] - m_new) : expf(scores[j] - m_new);
			sum += p[j - first];
		}
		float correction = base2 ? exp2f(m - m_new) : expf(m - m_new);
		if (variant == FAULT_BLOCK_MAX)
			correction = 1.0f;
		float l_new = l * correction + sum;
		for (size_t c = 0; c < d; c++) {
			float kept = variant == FAULT_NO_RESCALE ? o[c] : o[c] * correction;
			if (normalize)
				kept *= l;
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
		lse[s] = end > first ? online_part(CORRECT_ONLINE, scores, first, end, v, d, part[s]) : -INFINITY;
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

static bool takes_three_passes(enum variant variant)
{
	return variant < CORRECT_ONLINE || variant == FAULT_NO_MAX || variant == FAULT_BF16_P ||
	       variant == FAULT_CAUSAL_OFF || variant == FAULT_SMALL_MASK;
}

void attention_variant(enum variant variant, const struct attention_inputs *in, float *o, float *lse)
{
	size_t d = in->dim, rows = in->batch * in->heads * in->seq;
	float *scores = calloc(in->seq, sizeof *scores);
	for (size_t row = 0; row < rows; row++) {
		size_t i = row % in->seq, first = row - i, visible = in->causal ? i + 1 : in->seq, keys = visible;
		const float *v = in->v + first * d;
		if (variant == FAULT_ZEROS || (variant == FAULT_LAST_ROW && i == in->seq - 1))
			continue;
		if (variant == FAULT_CAUSAL_OFF && visible < in->seq)
			keys = ++visible;
		if (variant == FAULT_SMALL_MASK)
			keys = in->seq;
		for (size_t j = 0; j < keys; j++)
			scores[j] = j < visible
			                    ? score(variant, in->q + row * d, in->k + (first + j) * d, d, in->scale)
			                    : -1e4f;
		if (takes_three_passes(variant))
			lse[row] = three_pass_row(variant, scores, keys, v, d, o + row * d);
		else if (variant == CORRECT_SPLIT)
			lse[row] = split_row(scores, keys, v, d, o + row * d);
		else
			lse[row] = online_part(variant, scores, 0, keys, v, d, o + row * d);
	}
	if (variant == FAULT_NAN)
		o[rows * d / 2] = NAN;
	free(scores);
}
