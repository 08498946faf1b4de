#include "page.h"

#include <criterion/criterion.h>
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

void expect_screen(char *text)
{
	int lines = 0;
	for (const char *c = text; *c; c++)
		lines += *c == '\n';
	cr_expect_leq(lines, 40, "%d lines:\n%s", lines, text);
	expect_page(text);
}
