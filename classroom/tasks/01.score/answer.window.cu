float dot = 0.0f;
for (int c = 0; c < d; c++)
	dot += q[c] * k[c];
// A hidden score is -inf: its exponential is 0. Naive attention computes it all the same.
bool hidden = abs(i - j) >= WINDOW || (causal && j > i);
S[row * N + j] = hidden ? -INFINITY : scale * dot;
