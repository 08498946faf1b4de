/*
 * Chapter 03: the product of two matrices, seven times, each time with one thing changed.
 *
 *     C = A B        C_ij = sum_p a_ip b_pj
 */
#ifndef TILED_MATMUL_H
#define TILED_MATMUL_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Device pointers, fp32, row-major; the caller owns all of it. */
struct matmul {
	const float *A; /* [m, k] */
	const float *B; /* [k, n] */
	float *C;       /* [m, n] */
	int m, n, k;    /* any >= 1, up to 2^20 */
};

/* The tiles: MATMUL_TILE x MATMUL_TILE elements of C for tiled, padded and column, MATMUL_REGISTER_TILE² for
 * square and registers. */
enum { MATMUL_TILE = 32, MATMUL_REGISTER_TILE = 128 };

cudaError_t launch_matmul_naive(struct matmul matmul);
cudaError_t launch_matmul_coalesced(struct matmul matmul);
cudaError_t launch_matmul_tiled(struct matmul matmul);
cudaError_t launch_matmul_padded(struct matmul matmul);
cudaError_t launch_matmul_column(struct matmul matmul);
cudaError_t launch_matmul_square(struct matmul matmul);
cudaError_t launch_matmul_registers(struct matmul matmul);

#ifdef __cplusplus
}
#else

/* ---- reference.c: nothing that a kernel needs ---- */

struct problem;
struct named_values;
struct expectations;
struct error;

/*
 * What "C" [m, n] should be, from the host values of A [m, k] and B [k, n]. Up to 2^30 products all rows are checked;
 * beyond that SAMPLED_ROWS of them.
 */
int matmul_expect(
	const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
	struct error *error);
#endif
#endif
