/*
 * Chapter 00: what a GPU is. Small kernels on a matrix x of R rows and C columns, each of which shows one thing.
 */
#ifndef GPU_H
#define GPU_H

#include <cuda_runtime_api.h>

#ifdef __cplusplus
extern "C" {
#endif

/* Device pointers, fp32; the caller owns all of it. Each array has one number per element, as its thread sees itself. */
struct thread_ids {
	float *grid;   /* [R, C] blocks of the grid */
	float *block;  /* [R, C] number of the block */
	float *thread; /* [R, C] number of the thread in its block */
	float *warp;   /* [R, C] number of the warp in its block */
	float *lane;   /* [R, C] number of the thread in its warp */
	size_t count;  /* R C */
};

/* Device pointers, fp32, row-major; the caller owns all of it. */
struct matrix {
	const float *x;    /* [R, C] */
	float *y;          /* copies: [R, C]; transposes: [C, R]; sums: [R] */
	size_t rows, cols; /* R C, each >= 1 */
};

/*
 * THREADS_PER_BLOCK threads per block, but TILE_SIDE² in the transposes, whose grid is two-dimensional: they take up to
 * MOST_TILE_ROWS tiles of TILE_SIDE rows. A float holds whole numbers up to MOST_BLOCKS: who_am_i takes so many blocks.
 */
enum { THREADS_PER_BLOCK = 256, TILE_SIDE = 32, MOST_TILE_ROWS = 65535, MOST_BLOCKS = 1 << 24 };

cudaError_t launch_who_am_i(struct thread_ids ids);
cudaError_t launch_copy(struct matrix matrix);
cudaError_t launch_copy_strided(struct matrix matrix);
cudaError_t launch_copy_float4(struct matrix matrix);
cudaError_t launch_transpose(struct matrix matrix);
cudaError_t launch_transpose_padded(struct matrix matrix);
cudaError_t launch_sum(struct matrix matrix);
cudaError_t launch_sum_shuffle(struct matrix matrix);

#ifdef __cplusplus
}
#endif
#endif
