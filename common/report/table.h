/*
 * Aligned tables and a little color for a terminal of 80 columns.
 */
#ifndef REPORT_TABLE_H
#define REPORT_TABLE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

/* Where a report goes and whether it may use color. */
struct terminal {
	FILE *out;
	bool color;
};

enum style { STYLE_PLAIN, STYLE_BOLD, STYLE_DIM, STYLE_GOOD, STYLE_BAD };

/* printf in a style; plain text when the terminal has no color. */
void terminal_print(const struct terminal *terminal, enum style style, const char *format, ...)
	__attribute__((format(printf, 3, 4)));

enum { TABLE_MAX_COLUMNS = 12 };

/*
 * Rows of cells; widths follow the widest cell, counted in characters (UTF-8). The first row is the header. Columns
 * named in `left` are left-aligned, the others right-aligned. The table owns copies of its cells.
 */
struct table {
	size_t columns, rows, capacity;
	const char *left;   /* one character a column: 'l' or 'r' */
	char **cells;       /* [rows, columns] */
	enum style *styles; /* [rows] */
};

/* `alignment` has one of 'l' and 'r' for each column and must outlive the table. */
struct table table_new(const char *alignment);
/* Adds a row; cells are given as one format string with '|' between them. */
void table_row(struct table *table, enum style style, const char *format, ...) __attribute__((format(printf, 3, 4)));
/* Prints each row indented by two spaces, then frees everything. */
void table_print(struct table *table, const struct terminal *terminal);

/* How many columns a text takes: its characters, in UTF-8. */
size_t text_columns(const char *text);

/* Prints words from a column on and ends the line; what would pass column 80 goes to further lines, from the same column. */
void print_folded(FILE *out, const char *words, size_t column);

#endif
