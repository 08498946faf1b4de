/*
 * Algorithms side by side: a column an algorithm, a line a property. What stands in a line is read from each side's struct
 * by its offset.
 */
#ifndef REPORT_SIDE_BY_SIDE_H
#define REPORT_SIDE_BY_SIDE_H

#include "report/table.h"

/* What lies at the offset. A number that is NAN is written as nothing. */
enum side_kind {
	SIDE_TEXT,   /* const char * */
	SIDE_COUNT,  /* uint64_t */
	SIDE_TILE,   /* int[2]: "128 x 64" */
	SIDE_BYTES,  /* double, and so are all below */
	SIDE_NUMBER, /* "1.2e-07" */
	SIDE_MILLISECONDS,
	SIDE_UNITS /* "7.5, 1.97 MB", of `unit_bytes` each */
};

struct side_line {
	const char *label;
	enum side_kind kind;
	size_t offset;  /* in the struct of a side */
	size_t counted; /* of a bool there: this number was counted, and gets a star; 0: in no side */
	bool short_too; /* stands in the short table too */
};

/* The first line has label ""; a line in which every side is NAN is left out, and unless `all` one that is not short_too. `sides` are `count` structs of `size` bytes, at most TABLE_MAX_COLUMNS - 1. */
void side_by_side_print(
	const struct terminal *terminal, const struct side_line *lines, size_t line_count, const void *sides,
	size_t size, size_t count, double unit_bytes, bool all);

#endif
