#include "report/side_by_side.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { CELL_SIZE = 64 }; /* a star included */

static bool is_counted(const struct side_line *line, const char *side)
{
	return line->counted && *(const bool *)(side + line->counted);
}

static void write_cell(const struct side_line *line, const char *side, double unit_bytes, char cell[CELL_SIZE])
{
	const void *at = side + line->offset;
	bool is_number = line->kind >= SIDE_BYTES;
	double number = is_number ? *(const double *)at : 0.0;
	char bytes[32];
	cell[0] = '\0';
	if (isnan(number))
		return;
	switch (line->kind) {
	case SIDE_TEXT: snprintf(cell, CELL_SIZE, "%s", *(const char *const *)at); break;
	case SIDE_COUNT: format_count(*(const uint64_t *)at, cell); break;
	case SIDE_TILE: snprintf(cell, CELL_SIZE, "%d x %d", ((const int *)at)[0], ((const int *)at)[1]); break;
	case SIDE_BYTES: format_bytes(number, cell); break;
	case SIDE_UNITS:
		snprintf(cell, CELL_SIZE, "%.4g, %s", number, format_bytes(number * unit_bytes, bytes));
		break;
	case SIDE_NUMBER: snprintf(cell, CELL_SIZE, "%.1e", number); break;
	case SIDE_MILLISECONDS: format_milliseconds(number, cell); break;
	}
}

void side_by_side_print(
	const struct terminal *terminal, const struct side_line *lines, size_t line_count, const void *sides,
	size_t size, size_t count, double unit_bytes, bool all)
{
	char alignment[TABLE_MAX_COLUMNS + 1] = "l";
	if (count >= TABLE_MAX_COLUMNS)
		abort(); /* a mistake in the program */
	memset(alignment + 1, 'r', count);
	struct table table = table_new(alignment);
	for (size_t line = 0; line < line_count; line++) {
		char row[TABLE_MAX_COLUMNS * CELL_SIZE], cell[CELL_SIZE];
		bool known = false;
		snprintf(row, sizeof row, "%s", lines[line].label);
		for (size_t side = 0; side < count; side++) {
			const char *at = (const char *)sides + side * size;
			write_cell(&lines[line], at, unit_bytes, cell);
			strcat(strcat(row, *cell && is_counted(&lines[line], at) ? "|*" : "|"), cell);
			known = known || *cell;
		}
		if (known && (all || lines[line].short_too))
			table_row(&table, line == 0 ? STYLE_DIM : STYLE_PLAIN, "%s", row);
	}
	table_print(&table, terminal);
}
