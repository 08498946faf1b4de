if (x == -INFINITY)
	return 0.0f; // masked out; its cap would be -SOFT_CAP
return expf(SOFT_CAP * (tanhf(x / SOFT_CAP) - tanhf(m / SOFT_CAP)));
