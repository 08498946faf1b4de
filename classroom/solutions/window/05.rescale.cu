#ifndef HANDOUT
		// solution aae327e194a8
		float m_new = m[r];
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			if (abs(first_row + r * T::LANE_ROWS - first_key - j * T::LANE_KEYS) >= WINDOW)
				s[r][j] = -INFINITY;
			m_new = fmaxf(m_new, s[r][j]);
		}
		for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)
			m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffff, m_new, lanes));
		float largest = m_new == -INFINITY ? 0.0f : m_new; // no key of the window has come yet
		float correction = exp2f(m[r] - largest);
		m[r] = m_new;
		l[r] *= correction;
#pragma unroll
		for (int j = 0; j < T::KEYS; j++) {
			float p = exp2f(s[r][j] - largest);
			l[r] += p;
			P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS] = p;
		}
#pragma unroll
		for (int c = 0; c < T::COLUMNS; c++)
			o[r][c] *= correction;
#else
		// TODO (about 17 lines): first this class's window: scores of keys that are WINDOW or more away from
		// the row become -INFINITY. Then m_new, the largest of m[r] and of the row's scores s[r][...]; m[r]
		// and l[r] brought to it; p = 2^(s - m_new) added to l[r] and put into the slab; o[r][...]
		// corrected.
		// Hint: first_row and first_key are those of this lane's first score; rows are LANE_ROWS apart, keys
		// LANE_KEYS. Eight neighbouring lanes hold the keys of a row, KEYS each: their maximum has to go
		// round (three shuffles). It is -inf until the first key of the window comes, and -inf - -inf is
		// NaN. l stays this lane's own sum. Key j of row r lies at
		//     P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS]
		(void)s, (void)m, (void)l, (void)o, (void)P, (void)first_row, (void)first_key;
#endif
