#include "report/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_LINES = 4, CELL_SIZE = 64 };

static bool is_shown(const struct kernel_result *kernel, bool counted)
{
	return !kernel->skipped[0] && (!counted || kernel->counts.counted);
}

static bool has_rows(const struct run_result *result, bool counted)
{
	for (size_t k = 0; k < result->kernel_count; k++)
		if (is_shown(&result->kernels[k], counted))
			return true;
	return false;
}

static void write_number(double value, enum unit unit, char text[CELL_SIZE])
{
	text[0] = '\0';
	if (isnan(value))
		return;
	switch (unit) {
	case UNIT_COUNT: format_count((uint64_t)value, text); break;
	case UNIT_BYTES: format_bytes(value, text); break;
	case UNIT_MILLISECONDS: format_milliseconds(value, text); break;
	case UNIT_RATIO: snprintf(text, CELL_SIZE, value < 0.1 && value > 0.0 ? "%.4f" : "%.2f", value); break;
	case UNIT_FIGURES: snprintf(text, CELL_SIZE, "%.4g", value); break;
	}
}

/* Appends line `line` of a heading, nothing below its last. */
static void add_head(char *row, size_t size, const char *head, size_t line)
{
	for (; line > 0 && head; line--) {
		head = strchr(head, '\n');
		head = head ? head + 1 : NULL;
	}
	size_t used = strlen(row);
	if (head)
		snprintf(row + used, size - used, "%.*s", (int)strcspn(head, "\n"), head);
}

static void add_heads(struct table *table, const char *names, const struct column *columns, size_t count)
{
	char row[TABLE_MAX_COLUMNS * CELL_SIZE];
	for (size_t line = 0; line < HEAD_LINES; line++) {
		row[0] = '\0';
		add_head(row, sizeof row, names, line);
		for (size_t c = 0; c < count; c++) {
			strcat(row, "|");
			add_head(row, sizeof row, columns[c].head, line);
		}
		if (strspn(row, "|") < strlen(row))
			table_row(table, STYLE_DIM, "%s", row);
	}
}

void columns_print(
	const struct terminal *terminal, const struct run_result *result, const char *title, bool counted,
	const char *names, const struct column *columns, size_t count)
{
	char alignment[TABLE_MAX_COLUMNS + 1] = "l";
	if (count >= TABLE_MAX_COLUMNS)
		abort(); /* a mistake in the program */
	if (!has_rows(result, counted))
		return;
	terminal_print(terminal, STYLE_BOLD, "\n%s\n", title);
	memset(alignment + 1, 'r', count);
	struct table table = table_new(alignment);
	add_heads(&table, names, columns, count);
	for (size_t k = 0; k < result->kernel_count; k++) {
		const struct kernel_result *kernel = &result->kernels[k];
		char row[TABLE_MAX_COLUMNS * CELL_SIZE], cell[CELL_SIZE];
		size_t prefix = strcspn(names, "\n");
		bool drops =
			prefix > 0 && names[prefix - 1] == '_' && strncmp(kernel->kernel->name, names, prefix) == 0;
		if (!is_shown(kernel, counted))
			continue;
		snprintf(row, sizeof row, "%s", kernel->kernel->name + (drops ? prefix : 0));
		size_t known = 0;
		for (size_t c = 0; c < count; c++) {
			write_number(columns[c].value(kernel), columns[c].unit, cell);
			strcat(strcat(row, "|"), cell);
			known += strlen(cell);
		}
		if (known > 0)
			table_row(&table, STYLE_PLAIN, "%s", row);
	}
	table_print(&table, terminal);
}
