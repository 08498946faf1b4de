// Your class, in about 5 lines: query i sees key j only if |i - j| < WINDOW, and none after itself
// when causal.
