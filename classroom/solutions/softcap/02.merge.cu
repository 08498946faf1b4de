#ifndef HANDOUT
// solution 93d283edfbbe
// The weight of a score x as seen from a maximum m >= x, both soft-capped. A score of -inf is masked out: no weight,
// whereas its cap would be -SOFT_CAP.
__device__ float weight(float x, float m)
{
	if (x == -INFINITY)
		return 0.0f;
	return expf(SOFT_CAP * (tanhf(x / SOFT_CAP) - tanhf(m / SOFT_CAP)));
}

// The two sums are relative to different maxima; the larger one becomes the reference of both.
__device__ struct partial merge(struct partial a, struct partial b)
{
	float m = fmaxf(a.m, b.m);
	struct partial both = {m, a.l * weight(a.m, m) + b.l * weight(b.m, m)};
	return both;
}
#else
// The weight of a score x as seen from a maximum m >= x. This class caps scores softly: x counts as SOFT_CAP *
// tanh(x / SOFT_CAP). m stays the largest of the scores themselves; the cap changes no order.
__device__ float weight(float x, float m)
{
	// TODO (about 3 lines): exp(cap(x) - cap(m)), and 0 when x is -INFINITY: masked scores have no weight.
	(void)x, (void)m, (void)SOFT_CAP;
	return 0.0f;
}

// Two pairs, of whatever scores, become the pair of all of them.
__device__ struct partial merge(struct partial a, struct partial b)
{
	// TODO (about 3 lines): the new maximum; then both sums, each brought to it.
	// Hint: a sum relative to a.m becomes one relative to m with a single factor. weight() is that factor.
	(void)b;
	return a;
}
#endif
