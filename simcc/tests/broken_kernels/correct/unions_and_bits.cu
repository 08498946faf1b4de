// Unions, bit-fields, structs with padding; members written one by one, copied as a whole.
#include "../main.cuh"

union word {
	float f;
	unsigned u;
	unsigned char b[4];
};

struct best {
	float value;
	int index;
};

struct padded {
	double value;
	int index;
};

struct tagged {
	float value;
	unsigned char tag;
};

__global__ void work(const float *x, unsigned *bits, best *out, padded *p, tagged *g)
{
	__shared__ word w[64];
	__shared__ best s[64];
	int t = threadIdx.x;
	w[t].f = x[t];
	s[t].value = x[t];
	s[t].index = t;
	p[t].value = x[t];
	p[t].index = t;
	g[t].value = x[t];
	g[t].tag = t % 7;
	__syncthreads();
	bits[t] = w[63 - t].u ^ w[t].b[3];
	for (int half = 32; half > 0; half /= 2) {
		if (t < half) {
			best other = s[t + half];
			if (other.value > s[t].value)
				s[t] = other;
			if (p[t + half].value > p[t].value)
				p[t] = p[t + half];
			if (g[t + half].value > g[t].value)
				g[t] = g[t + half];
		}
		__syncthreads();
	}
	if (t == 0)
		*out = s[0];
}

int main()
{
	best *out = empty<best>(1);
	work<<<1, 64>>>(upwards<float>(64), empty<unsigned>(64), out, empty<padded>(64), empty<tagged>(64));
	return element(out, 0).value != 63 || end();
}
