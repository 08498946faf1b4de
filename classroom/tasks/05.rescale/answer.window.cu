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
