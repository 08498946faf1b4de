#include "verify/unwritten.h"

#include "problem/problem.h"
#include "verify/check.h"

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

static bool is_unwritten(float value)
{
	uint32_t bits;
	memcpy(&bits, &value, sizeof bits);
	return bits == UINT32_MAX;
}

/* "O[0,0,69,:]", a whole row, or "O[0,0,69,3]". */
static void name_place(
	const char *tensor, const size_t *shape, size_t rank, size_t element, bool row, char *text, size_t size)
{
	size_t at[MAX_RANK], used;
	check_coordinates(0, element, 0, shape, rank, at);
	used = (size_t)snprintf(text, size, "%s[", tensor);
	for (size_t axis = 0; axis < rank && used < size; axis++)
		used += row && axis == rank - 1 ? (size_t)snprintf(text + used, size - used, "%s:]", axis ? "," : "")
		                                : (size_t)snprintf(
							  text + used, size - used, "%s%zu%s", axis ? "," : "",
							  at[axis], axis == rank - 1 ? "]" : "");
}

void unwritten_tell(
	const char *tensor, const float *actual, const size_t *shape, size_t rank, size_t row_length, size_t most,
	char *text, size_t size)
{
	size_t elements = shape_elements(shape, rank), count = 0, rows = 0, in_row = 0, first = 0, last = 0;
	for (size_t e = 0; e < elements; e++) {
		in_row = e % row_length ? in_row : 0;
		if (!is_unwritten(actual[e]))
			continue;
		first = count++ ? first : e;
		last = e;
		rows += ++in_row == row_length;
	}
	*text = '\0';
	if (!count || count > most)
		return;
	bool whole = row_length > 1 && count == rows * row_length;
	size_t each = whole ? row_length : 1, all = elements / each, some = count / each;
	size_t end = whole ? last - row_length + 1 : last;
	char from[60], to[60];
	name_place(tensor, shape, rank, first, whole, from, sizeof from);
	name_place(tensor, shape, rank, end, whole, to, sizeof to);
	const char *between = some == 2 ? ", " : some == (end - first) / each + 1 ? " to " : ", ..., ";
	snprintf(
		text, size, "%zu of %zu %s of %s %s: %s%s%s", some, all, whole ? "rows" : "elements", tensor,
		most == SIZE_MAX ? some == 1 ? "is NaN, which is also what nobody wrote"
	                                     : "are NaN, which is also what nobody wrote"
		: some == 1      ? "was never written"
				 : "were never written",
		from, some > 1 ? between : "", some > 1 ? to : "");
}
