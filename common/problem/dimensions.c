#include "problem/dimensions.h"

enum { LARGEST_SEQ = 1 << 24, LARGEST_EXTENT = 1 << 28, LARGEST_COUNT = 1 << 20, LARGEST_SPLITS = 65535 };

#define FIELD(member) offsetof(struct problem, member)

const struct dimension dimensions[DIMENSIONS] = {
	{OPTION_BATCH, "B", "batch", "batch", FIELD(batch), 1, LARGEST_COUNT, true, "sequences in the batch"},
	{OPTION_HEADS, "H", "heads", "heads", FIELD(heads), 1, LARGEST_COUNT, true, "heads"},
	{OPTION_KV_HEADS, "G", "kv-heads", "kv_heads", FIELD(kv_heads), 1, LARGEST_COUNT, true,
         "heads of K and V; H is a multiple of it"},
	{OPTION_SEQ, "N", "seq", "seq", FIELD(seq), 1, LARGEST_SEQ, true, "tokens: as many queries as keys"},
	{OPTION_KEYS, "M", "keys", "keys", FIELD(keys), 1, LARGEST_SEQ, true,
         "keys; the queries are the last of them (default N)"},
	{OPTION_SPLITS, "S", "splits", "splits", FIELD(splits), 1, LARGEST_SPLITS, true,
         "parts that the keys are split into"},
	{OPTION_PAGE, "p", "page", "page", FIELD(page), 1, LARGEST_SEQ, true, "tokens of a page of the cache"},
	{OPTIONS, "T", "pages", "pages", FIELD(pages), 1, LARGEST_SEQ, true, "pages; no option: N and p decide"},
	{OPTIONS, "Z", "starts", "starts", FIELD(starts), 1, MOST_SEQUENCES + 1, true,
         "starts of packed sequences, and the end; no option: --lengths decides"},
	{OPTION_ROWS, "R", "rows", "rows", FIELD(rows), 1, LARGEST_EXTENT, true, "rows"},
	{OPTION_COLS, "C", "cols", "cols", FIELD(cols), 1, LARGEST_EXTENT, true, "columns per row"},
	{OPTION_M, "m", "m", "m", FIELD(m), 1, LARGEST_COUNT, true, "rows of A and C"},
	{OPTION_N, "n", "n", "n", FIELD(n), 1, LARGEST_COUNT, true, "columns of B and C"},
	{OPTION_K, "k", "k", "k", FIELD(k), 1, LARGEST_COUNT, true, "columns of A, rows of B"},
	{OPTION_DIM, "d", "dim", "dim", FIELD(dim), 1, MAX_HEAD_DIM, true, "head dimension, the width of V"},
	{OPTION_TILE_Q, "Br", "tile-q", "tile_q", FIELD(tile_q), 1, 1024, false, "query rows per tile"},
	{OPTION_TILE_K, "Bc", "tile-k", "tile_k", FIELD(tile_k), 1, 65536, false, "key rows per tile"},
	{OPTION_WINDOW, "W", "window", "window", FIELD(window), 1, LARGEST_SEQ, false,
         "query i sees keys j with |i - j| < W only"},
	{OPTION_BLOCK, "W", "block", "block", FIELD(block), 1, LARGEST_EXTENT, false, "columns per block"},
	{OPTION_ROW, "i", "row", "row", FIELD(row), 0, LARGEST_EXTENT, false, "the row to trace"},
};

const struct dimension *dimension_of_letter(char letter)
{
	for (size_t i = 0; i < DIMENSIONS; i++)
		if (dimensions[i].letter[0] == letter && !dimensions[i].letter[1])
			return &dimensions[i];
	return NULL;
}

const struct dimension *dimension_of_option(enum option_name option)
{
	for (size_t i = 0; i < DIMENSIONS; i++)
		if (dimensions[i].option == option)
			return &dimensions[i];
	return NULL;
}

size_t dimension_value(const struct dimension *dimension, const struct problem *problem)
{
	return *(const size_t *)((const char *)problem + dimension->offset);
}

int dimension_fix(
	const char *source, char letter, size_t extent, struct problem *problem, uint64_t *fixed, struct error *error)
{
	const struct dimension *dimension = dimension_of_letter(letter);
	size_t *field = (size_t *)((char *)problem + dimension->offset);
	if (*fixed & OPTION_BIT(dimension->option) && *field != extent)
		return error_set(
			error, EXIT_USAGE, "%s, expected %zu for %c (--%s, or an earlier file)", source, *field,
			letter, dimension->name);
	*field = extent;
	*fixed |= OPTION_BIT(dimension->option);
	if (extent >= dimension->least && extent <= dimension->most)
		return 0;
	return error_set(
		error, EXIT_USAGE, "%s: %c = %zu, expected %zu to %zu", source, letter, extent, dimension->least,
		dimension->most);
}
