/* make tables: what equals, what does not, and that it can tell. */
#include "program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TABLES    TEST_ROOT "/plots/tables.pl"
#define PUBLISHED TEST_ROOT "/plots/published.tsv"
#define DATA      TEST_ROOT "/plots/data"

static struct outcome tables(const char *table, const char *data, const char *published)
{
	const char *const argv[] = {
		"perl",
		TABLES,
		"--data",
		data ? data : "plots/data",
		"--published",
		published ? published : PUBLISHED,
		table ? "--table" : NULL,
		table,
		NULL};
	return run_program_in(TEST_ROOT, argv, NOTHING, 60);
}

/* The line of the output that holds both texts. */
static char *line_with(const struct outcome *run, const char *first, const char *second)
{
	char *copy = text("%s", run->out);
	for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
		if (strstr(line, first) && strstr(line, second))
			return line;
	return NULL;
}

static size_t count(const char *content, const char *word)
{
	size_t found = 0;
	for (const char *at = content; (at = strstr(at, word)); at++)
		found++;
	return found;
}

Test(tables, nothing_differs_without_a_reason)
{
	struct outcome run = tables(NULL, NULL, NULL);
	cr_assert_eq(run.status, 0, "exit %d\n%s%s", run.status, run.out, run.err);
	cr_expect_str_empty(run.err);
	for (int i = 1; i <= 9; i++)
		cr_expect_not_null(strstr(run.out, text("T%d  ", i)), "T%d is missing", i);
	cr_expect_null(strstr(run.out, "NOT EQUAL"));
	cr_expect_null(strstr(run.out, "no data"));
	/* five of T3, one of T4, two of T8; and the explanation below each of the three tables */
	cr_expect_eq(count(run.out, "differs because"), 8 + 3);
	cr_expect_not_null(strstr(run.out, "equal, by inference"));
	cr_expect_null(strchr(run.out, '\x1b'), "colour in a pipe");
	char *copy = text("%s", run.out);
	for (char *line = strtok(copy, "\n"); line; line = strtok(NULL, "\n"))
		cr_expect_leq(strlen(line), 80, "%zu columns: %s", strlen(line), line);
	free_outcome(&run);
}

Test(tables, ours_are_computed)
{
	struct outcome run = tables("T1,T2,T9", NULL, NULL);
	cr_assert_eq(run.status, 0, "%s", run.out);
	cr_expect_not_null(line_with(&run, "in all", "17,301,504  17,301,504  equal"));
	cr_expect_not_null(line_with(&run, "68,157,440 68,157,440", "17,301,504 17,301,504"));
	cr_expect_not_null(line_with(&run, "Bc=512 (d=32)", "7"));
	cr_expect_not_null(strstr(run.out, "Bc=512 at d=64 is refused: these tiles ask for"));
	free_outcome(&run);
	run = tables("T8", NULL, NULL);
	cr_expect_not_null(line_with(&run, "standard, plain: 11A + 12u", "25.2"));
	cr_expect_not_null(line_with(&run, "13u + 20u", "4.43"));
	free_outcome(&run);
}

/* The files below are copies with one number changed. */
static const char *planted(const char *path, const char *line_start, const char *old, const char *new)
{
	char *content = read_text(path);
	cr_assert_not_null(content, "%s", path);
	const char *line = strncmp(content, line_start, strlen(line_start)) == 0
	                           ? content
	                           : strstr(content, text("\n%s", line_start));
	cr_assert_not_null(line, "%s: no line '%s'", path, line_start);
	const char *at = strstr(line, old);
	cr_assert_not_null(at, "%s: no '%s' in '%s'", path, old, line_start);
	const char *changed = text("%.*s%s%s", (int)(at - content), content, new, at + strlen(old));
	free(content);
	return changed;
}

Test(tables, a_wrong_published_number_is_found, .timeout = 120)
{
	static const struct {
		const char *table, *line, *old, *new;
	} faults[] = {
		{"T1", "T1\t2048\ttotal", "17,301,504", "17,301,505"},
		{"T1", "T1\t2048\tshare", "\t97", "\t96"},
		{"T2", "T2\t512\tratio", "3.6", "3.7"},
		{"T2", "T2\tceiling\tratio", "4.0", "4.1"},
		{"T4", "T4\t1,2,3,6,2,1\tl1", "1.503", "1.504"},
		{"T4", "T4\t1,2,3,6,2,1\tl2", "1.0998", "1.1098"},
		{"T5", "T5\t2048x256\tbound", "compute", "memory"},
		{"T5", "T5\t256x64\tflop", "8.39", "8.38"},
		{"T5", "T5\tridge\tintensity", "201", "202"},
		{"T6", "T6\tlimit\tnaive", "64", "65"},
		{"T8", "T8\thbm\tflash", "4.4", "4.5"},
		{"T8", "T8\thbm\tstandard", "40.3", "40.4"},
		{"T9", "T9\tfa1 128\tunits", "25", "26"},
		{"T9", "T9\tfa1 256\tGB", "1.74", "1.75"},
		{"T9", "T9\tfa2 64\tunits", "34", "33"},
	};
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		char *path = text("%s/published.tsv", scratch_directory());
		write_text(path, planted(PUBLISHED, faults[i].line, faults[i].old, faults[i].new));
		struct outcome run = tables(faults[i].table, NULL, path);
		cr_expect_eq(run.status, 1, "%s: exit %d", faults[i].line, run.status);
		cr_expect_eq(count(run.out, "NOT EQUAL"), 1, "%s:\n%s", faults[i].line, run.out);
		cr_expect_not_null(strstr(run.out, "1 of "), "%s", run.out);
		free_outcome(&run);
	}
}

/* A copy of plots/data in the scratch directory. */
static const char *copy_data(void)
{
	const char *copy = text("%s/data", scratch_directory());
	cr_assert_eq(system(text("rm -rf %s && cp -r %s %s", copy, DATA, copy)), 0);
	return copy;
}

Test(tables, a_wrong_count_is_found)
{
	static const struct {
		const char *table, *file, *line, *old, *new;
	} faults[] = {
		{"T1", "01_naive", "2048\t64\t1\t1\t0\tnaive", "\t35127296\t", "\t35127300\t"},
		{"T2", "05_fa2", "512\t64\t1\t1\t0\t0\t0\tfa2_row", "\t327680\t", "\t327681\t"},
		{"T6", "01_naive", "2048\t128\t1\t1\t0\tnaive", "\t17825792\t", "\t18825792\t"},
		{"T8", "06_backward", "256\t64\t1\t1\t0\t0\t0\tbackward_atomic", "\t229376\t", "\t279376\t"},
		{"T9", "blocks", "1024\t64\t1\t1\t16\t256\t0\tfa1_paper", "\t13\n", "\t13.1\n"},
	};
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		const char *data = copy_data(), *path = text("%s/sim/%s.tsv", data, faults[i].file), *content = NULL;
		/* the model's element count comes first and is not what the tables read: plant in every such cell */
		content = planted(path, faults[i].line, faults[i].old, faults[i].new);
		write_text(path, content);
		if (faults[i].new[strlen(faults[i].new) - 1] == '\t' && strcmp(faults[i].table, "T1") != 0)
			write_text(path, planted(path, faults[i].line, faults[i].old, faults[i].new));
		struct outcome run = tables(faults[i].table, data, NULL);
		cr_expect_eq(run.status, 1, "%s: exit %d\n%s", faults[i].table, run.status, run.out);
		cr_expect_not_null(strstr(run.out, "NOT EQUAL"), "%s:\n%s", faults[i].table, run.out);
		free_outcome(&run);
	}
}

Test(tables, missing_data_names_its_command)
{
	const char *data = copy_data();
	cr_assert_eq(remove(text("%s/sim/long.tsv", data)), 0);
	struct outcome run = tables("T1,T2", data, NULL);
	cr_expect_eq(run.status, 3, "exit %d", run.status);
	cr_expect_not_null(line_with(&run, "no data", "make bench DEVICE=sim CHAPTERS=long"), "%s", run.out);
	cr_expect_not_null(strstr(run.out, "17,301,504  equal"), "T1 goes down with T2:\n%s", run.out);
	free_outcome(&run);
	write_text(text("%s/sim/blocks.tsv", data), "# nothing\n# seq\tkernel\n");
	run = tables("T9", data, NULL);
	cr_expect_eq(run.status, 3, "exit %d", run.status);
	cr_expect_not_null(line_with(&run, "no data", "make bench DEVICE=sim CHAPTERS=blocks"), "%s", run.out);
	free_outcome(&run);
}

/* A file that is torn, or has no such column, is no data: never a number that is not equal. */
Test(tables, damaged_data_is_no_data)
{
	static const struct {
		const char *table, *damage, *says;
	} cases[] = {
		{"T9", "sed -i '$s/\\t[^\\t]*$//' blocks.tsv", " columns, found "},
		{"T1", "sed -i s/footprint_read_bytes/gone/ 01_naive.tsv",
	         "has no number of footprint_read_bytes in the row"},
		{"T2", "sed -i s/counted_elements/gone/ 01_naive.tsv",
	         "has no number of counted_elements in the row"},
		{"T1", "sed -i '/^2048/s/\t35127296\t/\tNaN\t/g' 01_naive.tsv",
	         "has no number of footprint_read_bytes"},
		{"T1", "sed -i '/^# commit/d' 01_naive.tsv", "01_naive.tsv has no line '# commit:'"},
		{"T1", ": >01_naive.tsv", "01_naive.tsv has no line '# date:'"},
		{"T8", "sed -i '/\t256\t0\tfa1_paper/s/\tyes\t.*/\tskipped/' blocks.tsv", "blocks.tsv:"},
		{"T1", "rm 01_naive.tsv && mkdir 01_naive.tsv", "01_naive.tsv"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *data = copy_data();
		cr_assert_eq(system(text("cd %s/sim && %s", data, cases[i].damage)), 0, "%s", cases[i].damage);
		struct outcome run = tables(cases[i].table, data, NULL);
		cr_expect_eq(run.status, 3, "%s: exit %d\n%s", cases[i].damage, run.status, run.out);
		cr_expect_str_empty(run.err, "%s: %s", cases[i].damage, run.err);
		cr_expect_not_null(
			line_with(&run, cases[i].says, "; make bench DEVICE=sim CHAPTERS="), "%s:\n%s",
			cases[i].damage, run.out);
		free_outcome(&run);
	}
	/* Lines that end as on Windows are whole. */
	const char *data = copy_data();
	cr_assert_eq(system(text("sed -i 's/$/\r/' %s/sim/blocks.tsv", data)), 0);
	struct outcome run = tables("T9", data, NULL);
	cr_expect(run.status == 0 && !*run.err, "exit %d\n%s%s", run.status, run.out, run.err);
	free_outcome(&run);
}

/* T7: without a GPU's data a word, with it our times. */
Test(tables, gpu_times_stand_beside)
{
	const char *data = copy_data();
	cr_assert_eq(system(text("find %s -mindepth 1 -maxdepth 1 ! -name sim -exec rm -rf {} +", data)), 0);
	struct outcome run = tables("T7", data, NULL);
	cr_expect_eq(run.status, 0);
	cr_expect_eq(count(run.out, "needs a GPU"), 4, "%s", run.out);
	free_outcome(&run);

	static const char *const files[] = {"01_naive", "04_fa1", "05_fa2"};
	static const char *const kernels[][2] = {
		{"naive", "naive"}, {"fa1_paper", "fa1_row"}, {"fa2_row", "fa2_split_q"}};
	cr_assert_eq(system(text("mkdir -p %s/h200", data)), 0);
	for (int i = 0; i < 3; i++)
		write_text(
			text("%s/h200/%s.tsv", data, files[i]),
			text("# device: cuda, NVIDIA H200\n# seq\tdim\tbatch\theads\tcausal\tkernel\tmedian_ms\n"
		             "1024\t64\t1\t8\t0\t%s\t1.25\n4096\t64\t1\t8\t0\t%s\tNaN\n1024\t64\t1\t8\t0\t%s\t2.5\n",
		             kernels[i][0], kernels[i][0], kernels[i][1]));
	run = tables("T7", data, NULL);
	cr_expect_eq(run.status, 0);
	cr_expect_null(strstr(run.out, "needs a GPU"));
	cr_expect_not_null(strstr(run.out, "on h200 (NVIDIA H200)"), "%s", run.out);
	cr_expect_not_null(
		line_with(&run, "  1024", "1.25       1.25     2.50     1.25         2.50"), "%s", run.out);
	cr_expect_not_null(line_with(&run, "  4096      -", "-"), "%s", run.out);
	free_outcome(&run);
}

Test(tables, usage)
{
	struct outcome run = tables("T10", NULL, NULL);
	cr_expect_eq(run.status, 2);
	cr_expect_str_eq(run.err, "tables: T: expected some of T1, T2, T3, T4, T5, T6, T7, T8, T9, got 'T10'\n");
	free_outcome(&run);
	run = tables(",", NULL, NULL);
	cr_expect(run.status == 2 && strstr(run.err, "got ','"), "exit %d: %s", run.status, run.err);
	free_outcome(&run);
	run = run_program_in(TEST_ROOT, LIST("sh", "-c", "exec perl " TABLES " --table T1 >/dev/full"), NOTHING, 60);
	cr_expect_eq(run.status, 3);
	cr_expect_str_eq(run.err, "tables: standard output: No space left on device\n");
	free_outcome(&run);
	run = tables("t7", NULL, NULL);
	cr_expect_eq(run.status, 0);
	free_outcome(&run);
	char *path = text("%s/published.tsv", scratch_directory());
	write_text(path, "T1\t2048\n");
	run = tables("T1", NULL, path);
	cr_expect_eq(run.status, 2);
	cr_expect(strstr(run.err, "published.tsv:1: expected 8 columns"), "%s", run.err);
	free_outcome(&run);
	write_text(path, "# nothing\n");
	run = tables("T1", NULL, path);
	cr_expect_eq(run.status, 2);
	cr_expect(strstr(run.err, "no line for T1, 2048, read"), "%s", run.err);
	free_outcome(&run);
	run = tables("T1", NULL, "/nowhere.tsv");
	cr_expect_eq(run.status, 3);
	free_outcome(&run);
}
