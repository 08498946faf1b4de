/*
 * A query that sees no key: L = -inf. Chapter 06's kernels under a main of their own, because no mask of the chapter
 * hides everything. Of scores that are -inf in fp32, O and all gradients are 0, and L is -inf. Prints a line for each
 * thing that is wrong and ends with 1.
 */
#include "backward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>

enum { N = 45, D = 8, ELEMENTS = N * D };

static int wrong;

#define CHECK(call)                                                                                                  \
	do {                                                                                                         \
		cudaError_t status = (call);                                                                         \
		if (status != cudaSuccess)                                                                           \
			printf("%s: %s\n", #call, cudaGetErrorName(status)), exit(2);                                \
	} while (0)

static float *device_copy(const float *values, size_t count)
{
	float *pointer;
	CHECK(cudaMalloc((void **)&pointer, count * sizeof *pointer));
	if (values)
		CHECK(cudaMemcpy(pointer, values, count * sizeof *pointer, cudaMemcpyHostToDevice));
	return pointer;
}

static struct backward allocate(const float *q, const float *k, const float *v, const float *d_o)
{
	return (struct backward){
		.Q = device_copy(q, ELEMENTS),
		.K = device_copy(k, ELEMENTS),
		.V = device_copy(v, ELEMENTS),
		.dO = device_copy(d_o, ELEMENTS),
		.O = device_copy(NULL, ELEMENTS),
		.LSE = device_copy(NULL, N),
		.dQ = device_copy(NULL, ELEMENTS),
		.dK = device_copy(NULL, ELEMENTS),
		.dV = device_copy(NULL, ELEMENTS),
		.delta = device_copy(NULL, N),
		.P = device_copy(NULL, N * N),
		.dP = device_copy(NULL, N * N),
		.dS = device_copy(NULL, N * N),
		.heads = 1,
		.N = N,
		.d = D,
		.tile = 32,
		.causal = false,
		.scale = 0.5f,
	};
}

static void fetch(const float *from, float *to, size_t count)
{
	CHECK(cudaMemcpy(to, from, count * sizeof *to, cudaMemcpyDeviceToHost));
}

static void expect_all(const char *what, const char *tensor, const float *on_device, size_t count, float expected)
{
	static float got[ELEMENTS];
	fetch(on_device, got, count);
	for (size_t i = 0; i < count; i++)
		if (got[i] != expected) {
			printf("%s: %s[%zu] is %g, expected %g\n", what, tensor, i, (double)got[i], (double)expected);
			wrong = 1;
			return;
		}
}

typedef cudaError_t launcher(struct backward);
static const struct {
	const char *name;
	launcher *launch;
} kernels[] = {
	{"naive", attention_backward_naive},
	{"split", attention_backward_split},
	{"atomic", attention_backward_atomic}};

int main(void)
{
	static float q[ELEMENTS], k[ELEMENTS], v[ELEMENTS], d_o[ELEMENTS];
	for (int i = 0; i < ELEMENTS; i++) {
		q[i] = 1e30f, k[i] = -1e30f;
		v[i] = d_o[i] = (float)(i % 7 - 3);
	}
	struct backward b = allocate(q, k, v, d_o);
	CHECK(attention_forward(b));
	expect_all("forward", "O", b.O, ELEMENTS, 0.0f);
	expect_all("forward", "LSE", b.LSE, N, -INFINITY);
	for (int i = 0; i < 3; i++) {
		CHECK(kernels[i].launch(b));
		expect_all(kernels[i].name, "dQ", b.dQ, ELEMENTS, 0.0f);
		expect_all(kernels[i].name, "dK", b.dK, ELEMENTS, 0.0f);
		expect_all(kernels[i].name, "dV", b.dV, ELEMENTS, 0.0f);
	}
	return wrong;
}
