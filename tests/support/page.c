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

struct outcome make_in(const char *chapter, const char *const more[], const char *const environment[])
{
	const char *argv[16] = {"make",  "-s",         "--no-print-directory", "-C",
	                        chapter, "DEVICE=sim", "CC=" TEST_CC,          "CXX=" TEST_CXX};
	for (size_t count = 8; *more && count < 15; count++)
		argv[count] = *more++;
	return run_program(argv, environment, 120);
}

void expect_demonstration(const char *chapter, const char *const parts[])
{
	struct outcome o = make_in(chapter, NOTHING, NOTHING);
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "verified") && !strstr(o.out, "NOT EQUAL"), "%s", o.out);
	for (; *parts; parts++)
		cr_expect(strstr(o.out, *parts), "no '%s':\n%s", *parts, o.out);
	static const char behind[] = "Ragged shapes (make ragged): all verified.\n";
	char *ragged = strstr(o.out, behind);
	cr_assert(ragged && strcmp(ragged, behind) == 0, "the end is no '%s':\n%s", behind, o.out);
	*ragged = '\0';
	/* With the line that was cut off, and the prompt of the shell, a terminal of 24 lines holds it. */
	cr_expect_leq(lines_in(o.out), 23, "%d lines:\n%s", lines_in(o.out), o.out);
	expect_screen(o.out);
	free_outcome(&o);
}

void expect_printed(const char *page)
{
	only_when_thorough();
	struct outcome o = run_program(LIST(TEST_ROOT "/tools/pages", "readme", "--check", page), NOTHING, 120);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	free_outcome(&o);
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

static void expect_quiet_success(const char *program, const char *line, const char *environment)
{
	struct outcome o = run_line(program, text("%s --quiet", line), LIST(environment), 120);
	cr_expect_eq(o.status, 0, "%s %s: %s%s", environment, line, o.out, o.err);
	free_outcome(&o);
}

void expect_every_kind(const char *program, const char *const lines[])
{
	static const char *const kinds[] = {"random", "large-logits", "very-negative", "constant", "one-hot", "ramp"};
	for (; *lines; lines++)
		for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
			expect_quiet_success(program, text("%s --input %s", *lines, kinds[k]), without_racecheck());
}

void expect_any_order(const char *program, const char *line)
{
	static const char *const orders[] = {"SIM_ORDER=reverse", "SIM_ORDER=shuffle:7"};
	for (size_t i = 0; i < 2; i++)
		expect_quiet_success(program, line, orders[i]);
}
