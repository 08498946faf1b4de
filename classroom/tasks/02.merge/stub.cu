// The weight of a score x as seen from a maximum m >= x. While all scores are -inf, so is m: no weight then, not
// NaN.
__device__ float weight(float x, float m)
{
	// TODO (about 1 line): exp(x - m), and 0 when m is -INFINITY.
	return 0.0f;
}

// Two pairs, of whatever scores, become the pair of all of them.
__device__ struct partial merge(struct partial a, struct partial b)
{
	// TODO (about 3 lines): the new maximum; then both sums, each brought to it.
	// Hint: a sum of exp(x - a.m) becomes one of exp(x - m) with a single factor. weight() is that factor.
	return a;
}
