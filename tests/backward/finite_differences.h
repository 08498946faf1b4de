/* Gradients without calculus: the loss at x + h and at x - h, in double precision. */
#ifndef FINITE_DIFFERENCES_H
#define FINITE_DIFFERENCES_H

#include "verify/gradients.h"

enum { TENSORS = 4 };
extern const char *const tensor_names[TENSORS]; /* Q K V dO */

/* A small problem with standard normal inputs. */
struct setting {
	struct attention_inputs inputs;
	float *tensors[TENSORS]; /* the first three are those of inputs */
	float *sink;             /* [H], of the inputs if they have one */
	size_t elements;         /* of Q, dO; of K and V, too, where there are as many heads of them */
	size_t key_elements;
};

struct setting set_up(size_t batch, size_t heads, size_t seq, size_t dim, bool causal, float scale);

/* The same with modifiers; a `sink` that is not NULL stands for normal numbers. */
struct setting set_up_with(
	struct modifiers modifiers, size_t batch, size_t heads, size_t seq, size_t dim, bool causal);
void tear_down(struct setting *setting);

/* Writes the tensors where --load finds them. */
void save_inputs(const char *directory, const struct setting *setting);

/* The derivatives of the loss <O, dO>, whose gradient with respect to O is dO, by all numbers of x; to be freed. */
double *finite_differences(struct setting *setting, float *x, size_t count);

/* The gradient in directory/name.npy against these: off by `tolerance` of the largest at most. */
void expect_gradient(
	const char *directory, const char *name, const double *differences, size_t count, double tolerance,
	const char *what);

#endif
