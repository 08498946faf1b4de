/* A file of plots/data: keys of its header, columns, rows of cells. */
#ifndef DATA_FILE_H
#define DATA_FILE_H

#include <stdbool.h>
#include <stddef.h>

enum { MOST_KEYS = 24, MOST_CELLS = 96, MOST_ROWS = 512 };

struct data_row {
	char *cells[MOST_CELLS];
	size_t cell_count;
};

struct data_file {
	char *text;  /* all strings point into it */
	char *title; /* the first line */
	struct {
		char *name, *value;
	} keys[MOST_KEYS];
	size_t key_count;
	struct data_row columns; /* names */
	struct data_row rows[MOST_ROWS];
	size_t row_count;
};

/* NULL when there is no such file; the test fails on one with too much in it. */
struct data_file *data_file_read(const char *path);
void data_file_free(struct data_file *file);

/* NULL when the header has no such key. */
const char *data_key(const struct data_file *file, const char *name);

bool data_has(const struct data_file *file, const char *column);

/* A cell; "" where column or cell is missing. As a number: NaN where it is none. */
const char *data_text(const struct data_file *file, const struct data_row *row, const char *column);
double data_number(const struct data_file *file, const struct data_row *row, const char *column);

#endif
