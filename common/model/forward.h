/*
 * The forward pass of a language model, written once over a table of operations: reference.c fills it in double precision,
 * plain.c in fp32, a chapter with kernels. A pass keeps the keys and values of the tokens it has seen (the KV cache), so a
 * further token costs one row.
 *
 * Buffers are the filling's own: arrays of fp32 or double in whatever memory it works on. C = heads * head_dim is a row's
 * width, C_kv = kv_heads * head_dim that of its keys and of its values, F = hidden; row i of a call is token first + i.
 */
#ifndef MODEL_FORWARD_H
#define MODEL_FORWARD_H

#include "model/language_model.h"

/* An operation that fails, on a device, says so to `status` later; those after it may do nothing. */
struct operations {
	const char *name;
	size_t number_bytes; /* of an element of its buffers */
	void *state;         /* the first argument of all but attend */
	void *attend_state;  /* attend's: the same, unless another filling does it, */
	int (*attend_status)(void *attend_state, struct error *error); /* then `status` of that one, */
	void (*attend_end)(void *attend_state);                        /* and `end`; else NULL */

	/* A buffer of `numbers`, released with the state; NULL without memory. */
	void *(*allocate)(void *state, const char *name, size_t numbers);

	/* x [rows, C] = the embedding's rows of these tokens */
	void (*embed)(void *state, const int *ids, size_t rows, void *x);
	/* y = x weight / sqrt(mean x^2 + epsilon), row by row; x, y [rows, C] */
	void (*rms_norm)(void *state, const void *x, const float *weight, size_t rows, void *y);
	/* y = residual + x Wᵀ; x [rows, W.columns], y and residual [rows, W.rows]; residual NULL: 0, or y itself */
	void (*project)(
		void *state, const struct matrix *weights, const void *x, size_t rows, const void *residual, void *y);
	/* Turns each of `heads` heads of x [rows, heads, head_dim] by its token's angles. */
	void (*rope)(void *state, void *x, size_t rows, size_t heads, size_t first);
	/* o [rows, C]: causal attention of q [rows, C] to keys and values [first + rows, C_kv] of a layer, the last `rows`
	 * of which are new */
	void (*attend)(
		void *state, size_t layer, const void *q, const void *keys, const void *values, size_t rows,
		size_t first, void *o);
	/* gate = up * gate / (1 + exp(-gate)) */
	void (*swiglu)(void *state, void *gate, const void *up, size_t numbers);
	/* Copies to the host. */
	void (*fetch)(void *state, const void *buffer, size_t numbers, double *values);

	/* 0, or what failed first. */
	int (*status)(void *state, struct error *error);
	/* Frees the state and its buffers. NULL is allowed. */
	void (*end)(void *state);
};

/* Of all that take part. An empty table has no end. */
int operations_status(const struct operations *operations, struct error *error);
void operations_end(const struct operations *operations);

/* The fillings of the host, for one model, which has to stay open. The caller ends them. */
int reference_operations(const struct language_model *model, struct operations *operations, struct error *error);
int plain_operations(const struct language_model *model, struct operations *operations, struct error *error);

/* A conversation: how many tokens it has, and what the model remembers of them. */
struct pass {
	const struct language_model *model;
	const struct operations *operations;
	size_t tokens, capacity, most_rows;
	size_t rows;                              /* that were run at once last: x has them */
	void *x, *n, *q, *o, *gate, *up, *logits; /* [most_rows, C], ..., [vocabulary] */
	void *keys, *values;                      /* [layers, capacity, C_kv] */
};

/*
 * Makes room for `capacity` tokens, of which at most `most_rows` at once. EXIT_USAGE when that is more than the model's
 * context. The buffers go with the operations.
 */
int pass_begin(
	const struct language_model *model, const struct operations *operations, size_t capacity, size_t most_rows,
	struct pass *pass, struct error *error);

/* Runs `count` >= 1 further tokens; logits [vocabulary] are those after the last one. EXIT_USAGE when the room is full. */
int pass_run(struct pass *pass, const int *ids, size_t count, double *logits, struct error *error);

/* The logits after row `row` of those that were run at once last: what a pass without a cache says of every token. */
int pass_logits(struct pass *pass, size_t row, double *logits, struct error *error);

/* The larger of `largest` and the differences of `count` logits; NaN, once there is one. */
double logits_error(const float *logits, const double *expected, size_t count, double largest);

#endif
