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
