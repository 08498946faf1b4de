/*
 * The tensors a kernel works on: their names, shapes and what happens to them.
 */
#ifndef PROBLEM_TENSOR_H
#define PROBLEM_TENSOR_H

#include "problem/problem.h"

#include <stdbool.h>

enum { MAX_TENSORS = 16 }; /* of a kernel */

enum tensor_role {
	TENSOR_INPUT,    /* copied to the device before the run; NAME.npy of --load, in lower case */
	TENSOR_GRADIENT, /* an input that --load may leave out: it is then generated, and the report says so */
	TENSOR_OUTPUT,   /* verified; NAME.npy of --save */
	TENSOR_PREPARED, /* an output that only `prepare` touches: in no floor */
	TENSOR_STARTS,   /* int, not fp32: the starts of packed sequences, copied to the device before the run */
	TENSOR_FILLED,   /* lives on the device only, and `prepare` fills it from the inputs: in no floor */
	TENSOR_SCRATCH   /* lives on the device only */
};

struct tensor {
	const char *name;  /* as papers and reports have it: "Q", "S", "LSE", ... */
	const char *shape; /* dimension letters, problem/problem.h: "BHNd" */
	enum tensor_role role;
	bool statistic; /* l, m, LSE, D: closed forms leave it out */
};

/* Fills shape[]; returns the rank. */
size_t tensor_shape(const struct problem *problem, const struct tensor *tensor, size_t shape[MAX_RANK]);

size_t tensor_elements(const struct problem *problem, const struct tensor *tensor);

/* Of one tensor; in double, because shapes that a user may ask for overflow 64 bits. */
double tensor_bytes(const struct problem *problem, const struct tensor *tensor);

/* The tensor of that name in a list; NULL if there is none. */
const struct tensor *tensor_find(const struct tensor *tensors, const char *name);

/* A tensor on the host, owned by the caller. Lists end with a NULL name. */
struct named_values {
	const char *name;
	const float *values;
};

/* Copies those of the list that a problem has, and the end of the list: sink and dsink with --sink, starts with --lengths. */
void tensors_of_problem(
	const struct tensor *tensors, const struct problem *problem, struct tensor own[MAX_TENSORS + 1]);

/* NULL if there is no tensor of that name. */
const float *find_values(const struct named_values *list, const char *name);

/* Lists of what several kernels work on; each ends with a NULL name. */
extern const struct tensor attention_tensors[];       /* Q K V; O LSE */
extern const struct tensor fa1_tensors[];             /* Q K V; O; l m */
extern const struct tensor backward_tensors[];        /* Q K V dO; O LSE, D, dQ dK dV */
extern const struct tensor backward_square_tensors[]; /* Q K V dO; O LSE, P dP dS, dQ dK dV */
extern const struct tensor softmax_tensors[];         /* x; y m l */
extern const struct tensor softmax_dot_tensors[];     /* x V; y m l */
extern const struct tensor matmul_tensors[];          /* A B; C */

static inline bool tensor_is_input(const struct tensor *tensor)
{
	return tensor->role == TENSOR_INPUT || tensor->role == TENSOR_GRADIENT;
}

static inline bool tensor_is_output(const struct tensor *tensor)
{
	return tensor->role == TENSOR_OUTPUT || tensor->role == TENSOR_PREPARED;
}

#endif
