/*
 * What the outputs of a problem should be: a reference and a tolerance for each, put together by verify/attention.h or by a
 * chapter.
 */
#ifndef VERIFY_EXPECTATIONS_H
#define VERIFY_EXPECTATIONS_H

#include "verify/check.h"

enum { MAX_EXPECTATIONS = 8, MAX_OWNED = 3 * MAX_EXPECTATIONS };

/* All an output can be compared with. expectations_free frees what the members point to. */
struct expectations {
	struct expectation items[MAX_EXPECTATIONS];
	size_t count;
	size_t *rows;               /* the rows checked; NULL: all */
	size_t row_count, all_rows; /* row_count: of the tensor with fewest */
	void *owned[MAX_OWNED];
	size_t owned_count;
};

/* Hands over an array that members point to, to be freed with them; NULL is nothing. */
void expectations_own(struct expectations *expectations, void *array);

/* The expectation for a tensor; NULL if there is none. The shape, in dimension letters, tells two of one name apart.
 */
const struct expectation *expectations_find(const struct expectations *expectations, const char *tensor);
const struct expectation *expectations_find_shaped(
	const struct expectations *expectations, const char *tensor, const char *shape);
void expectations_free(struct expectations *expectations);

/* Where a reference needs more than 2^30 products, it is made of some rows only. */
bool rows_are_sampled(double products, size_t rows);
enum { SAMPLED_ROWS = 64 };

/*
 * Rows to check where all would take too long: SAMPLED_ROWS of each of `groups` (heads, or 1) of `rows` rows, the
 * first and the last among them, the others drawn with `seed`; ascending. Needs rows > SAMPLED_ROWS. The caller
 * frees; NULL when there is no memory.
 */
size_t *sample_rows(uint64_t seed, size_t groups, size_t rows, size_t *count);

#endif
