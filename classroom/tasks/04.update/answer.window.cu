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
