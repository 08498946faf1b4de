/*
 * How long a conversation will take: layer 0 runs on a few tokens, and the rest follows from the ratio of the work. A guess,
 * right to a factor of two or so; all that is neither attention nor a product with weights takes little.
 */
#ifndef MODEL_PASS_TIME_H
#define MODEL_PASS_TIME_H

#include "model/forward.h"

/* Of attention and of the products with weights: seconds, or work, of which only ratios count. */
struct pass_time {
	double attention, products;
};

/* Multiplications that any machine does in less than an hour, so that nobody waits for a measurement. */
#define LITTLE_WORK 1e10

/* Multiplications of `tokens` tokens in all layers: with each key of each causal pair, and with the weights; of the logits
 * after `logit_rows` of them. */
struct pass_time pass_work(const struct language_model *model, size_t tokens, size_t logit_rows);

enum { MOST_MEASURED_ROWS = 32 };

/*
 * The first `rows` tokens, at most MOST_MEASURED_ROWS, in layer 0: seconds through the operations of `pass`, which has
 * run nothing yet and whose buffers are used, and through those of the reference; and the work that this is. The device
 * counts these launches, too. Returns what pass_run would.
 */
int pass_measure(
	struct pass *pass, size_t rows, struct pass_time *seconds, struct pass_time *reference,
	struct pass_time *work, struct error *error);

#endif
