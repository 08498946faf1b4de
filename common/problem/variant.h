/*
 * What a class computes instead of the course's own function. A hand-out gives each class its own
 * (classroom/README.md), so that the solution of another class is a wrong one; the reference and the tolerance
 * follow. The course is plain.
 *
 *     VARIANT_SOFTCAP   attention: s <- c tanh(s / c), s the scaled score; masked scores stay -inf
 *                       softmax: weights are exp(c tanh(x / c) - c tanh(m / c)), m the largest x; -inf has no weight
 *                       product: C <- c tanh(C / c)
 *     VARIANT_WINDOW    attention: query i sees key j only if |i - j| < W, and j <= i when causal
 *     VARIANT_SINK      softmax: one more score, 0, that has no column; m and l count it
 *     VARIANT_RELU      product: C <- max(C, 0)
 */
#ifndef PROBLEM_VARIANT_H
#define PROBLEM_VARIANT_H

#include <stddef.h>

enum variant_kind { VARIANT_PLAIN, VARIANT_SOFTCAP, VARIANT_WINDOW, VARIANT_SINK, VARIANT_RELU, VARIANT_KINDS };

/* "plain", "softcap", ...: as class.tsv spells them. */
extern const char *const variant_names[VARIANT_KINDS];

struct class_variant {
	enum variant_kind kind;
	float value; /* c or W; 0 where there is none */
};

/* The class's variant of a chapter ("05_fa2"): plain, unless this tree was handed out to a class. */
struct class_variant variant_of_chapter(const char *chapter);

/* What becomes of a number that is soft-capped in this variant, else the number. What the variants of attention do to its scores
 * is in problem/modifiers.h. */
double variant_cap(struct class_variant variant, double x);

/* ", soft-cap 2.5" to be shown after a problem; "" when plain. */
const char *variant_text(struct class_variant variant, char *text, size_t size);

#endif
