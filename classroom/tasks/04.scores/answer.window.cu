float dot = 0.0f;
#pragma unroll
for (int c = 0; c < D; c++)
	if (c < d) // beyond d lies the next key
		dot += q_row[c] * K_tile[j * d + c];
bool seen = j < visible && abs(distance - j) < WINDOW;
float s = seen ? scale * dot : -INFINITY;
S[j * stride] = s;
m_tile = fmaxf(m_tile, s);
