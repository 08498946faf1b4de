#include "verify/expectations.h"

#include <stdlib.h>
#include <string.h>

const struct expectation *expectations_find_shaped(
	const struct expectations *expectations, const char *tensor, const char *shape)
{
	for (size_t i = 0; i < expectations->count; i++) {
		const struct expectation *item = &expectations->items[i];
		if (strcmp(item->tensor, tensor) == 0 && (!item->shape || !shape || strcmp(item->shape, shape) == 0))
			return item;
	}
	return NULL;
}

const struct expectation *expectations_find(const struct expectations *expectations, const char *tensor)
{
	return expectations_find_shaped(expectations, tensor, NULL);
}

void expectations_own(struct expectations *expectations, void *array)
{
	expectations->owned[expectations->owned_count++] = array;
}

void expectations_free(struct expectations *expectations)
{
	for (size_t i = 0; i < expectations->owned_count; i++)
		free(expectations->owned[i]);
	free(expectations->rows);
	*expectations = (struct expectations){0};
}

bool rows_are_sampled(double products, size_t rows)
{
	return products > 0x1p30 && rows > SAMPLED_ROWS;
}

/* The first row, the last, and one from each of SAMPLED_ROWS - 2 equal stretches of those between. */
size_t *sample_rows(uint64_t seed, size_t groups, size_t rows, size_t *count)
{
	size_t *sampled = calloc(groups * SAMPLED_ROWS, sizeof *sampled);
	if (!sampled)
		return NULL;
	uint64_t state = seed;
	*count = 0;
	for (size_t group = 0; group < groups; group++)
		for (size_t s = 0; s < SAMPLED_ROWS; s++) {
			const size_t stretches = SAMPLED_ROWS - 2, between = rows - 2, stretch = s > 0 ? s - 1 : 0;
			size_t first = 1 + stretch * between / stretches,
			       end = 1 + (stretch + 1) * between / stretches;
			state = state * UINT64_C(6364136223846793005) +
			        UINT64_C(1442695040888963407); /* Knuth's LCG */
			size_t row = first + (size_t)(state >> 33) % (end - first);
			if (s == 0)
				row = 0;
			if (s == SAMPLED_ROWS - 1)
				row = rows - 1;
			sampled[(*count)++] = group * rows + row;
		}
	return sampled;
}
