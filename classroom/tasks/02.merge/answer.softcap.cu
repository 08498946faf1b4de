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
