// Scores are powers of 2, and so is the cap: LOG2_E c tanh(s / c) with LOG2_E s in the place of s.
constexpr float cap = LOG2_E * SOFT_CAP;
float m_new = m[r];
#pragma unroll
for (int j = 0; j < T::KEYS; j++) {
	if (s[r][j] != -INFINITY) // masked scores are -inf already; tanh would make -cap of them
		s[r][j] = cap * tanhf(s[r][j] / cap);
	m_new = fmaxf(m_new, s[r][j]);
}
for (int lanes = 1; lanes < T::LANE_KEYS; lanes *= 2)
	m_new = fmaxf(m_new, __shfl_xor_sync(0xffffffff, m_new, lanes));
// m_new is finite: every row sees key 0, which comes first.
float correction = exp2f(m[r] - m_new);
m[r] = m_new;
l[r] *= correction;
#pragma unroll
for (int j = 0; j < T::KEYS; j++) {
	float p = exp2f(s[r][j] - m_new);
	l[r] += p;
	P[r * T::LANE_ROWS * T::P_STRIDE + j * T::LANE_KEYS] = p;
}
#pragma unroll
for (int c = 0; c < T::COLUMNS; c++)
	o[r][c] *= correction;
