#ifndef HANDOUT
		// solution 79d596cfd769
		float dot = 0.0f;
		for (int c = 0; c < d; c++)
			dot += q[c] * k[c];
		// Capped first, masked then: a masked score is -inf, its exponential 0. The other way round tanh
		// makes -SOFT_CAP of it, a weight like any other.
		float s = SOFT_CAP * tanhf(scale * dot / SOFT_CAP);
		S[row * N + j] = causal && j > i ? -INFINITY : s;
#else
		// TODO (about 5 lines): S[i, j]: s is scale times the product of q and k; this class caps it softly,
		// to SOFT_CAP * tanh(s / SOFT_CAP); -INFINITY where a causal mask hides key j from query i.
		// Hint: the order matters: what is tanh(-inf)? S is one long array of rows of N numbers; `row`
		// counts them through all heads, `i` within a head.
		(void)&q, (void)&k, (void)&i, (void)S, (void)causal, (void)scale, (void)SOFT_CAP;
#endif
