/* The data that the pictures and tables show: complete, consistent, and from somewhere. And the check itself. */
#include "data_check.h"
#include "program.h"

#include <criterion/criterion.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DATA TEST_ROOT "/plots/data"

static const char *device_of(const char *path)
{
	static char device[80];
	cr_assert_eq(sscanf(path + strlen(DATA "/"), "%79[^/]", device), 1);
	return device;
}

Test(data, every_file_is_consistent)
{
	glob_t found;
	cr_assert_eq(glob(DATA "/*/*.tsv", 0, NULL, &found), 0, "no data in plots/data: make bench");
	cr_assert_geq(found.gl_pathc, 8, "only %zu files", found.gl_pathc);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct data_file *file = data_file_read(found.gl_pathv[i]);
		const char *wrong = data_check(file, device_of(found.gl_pathv[i]), data_name(found.gl_pathv[i]));
		cr_expect_null(wrong, "%s: %s", found.gl_pathv[i], wrong);
		data_file_free(file);
	}
	globfree(&found);
}

Test(data, the_simulated_bench_is_complete)
{
	static const char *const names[] = {"01_naive", "02_online_softmax", "03_tiled_matmul", "04_fa1",
	                                    "05_fa2",   "06_backward",       "blocks",          "long"};
	for (size_t i = 0; i < sizeof names / sizeof names[0]; i++) {
		struct data_file *file = data_file_read(text(DATA "/sim/%s.tsv", names[i]));
		cr_assert_not_null(file, "%s is not there: make bench", names[i]);
		const char *wrong = data_check_points(file, names[i]);
		cr_expect_null(wrong, "%s: %s", names[i], wrong);
		data_file_free(file);
	}
}

/* From a clean tree, and of no machine that could be recognised. */
Test(data, tells_where_it_comes_from)
{
	glob_t found;
	cr_assert_eq(glob(DATA "/*/*.tsv", 0, NULL, &found), 0);
	for (size_t i = 0; i < found.gl_pathc; i++) {
		struct data_file *file = data_file_read(found.gl_pathv[i]);
		const char *commit = data_key(file, "commit");
		cr_expect(
			commit && !strchr(commit, '+') && strcmp(commit, "unknown") != 0, "%s: commit %s",
			found.gl_pathv[i], commit);
		char *content = read_text(found.gl_pathv[i]);
		cr_expect(
			!strstr(content, "/home") && !strstr(content, "/root") && !strstr(content, "/tmp"),
			"%s: a path of one machine", found.gl_pathv[i]);
		free(content);
		data_file_free(file);
	}
	globfree(&found);
}

/* The content with the n-th (from 1) appearance of `old` replaced. */
static char *replaced(const char *content, const char *old, const char *new, int n)
{
	const char *at = content;
	for (at = strstr(at, old); at && --n > 0; at = strstr(at + 1, old))
		;
	cr_assert_not_null(at, "no '%s' to replace", old);
	return text("%.*s%s%s", (int)(at - content), content, new, at + strlen(old));
}

/* The value of a column in a row, to plant another. */
static char *cell_of(const char *path, size_t row, const char *column)
{
	struct data_file *file = data_file_read(path);
	char *value = text("%s", data_text(file, &file->rows[row], column));
	data_file_free(file);
	return value;
}

static void expect_found(const char *name, const char *content, const char *what)
{
	char *path = text("%s/%s.tsv", scratch_directory(), name);
	write_text(path, content);
	struct data_file *file = data_file_read(path);
	const char *wrong = data_check(file, "sim", name);
	cr_expect_not_null(wrong, "%s: nothing found", what);
	if (wrong)
		cr_expect_not_null(strstr(wrong, what), "expected '%s' in '%s'", what, wrong);
	data_file_free(file);
}

Test(check, finds_what_is_planted)
{
	char *naive = read_text(DATA "/sim/01_naive.tsv"), *blocks = read_text(DATA "/sim/blocks.tsv");
	char *path = text("%s", DATA "/sim/01_naive.tsv");
	cr_assert(naive && blocks);
	expect_found("01_naive", replaced(naive, "# commit: ", "# comment: ", 1), "commit");
	expect_found("01_naive", replaced(naive, "# date: 20", "# date: 1", 1), "date");
	expect_found("01_naive", replaced(naive, "# units: ", "# unit: ", 1), "units");
	expect_found("01_naive", replaced(naive, "# device: sim", "# device: cuda", 1), "in sim lies data of");
	expect_found("01_naive", replaced(naive, "\tmedian_ms", "\tmean_ms", 1), "no column median_ms");
	expect_found("01_naive", replaced(naive, "\tyes\t", "\tno\t", 1), "verified is 'no'");
	expect_found("01_naive", replaced(naive, "\tyes\t", "\tyes\tyes\t", 1), "cells");
	expect_found("01_naive", replaced(naive, "\tmeasured-cpu", "\tmeasured-gpu", 3), "row 3, naive: time_kind");
	expect_found("01_naive", replaced(naive, cell_of(path, 1, "max_abs"), "0.01", 1), "error 0.01");
	expect_found("01_naive", replaced(naive, cell_of(path, 1, "p90_ms"), "1e-9", 1), "times");
	expect_found("01_naive", replaced(naive, cell_of(path, 0, "median_ms"), "0x1", 1), "median_ms: '0x1'");
	/* the first is model_elements, the second counted_elements */
	char *elements = text("\t%s\t", cell_of(path, 0, "model_elements"));
	expect_found("01_naive", replaced(naive, elements, "\t98305\t", 1), "by the textbook 98304");
	expect_found("01_naive", replaced(naive, elements, "\t98305\t", 2), "counted 98305");
	expect_found(
		"01_naive", replaced(naive, text("\t%s\t", cell_of(path, 0, "footprint_read_bytes")), "\t1\t", 1),
		"bytes in all");
	expect_found("blocks", replaced(blocks, "\t49\n", "\t48\n", 1), "units 48");
	free(naive);
	free(blocks);
}

Test(check, finds_a_missing_and_a_doubled_point)
{
	char *fa2 = read_text(DATA "/sim/05_fa2.tsv"), *path = text("%s/05_fa2.tsv", scratch_directory());
	cr_assert_not_null(fa2);
	char *last = fa2 + strlen(fa2) - 1;
	while (last > fa2 && last[-1] != '\n')
		last--;
	char *doubled = text("%s%s", fa2, last);
	write_text(path, doubled);
	struct data_file *file = data_file_read(path);
	cr_expect_not_null(data_check_points(file, "05_fa2"));
	data_file_free(file);
	*last = '\0';
	write_text(path, fa2);
	file = data_file_read(path);
	cr_expect_not_null(data_check_points(file, "05_fa2"));
	data_file_free(file);
	free(fa2);
}
