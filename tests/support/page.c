#include "page.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

void expect_page(char *text)
{
	char *last = text;
	for (char *line = strtok(text, "\n"); line; line = strtok(NULL, "\n")) {
		size_t width = 0;
		for (char *c = line; *c; c++)
			width += ((unsigned char)*c & 0xc0) != 0x80;
		cr_expect_leq(width, 80, "%s", line);
		last = line;
	}
	cr_assert_eq(strncmp(last, "Next: ", 6), 0, "the last line is '%s'", last);
}

static int lines_in(const char *text)
{
	int lines = 0;
	for (; *text; text++)
		lines += *text == '\n';
	return lines;
}

void expect_screen(char *text)
{
	cr_expect_leq(lines_in(text), 40, "%d lines:\n%s", lines_in(text), text);
	expect_page(text);
}

static void expect_one_line(const char *program, const char *shown, struct outcome o, int status, const char *part)
{
	const char *slash = strrchr(program, '/'), *name = text("%s: ", slash ? slash + 1 : program);
	cr_expect_eq(o.status, status, "%s: exit %d: %s", shown, o.status, o.err);
	cr_expect(strstr(o.err, part), "%s: '%s' lacks '%s'", shown, o.err, part);
	cr_expect(strncmp(o.err, name, strlen(name)) == 0, "%s: '%s' does not begin with '%s'", shown, o.err, name);
	cr_expect_eq(lines_in(o.err), 1, "%s: %s", shown, o.err);
	cr_expect_str_empty(o.out, "%s: %s", shown, o.out);
	free_outcome(&o);
}

void expect_refusal(const char *program, const char *line, int status, const char *part)
{
	expect_one_line(program, line, run_line(program, line, NOTHING, 120), status, part);
}

void expect_refusal_of(const char *const arguments[], int status, const char *part)
{
	const char *shown = "";
	for (size_t i = 1; arguments[i]; i++)
		shown = text("%s %s", shown, arguments[i]);
	expect_one_line(arguments[0], shown, run_program(arguments, NOTHING, 120), status, part);
}
