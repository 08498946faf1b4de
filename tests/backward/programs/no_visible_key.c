/*
 * A query that sees no key: L = -inf. Chapter 06's kernels under a main of their own, because no mask of the chapter
 * hides everything. Prints a line for each thing that is wrong and ends with 1.
 *
 * First, L of one query is set to -inf after the forward: the gradients must be those of a dO that is 0 there, to the
 * bit. Second, scores that are -inf in fp32: O and all gradients are 0, L is -inf.
 */
#include "backward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { N = 45, D = 8, ELEMENTS = N * D, QUERY = 37 };

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

static void expect_equal(const char *what, const char *tensor, const float *got, const float *expected, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!(got[i] == expected[i])) {
			printf("%s: %s[%zu] is %g, expected %g\n", what, tensor, i, (double)got[i],
			       (double)expected[i]);
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

static float q[ELEMENTS], k[ELEMENTS], v[ELEMENTS], d_o[ELEMENTS], zeros[ELEMENTS];
static float got[3][ELEMENTS], expected[3][ELEMENTS];

static void run(launcher *launch, struct backward b, float gradients[3][ELEMENTS])
{
	CHECK(launch(b));
	fetch(b.dQ, gradients[0], ELEMENTS);
	fetch(b.dK, gradients[1], ELEMENTS);
	fetch(b.dV, gradients[2], ELEMENTS);
}

static void fill(void)
{
	unsigned state = 1;
	float *tensors[] = {q, k, v, d_o};
	for (int t = 0; t < 4; t++)
		for (int i = 0; i < ELEMENTS; i++) {
			state = state * 1664525u + 1013904223u;
			tensors[t][i] = (float)(state >> 8) / (1 << 23) - 1.0f;
		}
}

int main(void)
{
	static const char *const names[] = {"dQ", "dK", "dV"};
	float minus_infinity = -INFINITY, lse[N], o[ELEMENTS];
	fill();
	struct backward masked = allocate(q, k, v, d_o);
	memset(d_o + QUERY * D, 0, D * sizeof *d_o);
	struct backward silent = allocate(q, k, v, d_o);
	CHECK(attention_forward(masked));
	CHECK(attention_forward(silent));
	CHECK(cudaMemcpy(masked.LSE + QUERY, &minus_infinity, sizeof minus_infinity, cudaMemcpyHostToDevice));
	for (int i = 0; i < 3; i++) {
		run(kernels[i].launch, masked, got);
		run(kernels[i].launch, silent, expected);
		for (int t = 0; t < 3; t++)
			expect_equal(kernels[i].name, names[t], got[t], expected[t], ELEMENTS);
	}

	for (int i = 0; i < ELEMENTS; i++)
		q[i] = 1e30f, k[i] = -1e30f;
	struct backward empty = allocate(q, k, v, d_o);
	CHECK(attention_forward(empty));
	fetch(empty.O, o, ELEMENTS);
	fetch(empty.LSE, lse, N);
	expect_equal("forward", "O", o, zeros, ELEMENTS);
	for (int i = 0; i < N; i++)
		if (lse[i] != -INFINITY) {
			printf("forward: LSE[%d] is %g, expected -inf\n", i, (double)lse[i]);
			wrong = 1;
			break;
		}
	for (int i = 0; i < 3; i++) {
		run(kernels[i].launch, empty, got);
		for (int t = 0; t < 3; t++)
			expect_equal(kernels[i].name, names[t], got[t], zeros, ELEMENTS);
	}
	return wrong;
}
