#include "report/table.h"

#include "support/error.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

static const char *style_code(enum style style)
{
	switch (style) {
	case STYLE_BOLD: return "\x1b[1m";
	case STYLE_DIM: return "\x1b[2m";
	case STYLE_GOOD: return "\x1b[32m";
	case STYLE_BAD: return "\x1b[31m";
	case STYLE_PLAIN: break;
	}
	return "";
}

static void begin_style(const struct terminal *terminal, enum style style)
{
	if (terminal->color && style != STYLE_PLAIN)
		fputs(style_code(style), terminal->out);
}

static void end_style(const struct terminal *terminal, enum style style)
{
	if (terminal->color && style != STYLE_PLAIN)
		fputs("\x1b[0m", terminal->out);
}

void terminal_print(const struct terminal *terminal, enum style style, const char *format, ...)
{
	va_list arguments;
	begin_style(terminal, style);
	va_start(arguments, format);
	vfprintf(terminal->out, format, arguments);
	va_end(arguments);
	end_style(terminal, style);
}

struct table table_new(const char *alignment)
{
	if (strlen(alignment) > TABLE_MAX_COLUMNS)
		abort(); /* a mistake in the program */
	return (struct table){.columns = strlen(alignment), .left = alignment};
}

static void *grow(void *pointer, size_t bytes)
{
	void *larger = realloc(pointer, bytes);
	if (!larger) {
		fprintf(stderr, "%s: out of memory for a table\n", program_invocation_short_name);
		exit(EXIT_ENVIRONMENT);
	}
	return larger;
}

void table_row(struct table *table, enum style style, const char *format, ...)
{
	char line[512];
	va_list arguments;
	va_start(arguments, format);
	int needed = vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	if (needed < 0 || (size_t)needed >= sizeof line)
		abort(); /* a mistake in the program: no row is that long */

	if (table->rows == table->capacity) {
		table->capacity = table->capacity ? 2 * table->capacity : 16;
		table->cells = grow(table->cells, table->capacity * table->columns * sizeof *table->cells);
		table->styles = grow(table->styles, table->capacity * sizeof *table->styles);
	}
	char *rest = line;
	for (size_t c = 0; c < table->columns; c++) {
		size_t length = rest ? strcspn(rest, "|") : 0;
		char *cell = grow(NULL, length + 1);
		memcpy(cell, rest ? rest : "", length);
		cell[length] = '\0';
		table->cells[table->rows * table->columns + c] = cell;
		rest = rest && rest[length] ? rest + length + 1 : NULL;
	}
	table->styles[table->rows++] = style;
}

/* Characters of a UTF-8 string: every byte that does not continue one. */
size_t text_columns(const char *text)
{
	size_t width = 0;
	for (; *text; text++)
		width += ((unsigned char)*text & 0xc0) != 0x80;
	return width;
}

static void print_padding(FILE *out, size_t count)
{
	for (size_t i = 0; i < count; i++)
		fputc(' ', out);
}

void table_print(struct table *table, const struct terminal *terminal)
{
	size_t widths[TABLE_MAX_COLUMNS] = {0};
	for (size_t i = 0; i < table->rows * table->columns; i++) {
		size_t width = text_columns(table->cells[i]);
		if (width > widths[i % table->columns])
			widths[i % table->columns] = width;
	}
	for (size_t row = 0; row < table->rows; row++) {
		begin_style(terminal, table->styles[row]);
		size_t owed = 2; /* spaces are printed only when text follows, so that no line ends in them */
		for (size_t c = 0; c < table->columns; c++) {
			char *cell = table->cells[row * table->columns + c];
			size_t width = text_columns(cell), padding = widths[c] - width;
			bool left = table->left[c] == 'l';
			if (width) {
				print_padding(terminal->out, owed + (left ? 0 : padding));
				fputs(cell, terminal->out);
				owed = left ? padding : 0;
			} else {
				owed += widths[c];
			}
			owed += 2;
			free(cell);
		}
		end_style(terminal, table->styles[row]);
		fputc('\n', terminal->out);
	}
	free(table->cells);
	free(table->styles);
	*table = (struct table){0};
}

void print_folded(FILE *out, const char *words, size_t column)
{
	enum { WIDTH = 80 };
	size_t at = column;
	for (const char *word = words + strspn(words, " "); *word;) {
		size_t bytes = strcspn(word, " "), width = 0;
		for (size_t i = 0; i < bytes; i++)
			width += ((unsigned char)word[i] & 0xc0) != 0x80;
		bool first = at == column;
		if (!first && at + 1 + width > WIDTH) {
			fprintf(out, "\n%*s", (int)column, "");
			at = column;
			first = true;
		}
		fprintf(out, "%s%.*s", first ? "" : " ", (int)bytes, word);
		at += width + !first;
		word += bytes;
		word += strspn(word, " ");
	}
	fputc('\n', out);
}
