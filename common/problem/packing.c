#include "problem/packing.h"

#include "support/number.h"

#include <stdio.h>
#include <string.h>

bool packing_read(struct packing *packing, const char *text, uint64_t most)
{
	struct packing read = {.text = text};
	const char *at = text;
	uint64_t tokens = 0, length;
	for (;;) {
		char number[24];
		size_t digits = strcspn(at, ",");
		snprintf(number, sizeof number, "%.*s", (int)smaller(digits, sizeof number - 1), at);
		if (digits >= sizeof number || read.count == MOST_SEQUENCES ||
		    !read_whole(number, 1, most - tokens, &length))
			return false;
		tokens += length;
		read.ends[read.count++] = (size_t)tokens;
		if (!at[digits])
			break;
		at += digits + 1;
	}
	*packing = read;
	return true;
}

bool packing_is_same(const struct packing *a, const struct packing *b)
{
	return a->count == b->count && memcmp(a->ends, b->ends, a->count * sizeof *a->ends) == 0;
}

size_t packing_tokens(const struct packing *packing)
{
	return packing->count ? packing->ends[packing->count - 1] : 0;
}

size_t sequence_count(const struct packing *packing)
{
	return packing->count ? packing->count : 1;
}

struct sequence sequence_at(const struct packing *packing, size_t seq, size_t index)
{
	if (!packing->count)
		return (struct sequence){0, 0, seq};
	size_t first = index ? packing->ends[index - 1] : 0;
	return (struct sequence){index, first, packing->ends[index] - first};
}

struct sequence sequence_of_token(const struct packing *packing, size_t seq, size_t token)
{
	size_t index = 0;
	while (packing->count && packing->ends[index] <= token)
		index++;
	return sequence_at(packing, seq, index);
}

size_t packing_tiles(const struct packing *packing, size_t seq, size_t tile)
{
	size_t tiles = 0;
	for (size_t s = 0; s < sequence_count(packing); s++)
		tiles += ceil_div(sequence_at(packing, seq, s).length, tile);
	return tiles;
}

size_t packing_longest(const struct packing *packing, size_t seq)
{
	size_t longest = 0;
	for (size_t s = 0; s < sequence_count(packing); s++)
		if (sequence_at(packing, seq, s).length > longest)
			longest = sequence_at(packing, seq, s).length;
	return longest;
}
