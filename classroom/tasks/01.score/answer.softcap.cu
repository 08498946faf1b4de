float dot = 0.0f;
for (int c = 0; c < d; c++)
	dot += q[c] * k[c];
// Capped first, masked then: a masked score is -inf, its exponential 0. The other way round tanh
// makes -SOFT_CAP of it, a weight like any other.
float s = SOFT_CAP * tanhf(scale * dot / SOFT_CAP);
S[row * N + j] = causal && j > i ? -INFINITY : s;
