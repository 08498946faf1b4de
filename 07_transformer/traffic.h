/*
 * Chapter 07: the bytes that a language model's kernels ask global memory for, from closed forms and as counted, by kind of
 * kernel and by what the bytes are.
 */
#ifndef TRAFFIC_H
#define TRAFFIC_H

#include "device_pass.h"

#include "measure/counts.h"

enum kind { KIND_NORM, KIND_PROJECT, KIND_ROPE, KIND_PERMUTE, KIND_ATTENTION, KIND_SWIGLU, KINDS };
extern const char *const kind_names[KINDS]; /* as kernels[].name has them */

/* Reads and writes. weights: as stored. kv: keys and values, their copies too. activations: all else. */
struct moved {
	uint64_t weights, kv, activations;
};

/*
 * Adds what a call of pass_run asks for: `count` tokens, at most `most_rows` at once, after `first` others, and the logits of
 * the last one. With L layers, C, C_kv, F as in forward.h, H heads and N rows at once, in numbers of 4 bytes:
 *
 *     rms_norm    3NC + NC a norm, NC of it weights
 *     project     of a [r, c]: N times the matrix as stored; N ⌈r/32⌉ c of x, N r of y, N r of the residual if there is one
 *     rope        2N H d + N H d, and the same for the G heads of K
 *     permute     4N (C + C_kv)
 *     attention   2NC of Q and O, 2C Σκ of keys and values: a query tile reads κ keys, of each head
 *     swiglu      3NF
 */
void moved_add_model(
	const struct language_model *model, enum heads heads, size_t first, size_t count, size_t most_rows,
	struct moved moved[KINDS]);

/* Adds what was counted. */
void moved_add_counts(const struct counts *counts, struct moved moved[KINDS]);

uint64_t moved_sum(struct moved moved);
bool moved_is_equal(struct moved a, struct moved b);

#endif
