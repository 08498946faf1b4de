float dot = 0.0f;
#pragma unroll
for (int c = 0; c < D; c++)
	if (c < d) // beyond d lies the next key
		dot += q_row[c] * K_tile[j * d + c];
float s = SOFT_CAP * tanhf(scale * dot / SOFT_CAP);
s = j < visible ? s : -INFINITY; // masked after the cap: before it, tanh makes -SOFT_CAP of -inf
S[j * stride] = s;
m_tile = fmaxf(m_tile, s);
