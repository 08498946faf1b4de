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
