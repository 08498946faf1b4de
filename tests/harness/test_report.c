/* JSON, tables, and the TSV by which the plain build hands over its times. */
#include "measure/cpu_name.h"
#include "measure/plain_build.h"
#include "measure/time_summary.h"
#include "report/command.h"
#include "report/json.h"
#include "report/table.h"
#include "run/host_code.h"
#include "support/number.h"
#include "support/progress.h"
#include "support/text.h"

#include <criterion/criterion.h>
#include <math.h>
#include <pty.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

static char *text;
static size_t text_size;

/* Kills: each bound of UTF-8 (RFC 3629, table of section 4) one off. */
Test(text, characters_of_utf8)
{
	char whole[] =
		"\x7f \xc2\x80 \xdf\xbf \xe0\xa0\x80 \xe1\x80\xbf \xec\xbf\x80 \xed\x80\x80 \xed\x9f\xbf "
		"\xee\xbf\x80 "
		"\xef\xbf\xbf \xf0\x90\x80\x80 \xf1\x80\x80\x80 \xf3\xbf\xbf\xbf \xf4\x80\x80\x80 \xf4\x8f\xbf\xbf";
	char none[] = "\x80 \xbf \xc1\xbf \xc2 \xc2\x7f \xc2\xc0 \xe0\x9f\xbf \xe0\xa0 \xe1\x80\x7f \xe1\x80\xc0 "
		      "\xed\xa0\x80 "
		      "\xf0\x8f\xbf\xbf \xf0\x90\x80\xc0 \xf1\x80\x80 \xf4\x90\x80\x80 \xf5\x80\x80\x80 \xff";
	for (char *one = strtok(whole, " "); one; one = strtok(NULL, " "))
		cr_expect_eq(utf8_length(one), strlen(one), "%s: %zu", one, utf8_length(one));
	for (char *one = strtok(none, " "); one; one = strtok(NULL, " "))
		cr_expect_eq(utf8_length(one), 0, "%s: %zu", one, utf8_length(one));
}

Test(json, escapes_and_nulls)
{
	FILE *out = open_memstream(&text, &text_size);
	struct json json = json_to(out);
	json_open_object(&json, NULL);
	json_string(&json, "s", "a\"b\\c\n\t\x01\x1f N\xc2\xb2");
	json_number(&json, "nan", NAN);
	json_number(&json, "inf", -INFINITY);
	json_number(&json, "x", 0.1);
	json_count(&json, "big", UINT64_MAX);
	json_bool(&json, "yes", true);
	json_open_array(&json, "list");
	json_close_array(&json);
	json_open_array(&json, "nested");
	json_open_object(&json, NULL);
	json_close_object(&json);
	json_count(&json, NULL, 2);
	json_close_array(&json);
	json.infinities = true;
	json_number(&json, "nan", NAN);
	json_number(&json, "inf", -INFINITY);
	json_close_object(&json);
	fclose(out);
	cr_assert_str_eq(
		text, "{\"s\":\"a\\\"b\\\\c\\n\\t\\u0001\\u001f N\xc2\xb2\",\"nan\":null,\"inf\":null,\"x\":0.1,"
		      "\"big\":18446744073709551615,\"yes\":true,\"list\":[],\"nested\":[{},2],"
		      "\"nan\":\"nan\",\"inf\":\"-inf\"}");
	free(text);
}

Test(table, aligns_by_characters)
{
	FILE *out = open_memstream(&text, &text_size);
	struct terminal terminal = {out, false};
	struct table table = table_new("lrl");
	table_row(&table, STYLE_DIM, "a|b|c");
	table_row(&table, STYLE_PLAIN, "N\xc2\xb2|1,000|x");
	table_row(&table, STYLE_PLAIN, "long|2|");
	table_row(&table, STYLE_PLAIN, "w||y");
	table_print(&table, &terminal);
	fclose(out);
	cr_assert_str_eq(text, "  a         b  c\n  N\xc2\xb2    1,000  x\n  long      2\n  w            y\n");
	free(text);
}

/* Kills: cells of an earlier row in one that has fewer, rows that are lost or doubled where the table grows. */
Test(table, short_rows_and_many)
{
	FILE *out = open_memstream(&text, &text_size);
	struct terminal terminal = {out, false};
	struct table table = table_new("rll");
	char expected[40 * 32] = "", *end = expected;
	for (int i = 0; i < 40; i++) {
		table_row(&table, STYLE_PLAIN, "%d|b%d|c", i, i);
		table_row(&table, STYLE_PLAIN, i % 2 ? "" : "%d", i);
		end += sprintf(end, "  %2d  b%-3d c\n", i, i);
		end += i % 2 ? sprintf(end, "\n") : sprintf(end, "  %2d\n", i);
	}
	table_print(&table, &terminal);
	fclose(out);
	cr_assert_str_eq(text, expected);
	free(text);
}

Test(table, colour_only_when_wanted)
{
	for (int color = 0; color < 2; color++) {
		FILE *out = open_memstream(&text, &text_size);
		struct terminal terminal = {out, color};
		terminal_print(&terminal, STYLE_GOOD, "%s", "fine");
		fclose(out);
		cr_assert_str_eq(text, color ? "\x1b[32mfine\x1b[0m" : "fine");
		free(text);
	}
}

Test(table, numbers_for_people)
{
	char t[32];
	cr_assert_str_eq(format_count(0, t), "0");
	cr_assert_str_eq(format_count(999, t), "999");
	cr_assert_str_eq(format_count(17301504, t), "17,301,504");
	cr_assert_str_eq(format_count(UINT64_MAX, t), "18,446,744,073,709,551,615");
	cr_assert_str_eq(format_bytes(999, t), "999 B");
	cr_assert_str_eq(format_bytes(1000, t), "1.00 kB");
	cr_assert_str_eq(format_bytes(999999, t), "1.00 MB");
	cr_assert_str_eq(format_bytes(8388608, t), "8.39 MB");
	cr_assert_str_eq(format_bytes(1.5e18, t), "1500 PB");
	cr_assert_str_eq(format_milliseconds(12.34, t), "12.3 ms");
	cr_assert_str_eq(format_milliseconds(0.0456, t), "45.6 us");
	cr_assert_str_eq(format_milliseconds(7800, t), "7.80 s");
	cr_assert_str_eq(format_milliseconds(999.4, t), "999 ms");
	cr_assert_str_eq(format_milliseconds(999.6, t), "1.00 s", "not 1000 ms");
	cr_assert_str_eq(format_milliseconds(0.9994, t), "999 us");
	cr_assert_str_eq(format_milliseconds(0.9996, t), "1.00 ms");
	cr_assert_str_eq(format_milliseconds(0.9994e-3, t), "999 ns");
	cr_assert_str_eq(format_milliseconds(0.9996e-3, t), "1.00 us");
}

Test(timing, median_and_percentiles)
{
	double ms[] = {5, 1, 3, 2, 4};
	struct time_summary summary = time_summarise(ms, 5);
	cr_assert_float_eq(summary.median_ms, 3, 1e-12);
	cr_assert_float_eq(summary.p10_ms, 1.4, 1e-12);
	cr_assert_float_eq(summary.p90_ms, 4.6, 1e-12);
	cr_assert_eq(summary.runs, 5);
	double one[] = {2};
	cr_assert_float_eq(time_summarise(one, 1).p90_ms, 2, 0);
	cr_assert_eq(time_summarise(one, 0).runs, 0);
}

Test(timing, settles_when_the_standard_error_is_small)
{
	double steady[10], noisy[10];
	for (int i = 0; i < 10; i++)
		steady[i] = 1.0 + 0.001 * (i % 2), noisy[i] = 1.0 + (i % 2);
	double more[] = {1, 1, 1, 1, 1, 99}; /* what lies behind those that were taken is not looked at */
	cr_assert(time_is_settled(more, 5));
	cr_assert(!time_is_settled(more, 6));
	cr_assert(!time_is_settled(steady, 4));
	cr_assert(time_is_settled(steady, 10));
	cr_assert(!time_is_settled(noisy, 10));
	/* 1 - e, 1, 1, 1, 1 + e: √(2 e² / 4 / 5) is 1 % at e = 0.0316. */
	cr_assert(time_is_settled((double[]){0.97, 1, 1, 1, 1.03}, 5));
	cr_assert(!time_is_settled((double[]){0.967, 1, 1, 1, 1.033}, 5));
}

Test(timing, reads_the_plain_builds_tsv)
{
	struct time_summary time;
	char good[] = "# where from\n# seq\tkernel\tmedian_ms\tp10_ms\tp90_ms\truns\n512\tnaive\t1.5\t1.25\t2\t7\n";
	cr_assert(plain_build_parse(good, &time));
	cr_assert(time.median_ms == 1.5 && time.p10_ms == 1.25 && time.p90_ms == 2 && time.runs == 7);
	char untimed[] = "# seq\tmedian_ms\tp10_ms\tp90_ms\truns\n512\tNaN\tNaN\tNaN\tNaN\n";
	cr_assert(!plain_build_parse(untimed, &time));
	char no_row[] = "# seq\tmedian_ms\n";
	cr_assert(!plain_build_parse(no_row, &time));
	char nothing[] = "";
	cr_assert(!plain_build_parse(nothing, &time));
	char short_row[] = "# seq\tmedian_ms\tp10_ms\tp90_ms\truns\n512\t1\n";
	cr_assert(!plain_build_parse(short_row, &time));
}

Test(provenance, a_cpu_has_a_short_name)
{
	static const char *const names[][2] = {
		{"Intel(R) Xeon(R) Gold 6130 CPU @ 2.10GHz\n", "Intel Xeon Gold 6130"},
		{"AMD EPYC 7R13 Processor\n", "AMD EPYC 7R13"},
		{"Intel(R) Core(TM) i7-9750H CPU @ 2.60GHz", "Intel Core i7-9750H"},
		{"\t 12th Gen Intel(R) Core(TM)  i5-1240P \n", "\t 12th Gen Intel Core i5-1240P"},
		{"", ""},
	};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		char name[80];
		snprintf(name, sizeof name, "%s", names[i][0]);
		cpu_name_shorten(name);
		cr_expect_str_eq(name, names[i][1]);
	}
	/* As Linux says it, where it does. */
	char line[256], found[256] = "unknown CPU", name[256], cut[8];
	FILE *list = fopen("/proc/cpuinfo", "r");
	while (list && fgets(line, sizeof line, list))
		if (sscanf(line, "model name : %255[^\n]", found) == 1)
			break;
	if (list)
		fclose(list);
	cpu_name_shorten(found);
	cpu_name_find(name, sizeof name);
	cr_expect_str_eq(name, found);
	cpu_name_find(cut, sizeof cut);
	cr_expect(strncmp(cut, name, 7) == 0 && strlen(cut) <= 7);
}

/* As a shell reads it. */
Test(command, each_argument_is_one_word)
{
	static const char *const words[][2] = {
		{"--seq", "--seq"},
		{"a-_./,=+:@%1", "a-_./,=+:@%1"},
		{"", "''"},
		{"a b", "'a b'"},
		{"it's", "'it'\\''s'"},
		{"'", "''\\'''"},
		{"\"$x\\", "'\"$x\\'"},
		{"N\xc2\xb2", "'N\xc2\xb2'"},
		{"a\n'b", "$'a\\012\\'b'"},
		{"\\\x7f~", "$'\\\\\\177~'"},
		{"\xff", "$'\\377'"},
	};
	for (size_t i = 0; i < sizeof words / sizeof words[0]; i++) {
		const char *const arguments[] = {"x", words[i][0], NULL};
		FILE *out = open_memstream(&text, &text_size);
		command_print(out, "naive", arguments);
		fputs(words[i][1], out);
		fclose(out);
		cr_expect_eq(strncmp(text, "./naive x ", 10), 0, "%s", text);
		const size_t length = strlen(words[i][1]);
		cr_expect_eq(strlen(text), 10 + 2 * length, "%s", text);
		cr_expect_eq(strncmp(text + 10, words[i][1], length), 0, "%s", text);
		free(text);
	}
	FILE *out = open_memstream(&text, &text_size);
	command_print(out, "naive", NULL);
	fclose(out);
	cr_expect_str_eq(text, "./naive");
	free(text);
}

/* What a child does with `what` on a terminal of its own: its exit status, or 128 + signal; `text` is what it printed. */
static int on_a_terminal(void (*act)(int), int what)
{
	static char said[4096];
	int terminal, status = 0;
	size_t count = 0;
	pid_t child = forkpty(&terminal, NULL, NULL, NULL);
	cr_assert(child >= 0);
	if (child == 0) {
		act(what);
		fflush(NULL);
		_exit(77);
	}
	for (ssize_t got; (got = read(terminal, said + count, sizeof said - 1 - count)) > 0;)
		count += (size_t)got;
	said[count] = '\0';
	text = said;
	waitpid(child, &status, 0);
	close(terminal);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

static void show_progress(int wanted)
{
	struct progress progress = progress_new(wanted);
	progress_clear(&progress);
	fputs("a", stderr);
	progress_show(&progress, "%s %d of %d", "kernel", 3, 7);
	progress_show(&progress, "%090d", 0);
	progress_clear(&progress);
	progress_clear(&progress);
	fputs("b", stderr);
}

/* One line, which the next replaces and which is wiped once; nothing where nobody wants it. */
Test(progress, is_one_line_of_a_terminal)
{
	char line[200];
	snprintf(line, sizeof line, "a\r\x1b[Kkernel 3 of 7\r\x1b[K%079d\r\x1b[Kb", 0);
	cr_expect_eq(on_a_terminal(show_progress, true), 77);
	cr_expect_str_eq(text, line);
	on_a_terminal(show_progress, false);
	cr_expect_str_eq(text, "ab");
}

enum { EXIT_0 = 100, EXIT_3, EXIT_256, AT_ONCE, AT_ONCE_3, QUICK, RETURNS, RECURSES };
enum { HARNESS = 1000, UNGUARDED = 2000, LONG_NAME = 3000 };

/* Until the stack is full. */
static int recurse(volatile int *depth)
{
	volatile int here[1000] = {*depth + 1};
	return *depth < 0 ? 0 : recurse(here) + here[0];
}

static void end_host_code(int how)
{
	static char name[400];
	memset(name, 'n', sizeof name - 1);
	host_code_guard(how < LONG_NAME ? "naive" : name);
	if (how < HARNESS || how >= LONG_NAME)
		host_code_of("fa1_row");
	if (how >= UNGUARDED && how < LONG_NAME)
		host_code_unguard();
	printf("seen ");
	switch (how % HARNESS) {
	case EXIT_0: exit(0);
	case EXIT_3: exit(3);
	case EXIT_256: exit(256);
	case AT_ONCE: _Exit(0);
	case AT_ONCE_3: _exit(3);
	case QUICK: quick_exit(0);
	case RETURNS: return;
	case RECURSES: fflush(stdout), recurse(&how); return;
	default: fflush(stdout); raise(how % HARNESS), raise(how % HARNESS);
	}
}

/* Kills: a way to end a program before its results that is not told, or told of the harness; output that is lost. */
Test(host_code, what_ends_a_program_is_told)
{
#define LATE " before there were results\r\n"
	static const struct {
		int how, status;
		const char *says;
	} ends[] = {
		{EXIT_0, 1, "seen naive: fa1_row: its host code called exit(0)" LATE},
		{EXIT_256, 1, "seen naive: fa1_row: its host code called exit(256)" LATE},
		{EXIT_3, 3, "seen "},
		{AT_ONCE, 1, "seen naive: fa1_row: its host code called _exit(0)" LATE},
		{AT_ONCE_3, 3, ""},
		{QUICK, 1, "seen naive: fa1_row: its host code called quick_exit()" LATE},
		{SIGSEGV, 1, "seen naive: fa1_row: its host code crashed: segmentation fault\r\n"},
		{SIGBUS, 1, "seen naive: fa1_row: its host code crashed: bus error\r\n"},
		{SIGABRT, 1, "seen naive: fa1_row: its host code called abort()\r\n"},
		{SIGFPE, 1, "seen naive: fa1_row: its host code crashed: an integer was divided by zero\r\n"},
		{SIGILL, 1, "seen naive: fa1_row: its host code crashed: illegal instruction\r\n"},
		{RECURSES, 1, "seen naive: fa1_row: its host code crashed: segmentation fault\r\n"},
		{SIGTERM, 128 + SIGTERM, "seen "},
		{RETURNS, 77, "seen "},
		{HARNESS + EXIT_0, 1, "seen naive: called exit(0)" LATE},
		{HARNESS + QUICK, 1, "seen naive: called quick_exit()" LATE},
		{HARNESS + SIGSEGV, 128 + SIGSEGV, "seen "}, /* raised again: no kernel's */
		{UNGUARDED + SIGFPE, 128 + SIGFPE, "seen "},
		{UNGUARDED + EXIT_0, 0, "seen "},
		{UNGUARDED + AT_ONCE, 0, ""},
		{UNGUARDED + QUICK, 0, ""},
	};
	for (size_t i = 0; i < sizeof ends / sizeof ends[0]; i++) {
		cr_expect_eq(on_a_terminal(end_host_code, ends[i].how), ends[i].status, "%d: %s", ends[i].how, text);
		cr_expect_str_eq(text, ends[i].says, "%d: %s", ends[i].how, text);
	}
	/* A name that is too long for the line is cut with it. */
	on_a_terminal(end_host_code, LONG_NAME + SIGSEGV);
	cr_expect_eq(strlen(text), 5 + 299, "%zu: %s", strlen(text), text);
}
