#include "report/command.h"

#include "support/text.h"

#include <ctype.h>
#include <stdbool.h>
#include <string.h>

static bool is_plain(const char *argument)
{
	const char *c = argument;
	while (isalnum((unsigned char)*c) || (*c && strchr("-_./,=+:@%", *c)))
		c++;
	return *argument && !*c;
}

static bool is_printable(const char *argument)
{
	for (const char *c = argument; *c; c += utf8_length(c))
		if (iscntrl((unsigned char)*c) || utf8_length(c) == 0)
			return false;
	return true;
}

static void print_quoted(FILE *out, const char *argument)
{
	fputc('\'', out);
	for (const char *c = argument; *c; c++)
		if (*c == '\'')
			fputs("'\\''", out);
		else
			fputc(*c, out);
	fputc('\'', out);
}

static void print_escaped(FILE *out, const char *argument)
{
	fputs("$'", out);
	for (const unsigned char *c = (const unsigned char *)argument; *c; c++)
		if (*c < ' ' || *c >= 0x7f)
			fprintf(out, "\\%03o", *c);
		else if (*c == '\'' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else
			fputc(*c, out);
	fputc('\'', out);
}

void command_print(FILE *out, const char *program, const char *const *arguments)
{
	fprintf(out, "./%s", program);
	for (; arguments && *arguments; arguments++) {
		fputc(' ', out);
		if (is_plain(*arguments))
			fputs(*arguments, out);
		else if (is_printable(*arguments))
			print_quoted(out, *arguments);
		else
			print_escaped(out, *arguments);
	}
}
