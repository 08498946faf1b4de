#ifndef HANDOUT
		// solution cd9972fe6719
		float dot = 0.0f;
		for (int c = 0; c < d; c++)
			dot += q[c] * k[c];
		// A hidden score is -inf: its exponential is 0. Naive attention computes it all the same.
		bool hidden = abs(i - j) >= WINDOW || (causal && j > i);
		S[row * N + j] = hidden ? -INFINITY : scale * dot;
#else
		// TODO (about 5 lines): S[i, j], scale times the product of q and k, or -INFINITY where query i does
		// not see key j. This class looks through a window: i sees j only if |i - j| < WINDOW, and none
		// after itself when causal.
		// Hint: S is one long array of rows of N numbers; `row` counts them through all heads, `i` within a
		// head.
		(void)&q, (void)&k, (void)&i, (void)S, (void)causal, (void)scale, (void)WINDOW;
#endif
