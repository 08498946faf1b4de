// TODO (about 5 lines): S[i, j]: s is scale times the product of q and k; this class caps it
// softly, to SOFT_CAP * tanh(s / SOFT_CAP); -INFINITY where a causal mask hides key j from query
// i.
// Hint: the order matters: what is tanh(-inf)? S is one long array of rows of N numbers; `row`
// counts them through all heads, `i` within a head.
