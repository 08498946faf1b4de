#ifndef HANDOUT
// solution 23c6ee9df4b0
// The weight of a score x as seen from a maximum m >= x. While all scores are -inf, so is m, and exp(-inf + inf)
// would be NaN: what is masked out has no weight.
__device__ float weight(float x, float m)
{
	return m == -INFINITY ? 0.0f : expf(x - m);
}

// The two sums are relative to different maxima; the larger one becomes the reference of both.
__device__ struct partial merge(struct partial a, struct partial b)
{
	float m = fmaxf(a.m, b.m);
	struct partial both = {m, a.l * weight(a.m, m) + b.l * weight(b.m, m)};
	return both;
}

// What a stream begins with: it has seen a single score, 0, before the first column.
__device__ struct partial sink()
{
	struct partial single = {0.0f, 1.0f};
	return single;
}
#else
// The weight of a score x as seen from a maximum m >= x. While all scores are -inf, so is m: no weight then, not
// NaN.
__device__ float weight(float x, float m)
{
	// TODO (about 1 line): exp(x - m), and 0 when m is -INFINITY.
	(void)x, (void)m;
	return 0.0f;
}

// Two pairs, of whatever scores, become the pair of all of them.
__device__ struct partial merge(struct partial a, struct partial b)
{
	// TODO (about 3 lines): the new maximum; then both sums, each brought to it.
	// Hint: a sum of exp(x - a.m) becomes one of exp(x - m) with a single factor. weight() is that factor.
	(void)b;
	return a;
}

// The rows of this class have an attention sink: one more score, 0, that takes weight and has no column. Every
// stream begins with it.
__device__ struct partial sink()
{
	// TODO (about 2 lines): the pair of that one score.
	// Hint: of a single score x the largest is x; what is its sum of exp(x - m)?
	struct partial nothing = {-INFINITY, 0.0f};
	return nothing;
}
#endif
