#include "report/columns.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { HEAD_LINES = 4, CELL_SIZE = METRIC_TEXT_SIZE };

static bool is_shown(const struct kernel_result *kernel, bool counted)
{
	return !*kernel->skipped && (!counted || kernel->counts.counted);
}

static bool has_rows(const struct run_result *result, bool counted)
{
	for (size_t k = 0; k < result->kernel_count; k++)
		if (is_shown(&result->kernels[k], counted))
			return true;
	return false;
}

static double value_of(const struct kernel_result *kernel, const struct column *column)
{
	return column->value ? column->value(kernel) : metric_value(kernel, column->metric);
}

static enum unit unit_of(const struct column *column)
{
	return column->value ? column->unit : metrics[column->metric].unit;
}

/* Columns of which some kernel has a number: times are known only when they were asked for. Returns how many. */
static size_t find_known(
	const struct run_result *result, bool counted, const struct column *columns, size_t count,
	struct column known[TABLE_MAX_COLUMNS])
{
	size_t kept = 0;
	for (size_t c = 0; c < count; c++) {
		bool any = false;
		for (size_t k = 0; k < result->kernel_count && !any; k++)
			any = is_shown(&result->kernels[k], counted) &&
			      !isnan(value_of(&result->kernels[k], &columns[c]));
		if (any)
			known[kept++] = columns[c];
	}
	return kept;
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
	const char *names, const struct column *all_columns, size_t all_count)
{
	struct column columns[TABLE_MAX_COLUMNS];
	char alignment[TABLE_MAX_COLUMNS + 1] = "l";
	if (all_count >= TABLE_MAX_COLUMNS)
		abort(); /* a mistake in the program */
	if (!has_rows(result, counted))
		return;
	size_t count = find_known(result, counted, all_columns, all_count, columns);
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
		for (size_t c = 0; c < count; c++) {
			metric_format(value_of(kernel, &columns[c]), unit_of(&columns[c]), cell);
			strcat(strcat(row, "|"), cell);
		}
		table_row(&table, STYLE_PLAIN, "%s", row);
	}
	table_print(&table, terminal);
}
