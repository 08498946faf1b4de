/* Open this for the idea of chapter 04 in plain C: one query, one tile of keys after another, with m, l and o written down
 * after each tile for --trace. fa1_row does the same with a thread for each query. */
#include "fa1.h"

#include <math.h>
#include <string.h>

void trace_row(
	const float *q,                                           /* [d] */
	const float *K,                                           /* [N, d] */
	const float *V,                                           /* [N, d] */
	int N, int d, int visible, int Bc, float scale, float *s, /* [N] the scores */
	struct trace_step *steps,                                 /* [Tc] */
	float *O)                                                 /* [Tc, d] after each tile, not divided by l */
{
	float o[FA1_MOST_DIM] = {0}, m = -INFINITY, l = 0.0f;
	for (int first_key = 0; first_key < N; first_key += Bc) { /* one tile of K and V after another */
		int end = first_key + Bc < N ? first_key + Bc : N;
		float m_new = m;
		for (int j = first_key; j < end; j++) {
			float dot = 0.0f;
			for (int c = 0; c < d; c++)
				dot += q[c] * K[(size_t)j * d + c];
			s[j] = j < visible ? scale * dot : -INFINITY; /* masked */
			m_new = fmaxf(m_new, s[j]);
		}
		float correction = expf(m - m_new); /* of what was summed before this tile */
		m = m_new;
		l *= correction;
		for (int c = 0; c < d; c++)
			o[c] *= correction;
		for (int j = first_key; j < end; j++) {
			float p = expf(s[j] - m);
			l += p;
			for (int c = 0; c < d; c++)
				o[c] += p * V[(size_t)j * d + c];
		}
		*steps++ = (struct trace_step){m, l, correction};
		memcpy(O, o, sizeof *o * d);
		O += d;
	}
}
