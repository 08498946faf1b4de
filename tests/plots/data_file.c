#include "data_file.h"

#include "program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

static void split(char *line, struct data_row *row)
{
	row->cell_count = 0;
	for (char *cell = line; cell;) {
		char *tab = strchr(cell, '\t');
		if (tab)
			*tab++ = '\0';
		cr_assert_lt(row->cell_count, MOST_CELLS);
		row->cells[row->cell_count++] = cell;
		cell = tab;
	}
}

static void add_key(struct data_file *file, char *line)
{
	char *colon = strstr(line, ": ");
	if (!colon || strcspn(line, " \t") < (size_t)(colon - line))
		return;
	*colon = '\0';
	cr_assert_lt(file->key_count, MOST_KEYS);
	file->keys[file->key_count].name = line;
	file->keys[file->key_count++].value = colon + 2;
}

struct data_file *data_file_read(const char *path)
{
	char *text = read_text(path), *columns = NULL;
	if (!text)
		return NULL;
	struct data_file *file = calloc(1, sizeof *file);
	cr_assert_not_null(file);
	file->text = text;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		if (strncmp(line, "# ", 2) == 0) {
			if (columns)
				add_key(file, columns);
			columns = line + 2;
			if (!file->title)
				file->title = columns;
		} else {
			cr_assert_lt(file->row_count, MOST_ROWS);
			split(line, &file->rows[file->row_count++]);
		}
	}
	if (columns)
		split(columns, &file->columns);
	return file;
}

void data_file_free(struct data_file *file)
{
	if (file)
		free(file->text);
	free(file);
}

const char *data_key(const struct data_file *file, const char *name)
{
	for (size_t i = 0; i < file->key_count; i++)
		if (strcmp(file->keys[i].name, name) == 0)
			return file->keys[i].value;
	return NULL;
}

static size_t find_column(const struct data_file *file, const char *column)
{
	size_t i = 0;
	while (i < file->columns.cell_count && strcmp(file->columns.cells[i], column) != 0)
		i++;
	return i;
}

bool data_has(const struct data_file *file, const char *column)
{
	return find_column(file, column) < file->columns.cell_count;
}

const char *data_text(const struct data_file *file, const struct data_row *row, const char *column)
{
	size_t i = find_column(file, column);
	return i < file->columns.cell_count && i < row->cell_count ? row->cells[i] : "";
}

double data_number(const struct data_file *file, const struct data_row *row, const char *column)
{
	const char *text = data_text(file, row, column);
	char *end;
	double value = strtod(text, &end);
	return end == text || *end ? (double)NAN : value;
}
