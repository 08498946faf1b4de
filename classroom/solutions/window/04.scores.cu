#ifndef HANDOUT
		// solution 6f26a0c61b6e
		float dot = 0.0f;
#pragma unroll
		for (int c = 0; c < D; c++)
			if (c < d) // beyond d lies the next key
				dot += q_row[c] * K_tile[j * d + c];
		bool seen = j < visible && abs(distance - j) < WINDOW;
		float s = seen ? scale * dot : -INFINITY;
		S[j * stride] = s;
		m_tile = fmaxf(m_tile, s);
#else
		// TODO (about 8 lines): the score of key j, scale times the product of q_row and the tile's row j,
		// or -INFINITY from key `visible` on and outside of this class's window: a query sees a key only if
		// less than WINDOW lies between them. Keep it in S, and the largest of all in m_tile.
		// Hint: `distance` is the query's number minus that of the tile's first key. A row of the tile has d
		// numbers, and neighbouring keys of this row lie `stride` numbers apart in S. A loop to the constant
		// D is unrolled, so that q_row stays in registers; `if (c < d)` inside it.
		(void)q_row, (void)K_tile, (void)visible, (void)distance, (void)scale, (void)S, (void)stride;
#endif
