/*
 * Chapter 08: its attention in the forward pass of a language model (model/forward.h), the rest of which is plain C.
 *
 * A row of a prompt is a step of its own: one query, and the keys up to its own token. So every token goes the way of a
 * decoded one; chapter 07 has the kernel that reads a prompt in tiles of queries.
 */
#ifndef DECODE_PASS_H
#define DECODE_PASS_H

#include "chapter.h"
#include "model/forward.h"

enum way { WAY_NAIVE, WAY_GROUPED, WAY_SPLIT, WAY_PAGED, WAYS };
extern const char *const way_names[WAYS]; /* as kernels[].name has them */

/* How a model's cache is kept and read. */
struct cache_shape {
	enum way way;
	size_t splits, page;
	uint64_t seed; /* of the order of pages */
};

struct decode_pass;

/*
 * A call has at most `most_rows` rows, a pass at most `capacity` tokens. operations->status does not see what the device
 * says, decode_pass_status does. The caller frees *pass with decode_pass_free after operations->end, after an error too.
 */
int decode_operations(
	const struct language_model *model, struct cache_shape shape, size_t capacity, size_t most_rows,
	struct operations *operations, struct decode_pass **pass, struct error *error);
int decode_pass_status(struct decode_pass *pass, struct error *error); /* 0, or what failed first */
void decode_pass_free(struct decode_pass *pass);

/* What attention to n tokens asks for, of one layer. */
struct closed_forms decode_pass_forms(const struct language_model *model, struct cache_shape shape, size_t n);

#endif
