#ifndef HANDOUT
		// solution c08175218628
		float dot = 0.0f;
#pragma unroll
		for (int c = 0; c < D; c++)
			if (c < d) // beyond d lies the next key
				dot += q_row[c] * K_tile[j * d + c];
		float s = SOFT_CAP * tanhf(scale * dot / SOFT_CAP);
		s = j < visible ? s : -INFINITY; // masked after the cap: before it, tanh makes -SOFT_CAP of -inf
		S[j * stride] = s;
		m_tile = fmaxf(m_tile, s);
#else
		// TODO (about 8 lines): the score of key j: s is scale times the product of q_row and the tile's row
		// j; this class caps it softly, to SOFT_CAP * tanh(s / SOFT_CAP); -INFINITY from key `visible` on.
		// Keep it in S, and the largest of all in m_tile.
		// Hint: a row of the tile has d numbers, and neighbouring keys of this row lie `stride` numbers
		// apart in S. A loop to the constant D is unrolled, so that q_row stays in registers; `if (c < d)`
		// inside it.
		(void)q_row, (void)K_tile, (void)visible, (void)scale, (void)S, (void)stride;
#endif
