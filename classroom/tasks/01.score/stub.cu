// TODO (about 4 lines): S[i, j], scale times the product of q and k, or -INFINITY where a causal
// mask hides key j from query i.
// Hint: S is one long array of rows of N numbers; `row` counts them through all heads, `i` within
// a head.
