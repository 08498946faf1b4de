// Unions, bit-fields, structs with padding; members written one by one, copied as a whole.
#include <cstdio>

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
	float h[64], *x;
	unsigned *bits;
	best *out, b;
	padded *wide;
	tagged *tags;
	for (int i = 0; i < 64; i++)
		h[i] = i * 11 % 64;
	cudaMalloc(&x, sizeof h);
	cudaMalloc(&bits, sizeof h);
	cudaMalloc(&out, sizeof *out);
	cudaMalloc(&wide, 64 * sizeof *wide);
	cudaMalloc(&tags, 64 * sizeof *tags);
	cudaMemcpy(x, h, sizeof h, cudaMemcpyHostToDevice);
	work<<<1, 64>>>(x, bits, out, wide, tags);
	cudaMemcpy(&b, out, sizeof b, cudaMemcpyDeviceToHost);
	cudaFree(x), cudaFree(bits), cudaFree(out), cudaFree(wide), cudaFree(tags);
	return b.value != 63;
}
