#include "attention_variants.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

enum { TILE = 16 };

const char *variant_name(enum variant variant)
{
	static const char *const names[] = {
		"naive",        "reverse",
		"pairwise",     "online",
		"normalised",   "exp2",
		"NaN",          "last row unwritten",
		"no rescale",   "block max",
		"no max",       "max from zero",
		"dropped tail", "causal off by one",
		"bf16 P",
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

/* Scores of one row: [visible]. */
static void score_row(const struct attention_inputs *in, const float *q, const float *k, size_t visible, bool base2,
                      float *scores)
{
	float factor = base2 ? in->scale * 1.44269504f : in->scale;
	for (size_t j = 0; j < visible; j++) {
		float dot = 0.0f;
		for (size_t c = 0; c < in->dim; c++)
			dot += base2 ? q[c] * factor * k[j * in->dim + c] : q[c] * k[j * in->dim + c];
		scores[j] = base2 ? dot : factor * dot;
	}
}

static void three_pass_row(enum variant variant, const float *scores, size_t visible, const float *v, size_t d,
                           float *o)
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
	for (size_t c = 0; c < d; c++) {
		o[c] = 0.0f;
		for (size_t t = 0; t < visible; t++) {
			size_t j = variant == CORRECT_REVERSE ? visible - 1 - t : t;
			float weight = variant == FAULT_BF16_P ? cut_to_bf16(p[j] / l) : p[j] / l;
			terms[t] = weight * v[j * d + c];
			o[c] += terms[t];
		}
		if (variant == CORRECT_PAIRWISE)
			o[c] = pairwise_sum(terms, visible);
	}
	free(p);
	free(terms);
}

static void online_row(enum variant variant, const float *scores, size_t visible, const float *v, size_t d, float *o)
{
	bool base2 = variant == CORRECT_EXP2, normalise = variant == CORRECT_NORMALISED;
	float m = variant == FAULT_MAX_FROM_ZERO ? 0.0f : -INFINITY, l = 0.0f;
	for (size_t c = 0; c < d; c++)
		o[c] = 0.0f;
	for (size_t first = 0; first < visible; first += TILE) {
		size_t end = first + TILE < visible ? first + TILE : visible;
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
			if (normalise)
				kept *= l;
			for (size_t j = first; j < end; j++)
				kept += p[j - first] * v[j * d + c];
			o[c] = normalise ? kept / l_new : kept;
		}
		m = m_new;
		l = l_new;
	}
	for (size_t c = 0; c < d && !normalise; c++)
		o[c] /= l;
}

void attention_variant(enum variant variant, const struct attention_inputs *in, float *o)
{
	size_t d = in->dim, rows = in->batch * in->heads * in->seq;
	bool three_pass = variant <= CORRECT_PAIRWISE || variant == FAULT_NO_MAX || variant == FAULT_BF16_P ||
	                  variant == FAULT_NAN || variant == FAULT_LAST_ROW || variant == FAULT_CAUSAL_OFF;
	float *scores = calloc(in->seq, sizeof *scores);
	for (size_t row = 0; row < rows; row++) {
		size_t head = row / in->seq, i = row % in->seq, visible = in->causal ? i + 1 : in->seq;
		const float *k = in->k + head * in->seq * d, *v = in->v + head * in->seq * d;
		if (variant == FAULT_CAUSAL_OFF && visible < in->seq)
			visible++;
		if (variant == FAULT_LAST_ROW && i == in->seq - 1)
			continue;
		score_row(in, in->q + row * d, k, visible, variant == CORRECT_EXP2, scores);
		if (three_pass)
			three_pass_row(variant, scores, visible, v, d, o + row * d);
		else
			online_row(variant, scores, visible, v, d, o + row * d);
	}
	if (variant == FAULT_NAN)
		o[rows * d / 2] = NAN;
	free(scores);
}
