#ifndef HANDOUT
	// solution c2c1578be82d
	float m_new = fmaxf(m_old, m_tile);
	float largest = m_new == -INFINITY ? 0.0f : m_new; // no key of the window has come yet: not -inf - -inf
	float from_old = l_old * expf(m_old - largest), from_tile = expf(m_tile - largest);
	float l_new = from_old + from_tile * l_tile;
	float inverse = l_new > 0.0f ? 1.0f / l_new : 0.0f; // not 0 / 0
	float keep = from_old * inverse, add = from_tile * inverse;
#pragma unroll
	for (int c = 0; c < D; c++)
		if (c < d) // beyond d lies the next row, which another thread is writing
			O[c] = (first ? 0.0f : keep * O[c]) + add * PV[c];
	*l = l_new;
	*m = m_new;
#else
	// TODO (about 11 lines): lines 11 to 13 of Algorithm 1. m_new, l_new; then
	//     O <- (l e^(m - m_new) O + e^(m~ - m_new) P~ V) / l_new        for the d columns there are
	// Hint: l and O are each a sum of two parts, with the same two factors. O holds nothing before the first
	// tile: what is read from HBM is counted, and what nobody wrote is a hazard. The window may hide the first
	// tiles from a row altogether: m_new is -inf and l_new 0 until its first key comes.
	(void)PV, (void)O, (void)m_old, (void)l_old, (void)m_tile, (void)l_tile;
#endif
