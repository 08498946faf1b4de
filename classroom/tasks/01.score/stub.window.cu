// TODO (about 5 lines): S[i, j], scale times the product of q and k, or -INFINITY where query i
// does not see key j. This class looks through a window: i sees j only if |i - j| < WINDOW, and
// none after itself when causal.
// Hint: S is one long array of rows of N numbers; `row` counts them through all heads, `i` within
// a head.
