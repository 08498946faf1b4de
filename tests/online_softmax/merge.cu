/*
 * merge, on the device: any association and any order of the same pairs gives the same m, and the same l but for
 * rounding, as compared with one sum in double precision. Prints a line for each thing that is wrong.
 */
#include "partial.cuh"

#include <stdio.h>
#include <stdlib.h>

constexpr int COUNT = 64;
constexpr int ORDERS = 5;

// Pairs of single scores, merged from the left, from the right, as a tree, as a tree of halves with a stride, and as
// a warp does it with shuffles (two scores a lane).
__global__ void merge_in_every_order(const float *x, struct partial *results) // x [COUNT], results [ORDERS]
{
	struct partial tree[COUNT], nothing = {-INFINITY, 0.0f};
	struct partial left = nothing, right = nothing;
	for (int i = 0; i < COUNT; i++) {
		struct partial single = {x[i], 1.0f}, last = {x[COUNT - 1 - i], 1.0f};
		left = merge(left, single);
		right = merge(last, right);
		tree[i] = single;
	}
	for (int width = 1; width < COUNT; width *= 2)
		for (int i = 0; i < COUNT; i += 2 * width)
			tree[i] = merge(tree[i], tree[i + width]);
	struct partial neighbors = tree[0];
	for (int i = 0; i < COUNT; i++) {
		struct partial single = {x[i], 1.0f};
		tree[i] = single;
	}
	for (int width = COUNT / 2; width > 0; width /= 2)
		for (int i = 0; i < width; i++)
			tree[i] = merge(tree[i + width], tree[i]);
	struct partial first = {x[threadIdx.x], 1.0f}, second = {x[threadIdx.x + WARP], 1.0f};
	struct partial warp = merge_over_warp(merge(first, second));
	if (threadIdx.x == 0) {
		results[0] = left;
		results[1] = right;
		results[2] = neighbors;
		results[3] = tree[0];
		results[4] = warp;
	}
}

static int compare(const char *name, const float *x, const struct partial *results)
{
	double m = -INFINITY, l = 0.0;
	int wrong = 0;
	for (int i = 0; i < COUNT; i++)
		m = fmax(m, x[i]);
	for (int i = 0; i < COUNT && m > -INFINITY; i++)
		l += exp(x[i] - m);
	for (int order = 0; order < ORDERS; order++) {
		double error = fabs(results[order].l - l);
		if (results[order].m == m && error <= 0x1p-23 * l * (8 + COUNT / 2.0))
			continue;
		printf("%s, order %d: m %g l %g, expected m %g l %g\n", name, order, results[order].m,
		       results[order].l, m, l);
		wrong++;
	}
	return wrong;
}

static float score(const char *kind, int i)
{
	float noise = (float)((i * 7919 + 31) % 1000) / 250.0f - 2.0f;
	switch (kind[0]) {
	case 'n': return noise;                            // noise
	case 'r': return 0.75f * i;                        // rising: the maximum changes at every step
	case 'f': return -0.75f * i;                       // falling: it never does
	case 'e': return 8.0f;                             // equal
	case 'v': return -2048.0f + noise;                 // very negative
	case 'h': return i % 2 ? 1e30f : -1e30f;           // huge
	case 'm': return i % 3 ? -INFINITY : noise;        // masked
	case 'a': return -INFINITY;                        // all masked
	case 'l': return i == COUNT - 1 ? 100.0f : noise;  // the largest comes last
	default: return i < COUNT / 2 ? -INFINITY : noise; // the first half is masked
	}
}

int main(void)
{
	static const char *const kinds[] = {"noise", "rising", "falling",    "equal",        "very negative",
	                                    "huge",  "masked", "all masked", "largest last", "starts masked"};
	float x[COUNT], *device_x;
	struct partial results[ORDERS], *device_results;
	int wrong = 0;
	if (cudaMalloc(&device_x, sizeof x) != cudaSuccess ||
	    cudaMalloc(&device_results, sizeof results) != cudaSuccess)
		return 3;
	for (size_t kind = 0; kind < sizeof kinds / sizeof kinds[0]; kind++) {
		for (int i = 0; i < COUNT; i++)
			x[i] = score(kinds[kind], i);
		cudaMemcpy(device_x, x, sizeof x, cudaMemcpyHostToDevice);
		merge_in_every_order<<<1, WARP>>>(device_x, device_results);
		if (cudaMemcpy(results, device_results, sizeof results, cudaMemcpyDeviceToHost) != cudaSuccess)
			return 1;
		wrong += compare(kinds[kind], x, results);
	}
	printf("%zu kinds of scores in %d orders, %d wrong\n", sizeof kinds / sizeof kinds[0], ORDERS, wrong);
	return wrong != 0;
}
