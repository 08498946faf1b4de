// The weight of a score x as seen from a maximum m >= x. This class caps scores softly: x counts as SOFT_CAP *
// tanh(x / SOFT_CAP). m stays the largest of the scores themselves; the cap changes no order.
__device__ float weight(float x, float m)
{
	// TODO (about 3 lines): exp(cap(x) - cap(m)), and 0 when x is -INFINITY: masked scores have no weight.
	return 0.0f;
}

// Two pairs, of whatever scores, become the pair of all of them.
__device__ struct partial merge(struct partial a, struct partial b)
{
	// TODO (about 3 lines): the new maximum; then both sums, each brought to it.
	// Hint: a sum relative to a.m becomes one relative to m with a single factor. weight() is that factor.
	return a;
}
