/*
 * Chapter 07: the kernels on the harness's inputs: their tensors, how they are launched, and their closed forms.
 */
#ifndef BLOCK_H
#define BLOCK_H

#include "harness.h"

/* C */
static inline size_t row_width(const struct problem *problem)
{
	return problem->heads * problem->dim;
}

/* A row of C = H d columns a token; K and V have M rows of G d. */
extern const struct tensor norm_tensors[], rope_tensors[], project_tensors[], swiglu_tensors[], strided_tensors[],
	permuted_tensors[];

cudaError_t run_rms_norm(const struct problem *problem, const struct device_memory *memory);
cudaError_t run_rope(const struct problem *problem, const struct device_memory *memory);
cudaError_t run_project(const struct problem *problem, const struct device_memory *memory);
cudaError_t run_swiglu(const struct problem *problem, const struct device_memory *memory);
cudaError_t run_strided(const struct problem *problem, const struct device_memory *memory);
cudaError_t run_permuted(const struct problem *problem, const struct device_memory *memory);
bool attention_runs(const struct problem *problem, char *reason, size_t size);

/* All heads and all launches together; the letters are those of README.md. */
struct closed_forms norm_forms(const struct problem *problem);
struct closed_forms rope_forms(const struct problem *problem);
struct closed_forms project_forms(const struct problem *problem);
struct closed_forms swiglu_forms(const struct problem *problem);
struct closed_forms strided_forms(const struct problem *problem);
struct closed_forms permuted_forms(const struct problem *problem);

#endif
