/*
 * Chapter 02: softmax of the rows of a matrix, in three passes, in two, and, as part of a weighted sum, in one.
 *
 *     m = max_j x_j        l = sum_j exp(x_j - m)        y_j = exp(x_j - m) / l
 */
#ifndef ONLINE_SOFTMAX_H
#define ONLINE_SOFTMAX_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Device pointers, fp32, row-major; the caller owns all of it. A score may be -inf: it has no weight. */
struct softmax {
	const float *x; /* [R, C] scores */
	const float *V; /* [C, d] values; only launch_softmax_dot reads them */
	float *y;       /* [R, C]; of launch_softmax_dot [R, d] */
	float *m, *l;   /* [R] the largest score, and the sum of the exponentials */
	int rows, cols; /* R C */
	int dim;        /* d, at most SOFTMAX_MOST_DIM */
	int block;      /* W: columns of a block of the stream, any number >= 1 */
};

enum { SOFTMAX_MOST_DIM = 128 };

/* y = softmax(x). Any rows, cols >= 1. A row of nothing but -inf has y = 0, l = 0, m = -inf. */
cudaError_t launch_softmax_three_pass(struct softmax softmax);
cudaError_t launch_softmax_online(struct softmax softmax);

/*
 * y = softmax(x) V. Keeps a block of columns in shared memory: softmax_dot_shared_bytes must be within the device's
 * limit, or the launch fails with cudaErrorInvalidValue.
 */
cudaError_t launch_softmax_dot(struct softmax softmax);
size_t softmax_dot_shared_bytes(int cols, int block);

/* One step of the stream: what is known after a block, and what the sum so far was multiplied by to get there. */
struct update {
	float m, l, correction;
};

/* Every update of one row, as softmax_online makes them; updates [ceil(C/W)], on the device. */
cudaError_t launch_softmax_trace(struct softmax softmax, int row, struct update *updates);

#ifdef __cplusplus
}
#else

/* ---- reference.c and scores.c: nothing that a kernel needs ---- */

#include <stdint.h>

struct problem;
struct class_variant;
struct named_values;
struct expectations;
struct options;
struct error;

struct softmax_row {
	double m, l;
};

/* One row: weights[cols] gets y. Returns m and l. */
struct softmax_row softmax_reference(const float *x, size_t cols, struct class_variant variant, double *weights);

/* The weight of a score x beside a largest one of m, neither divided by l nor NaN for -inf. */
double softmax_weight(double x, double m, struct class_variant variant);

/*
 * What "y" [R, C], "y" [R, d] = softmax(x) V, "m" [R] and "l" [R] should be, from the host values of x [R, C] and,
 * where a kernel takes it, V [C, d]. Up to 2^30 products y v all rows are checked; beyond that SAMPLED_ROWS of them. A
 * --row that is no row of x is EXIT_USAGE.
 */
int softmax_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);

/* As struct chapter's `provide`. */
int scores_provide(
	const struct options *options, const char *tensor, struct problem *problem, uint64_t *fixed, float **values,
	struct error *error);

/* The row of x that --row means: of attention's scores, x holds just that one. */
size_t scores_row(const struct problem *problem);
#endif
#endif
