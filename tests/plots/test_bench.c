/* make bench: what it writes, that it goes on where it was stopped, and what it refuses. */
#include "data_check.h"
#include "program.h"

#include <criterion/criterion.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#define BENCH TEST_ROOT "/plots/bench.pl"

/* ---- the real programs, small ---- */

/* Runs the bench of a chapter on small sizes into the scratch directory. */
static struct outcome bench_small(const char *chapters, const char *more, const char *value)
{
	const char *const argv[] = {"perl",     BENCH,    "--chapters", chapters, "--sizes",
	                            "16,33",    "--dims", "8,20",       "--data", scratch_directory(),
	                            "--repeat", "2",      more,         value,    NULL};
	return run_program_in(TEST_ROOT, argv, NOTHING, 100);
}

static void expect_consistent(const char *name, size_t rows)
{
	struct data_file *file = data_file_read(text("%s/sim/%s.tsv", scratch_directory(), name));
	const char *wrong = data_check(file, "sim", name);
	cr_expect_null(wrong, "%s: %s", name, wrong);
	cr_expect(
		file && file->row_count == rows, "%s: %zu rows, expected %zu", name, file ? file->row_count : 0,
		rows);
	data_file_free(file);
}

Test(bench, writes_consistent_files, .timeout = 120)
{
	struct outcome run = bench_small("01_naive,02_online_softmax,04_fa1,05_fa2,blocks", NULL, NULL);
	cr_assert_eq(run.status, 0, "%s", run.err);
	cr_expect_str_empty(run.out);
	expect_consistent("01_naive", 8);
	expect_consistent("02_online_softmax", 6);
	expect_consistent("04_fa1", 24);
	expect_consistent("05_fa2", 16);
	expect_consistent("blocks", 10);
	free_outcome(&run);
}

/* A device's limit is a row that says so, not an end of the bench. */
Test(bench, a_refusal_is_a_row)
{
	struct outcome run = bench_small("blocks", "--gpu", "rtx4090");
	cr_assert_eq(run.status, 0, "%s", run.err);
	expect_consistent("blocks", 10);
	struct data_file *file = data_file_read(text("%s/sim/blocks.tsv", scratch_directory()));
	size_t refused = 0;
	for (size_t i = 0; i < file->row_count; i++)
		if (strcmp(data_text(file, &file->rows[i], "verified"), "skipped") == 0) {
			refused++;
			cr_expect(strstr(data_text(file, &file->rows[i], "skipped"), "101,376"));
			cr_expect_str_eq(data_text(file, &file->rows[i], "counted_elements"), "NaN");
			cr_expect_str_eq(data_text(file, &file->rows[i], "kernel"), "fa1_paper");
		}
	cr_expect_eq(refused, 3, "%zu refused", refused); /* Bc = 256 and twice 512 */
	data_file_free(file);
	free_outcome(&run);
}

/* ---- a stand-in for the program, to stop, to fail, to be another device ---- */

/* A directory with a 05_fa2/fa2 that is stand_in.sh. */
static const char *house(void)
{
	const char *directory = scratch_directory();
	const char *const chapters[] = {"01_naive", "04_fa1", "05_fa2"}, *const programs[] = {"naive", "fa1", "fa2"};
	for (int i = 0; i < 3; i++) {
		mkdir(text("%s/%s", directory, chapters[i]), 0777);
		cr_assert_eq(
			symlink(TEST_ROOT "/tests/plots/stand_in.sh",
		                text("%s/%s/%s", directory, chapters[i], programs[i])),
			0);
	}
	return directory;
}

#define TSV  text("%s/data/sim/05_fa2.tsv", scratch_directory())
#define PART text("%s/data/sim/05_fa2.tsv.part", scratch_directory())

static struct outcome bench_stand_in(const char *const environment[], const char *more, const char *value)
{
	const char *const argv[] = {"perl", BENCH,    "--chapters", "05_fa2", "--sizes", "2,3,4,5", "--dims",
	                            "8",    "--data", "data",       more,     value,     NULL};
	return run_program_in(scratch_directory(), argv, environment, 60);
}

static void expect_whole(void)
{
	struct data_file *file = data_file_read(TSV);
	cr_assert_not_null(file, "no %s", TSV);
	cr_assert_eq(file->row_count, 16, "%zu rows", file->row_count);
	for (size_t i = 0; i < file->row_count; i++) { /* 4 sizes x 2 kernels, without and with the mask */
		const struct data_row *row = &file->rows[i];
		cr_expect_eq(data_number(file, row, "seq"), 2 + (double)(i / 2 % 4), "row %zu", i);
		cr_expect_eq(data_number(file, row, "causal"), (double)(i / 8), "row %zu", i);
		cr_expect_str_eq(data_text(file, row, "kernel"), i % 2 ? "two" : "one");
	}
	data_file_free(file);
	cr_expect_neq(access(PART, F_OK), 0, "the part is still there");
}

static size_t points_done(void)
{
	char *part = read_text(PART);
	size_t count = 0;
	for (const char *at = part; at && (at = strstr(at, "# done\n")); at++)
		count++;
	free(part);
	return count;
}

/* Starts a slow bench, waits until it has `points` points, then sends the signal. Returns its wait status. */
static int stop_after(size_t points, int with)
{
	pid_t child = fork();
	if (child == 0) {
		setenv("STAND_IN_SLEEP", "0.15", 1);
		if (chdir(scratch_directory()) != 0 || !freopen("stopped", "w", stderr))
			_exit(126);
		execlp("perl", "perl", BENCH, "--chapters", "05_fa2", "--sizes", "2,3,4,5", "--dims", "8", "--data",
		       "data", (char *)NULL);
		_exit(127);
	}
	struct timespec nap = {0, 10 * 1000 * 1000};
	for (int i = 0; i < 2000 && points_done() < points; i++)
		nanosleep(&nap, NULL);
	cr_assert_geq(points_done(), points, "it does not get on");
	kill(child, with);
	int status = 0;
	waitpid(child, &status, 0);
	return status;
}

Test(bench, goes_on_after_an_interrupt)
{
	house();
	int status = stop_after(2, SIGINT);
	cr_assert(WIFEXITED(status) && WEXITSTATUS(status) == 130, "wait status %x", status);
	char *said = read_text(text("%s/stopped", scratch_directory()));
	cr_expect_str_eq(said, "bench: stopped; what is done is kept, make bench goes on from there\n");
	cr_expect_neq(access(TSV, F_OK), 0, "half a file");
	size_t done = points_done();
	cr_assert(done >= 2 && done < 8, "%zu points", done);
	free(said);
	struct outcome run = bench_stand_in(NOTHING, NULL, NULL);
	cr_assert_eq(run.status, 0, "%s", run.err);
	cr_expect(strstr(run.err, text("8 points, %zu of them from before", done)), "%s", run.err);
	expect_whole();
	free_outcome(&run);
}

/* Killed outright, in the midst of writing a point. */
Test(bench, goes_on_after_a_kill)
{
	house();
	int status = stop_after(1, SIGKILL);
	cr_assert(WIFSIGNALED(status));
	size_t done = points_done();
	FILE *part = fopen(PART, "a");
	fprintf(part, "# point N=5 d=8 causal\n5\t8\t1\t1\t1\ton");
	fclose(part);
	struct outcome run = bench_stand_in(NOTHING, NULL, NULL);
	cr_assert_eq(run.status, 0, "%s", run.err);
	cr_expect(strstr(run.err, text("%zu of them from before", done)), "%s", run.err);
	expect_whole();
	free_outcome(&run);
}

Test(bench, begins_anew_with_other_options)
{
	house();
	stop_after(1, SIGINT);
	struct outcome run = bench_stand_in(NOTHING, "--repeat", "3");
	cr_assert_eq(run.status, 0, "%s", run.err);
	cr_expect_null(strstr(run.err, "from before"), "%s", run.err);
	expect_whole();
	free_outcome(&run);
}

Test(bench, leaves_what_is_up_to_date)
{
	house();
	struct outcome run = bench_stand_in(NOTHING, NULL, NULL);
	cr_assert_eq(run.status, 0, "%s", run.err);
	struct stat first, second, third;
	cr_assert_eq(stat(TSV, &first), 0);
	free_outcome(&run);
	run = bench_stand_in(NOTHING, NULL, NULL);
	cr_expect(run.status == 0 && strstr(run.err, "is up to date"), "%s", run.err);
	cr_assert_eq(stat(TSV, &second), 0);
	cr_expect_eq(first.st_ino, second.st_ino, "written again");
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--force", NULL);
	cr_expect_eq(run.status, 0, "%s", run.err);
	cr_assert_eq(stat(TSV, &third), 0);
	cr_expect_neq(first.st_ino, third.st_ino, "not written again");
	free_outcome(&run);
	/* another program of that name */
	cr_assert_eq(
		system(text(
			"cd %s/05_fa2 && cp fa2 new && echo '# changed' >> new && mv new fa2", scratch_directory())),
		0);
	run = bench_stand_in(NOTHING, NULL, NULL);
	cr_expect(run.status == 0 && !strstr(run.err, "up to date"), "%s", run.err);
	free_outcome(&run);
}

static void expect_one_line(const struct outcome *run, int status, const char *what)
{
	const char *newline = strchr(run->err, '\n');
	cr_expect_eq(run->status, status, "exit %d: %s", run->status, run->err);
	cr_expect(newline && newline[1] == '\0', "not one line: %s", run->err);
	cr_expect_not_null(strstr(run->err, what), "'%s' is not in '%s'", what, run->err);
}

Test(bench, refuses_a_corrupted_part)
{
	static const struct {
		const char *from, *to, *message;
	} faults[] = {
		{"\tyes\t", "\tyes\tyes\t", ".part:3: expected 11 columns, found 12; remove the file to begin anew"},
		{"# point N=2", "# point N=7", ".part:2: 'N=7 d=8' is no point of this bench"},
		{"# done\n", "", "expected '# done', found another point"},
		{"# point N=3 d=8", "# point N=2 d=8", "'N=2 d=8' for the second time"},
		{"# part of a bench", "something else", ".part:1: not the part of a bench"},
		{"# point N=2 d=8\n", "", ".part:2: a row outside of a point"},
	};
	house();
	stop_after(2, SIGINT);
	char *good = read_text(PART);
	for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++) {
		const char *at = strstr(good, faults[i].from);
		cr_assert_not_null(at, "%s", faults[i].from);
		write_text(PART, text("%.*s%s%s", (int)(at - good), good, faults[i].to, at + strlen(faults[i].from)));
		struct outcome run = bench_stand_in(NOTHING, NULL, NULL);
		expect_one_line(&run, 2, faults[i].message);
		cr_expect_neq(access(TSV, F_OK), 0, "a file all the same");
		free_outcome(&run);
	}
	write_text(PART, good);
	struct outcome run = bench_stand_in(NOTHING, NULL, NULL);
	cr_expect_eq(run.status, 0, "%s", run.err);
	expect_whole();
	free_outcome(&run);
	free(good);
}

/* A kernel that is wrong has no place among the data. */
Test(bench, a_failure_ends_it)
{
	house();
	struct outcome run = bench_stand_in(LIST("STAND_IN_FAILS=4 1 one: O is wrong"), NULL, NULL);
	cr_expect_eq(run.status, 1, "exit %d", run.status);
	cr_expect(strstr(run.err, "one: O is wrong") && strstr(run.err, "--seq 4 --dim 8"), "%s", run.err);
	cr_expect_neq(access(TSV, F_OK), 0, "a file all the same");
	cr_expect_eq(points_done(), 2);
	free_outcome(&run);
	/* what the device cannot do is a row; what the machine cannot do is none */
	run = bench_stand_in(LIST("STAND_IN_FAILS=4 3 fa2: out of memory for Q"), NULL, NULL);
	cr_expect_eq(run.status, 3, "exit %d: %s", run.status, run.err);
	free_outcome(&run);
	run = bench_stand_in(
		LIST("STAND_IN_FAILS=4 3 fa2: two: needs 17 GB of memory, the device has 8 GB"), NULL, NULL);
	cr_expect_eq(run.status, 0, "exit %d: %s", run.status, run.err);
	struct data_file *file = data_file_read(TSV);
	cr_assert_not_null(file);
	const struct data_row *row = &file->rows[4];
	cr_expect_str_eq(data_text(file, row, "kernel"), "two");
	cr_expect_str_eq(data_text(file, row, "verified"), "skipped");
	cr_expect_str_eq(data_text(file, row, "skipped"), "needs 17 GB of memory, the device has 8 GB");
	cr_expect_eq(data_number(file, row, "seq"), 4);
	data_file_free(file);
	free_outcome(&run);
}

/* A size, a chapter that is given twice has one place in the data; a bench of one's own is not what pictures show. */
Test(bench, what_is_asked_for_twice_is_measured_once)
{
	house();
	struct outcome run = bench_stand_in(NOTHING, "--sizes", "2,3,2,4,5,5");
	cr_assert_eq(run.status, 0, "%s", run.err);
	expect_whole();
	cr_expect_null(strstr(run.err, "make plots"), "%s", run.err);
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--chapters", "05_fa2,05_fa2");
	const char *first = strstr(run.err, "is up to date");
	cr_expect(run.status == 0 && first && !strstr(first + 1, "is up to date"), "%s", run.err);
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--data", "plots/data");
	cr_expect(run.status == 0 && strstr(run.err, "Next: make plots, make tables\n"), "%s", run.err);
	free_outcome(&run);
}

/* A file that may grow no further is as a disk that is full. */
Test(bench, a_full_disk_is_one_line_and_what_is_done_is_kept)
{
	house();
	const char *command = "trap '' XFSZ; ulimit -f 2; exec perl " BENCH
			      " --chapters 05_fa2 --sizes 2,3,4,5,6,7,8,9 --dims 8 --data data";
	struct outcome run = run_program_in(scratch_directory(), LIST("sh", "-c", command), NOTHING, 60);
	expect_one_line(&run, 3, "bench: data/sim/05_fa2.tsv.part: File too large");
	cr_expect_neq(access(TSV, F_OK), 0, "half a file");
	size_t done = points_done();
	cr_assert(done >= 1 && done < 16, "%zu points", done);
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--sizes", "2,3,4,5,6,7,8,9");
	cr_expect(
		run.status == 0 && strstr(run.err, text("16 points, %zu of them from before", done)), "%s", run.err);
	free_outcome(&run);
}

/* The progress line needs a terminal that can clear one. */
Test(bench, a_dumb_terminal_gets_no_escapes)
{
	house();
	const char *command = "perl " BENCH " --chapters 05_fa2 --sizes 2,3,4,5 --dims 8 --data data --force";
	struct outcome run = run_program_in(
		scratch_directory(), LIST("script", "-qec", command, "/dev/null"), LIST("TERM=xterm"), 60);
	cr_expect(run.status == 0 && strstr(run.out, "\x1b[Kbench 1/8  05_fa2  N=2 d=8"), "%s", run.out);
	free_outcome(&run);
	run = run_program_in(
		scratch_directory(), LIST("script", "-qec", command, "/dev/null"), LIST("TERM=dumb"), 60);
	cr_expect(run.status == 0 && strstr(run.out, "8 points") && !strchr(run.out, '\x1b'), "%s", run.out);
	free_outcome(&run);
}

Test(bench, usage)
{
	house();
	struct outcome run = bench_stand_in(NOTHING, "--chapters", "05_fa3");
	expect_one_line(&run, 2, "CHAPTERS: expected some of 01_naive");
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--chapters", ",");
	expect_one_line(&run, 2, "CHAPTERS: expected some of 01_naive");
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--sizes", ",");
	expect_one_line(&run, 2, "SIZES: expected whole numbers of at least 1, with commas between, got ','");
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--sizes", "12,x");
	expect_one_line(&run, 2, "SIZES: expected whole numbers of at least 1");
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--data", "/proc/none");
	expect_one_line(&run, 3, "/proc/none");
	free_outcome(&run);
	run = bench_stand_in(NOTHING, "--chapters", "06_backward");
	expect_one_line(&run, 3, "06_backward/backward is not built: make build");
	free_outcome(&run);
}

/* Each GPU has a directory of its own, and a problem of its size: 8 heads, N to 16384. */
Test(bench, a_gpu_has_its_own_directory, .timeout = 120)
{
	static const struct {
		const char *device, *directory;
	} gpus[] = {
		{"NVIDIA H200", "h200"},
		{"NVIDIA H100 80GB HBM3", "h100"},
		{"NVIDIA H100 PCIe", "h100"},
		{"NVIDIA A100-SXM4-80GB", "a100"},
		{"NVIDIA GeForce RTX 4090", "rtx4090"},
		{"Tesla V100-SXM2-16GB", "v100"},
		{"NVIDIA L40S", "l40s"}};
	house();
	for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
		struct outcome run =
			bench_stand_in(LIST(text("STAND_IN_DEVICE=cuda, %s", gpus[i].device)), NULL, NULL);
		cr_assert_eq(run.status, 0, "%s", run.err);
		struct data_file *file =
			data_file_read(text("%s/data/%s/05_fa2.tsv", scratch_directory(), gpus[i].directory));
		cr_assert_not_null(file, "%s: not in %s", gpus[i].device, gpus[i].directory);
		cr_expect_eq(data_number(file, &file->rows[0], "heads"), 8);
		data_file_free(file);
		free_outcome(&run);
	}
	const char *const argv[] = {"perl", BENCH, "--chapters", "05_fa2", "--data", "data", NULL};
	struct outcome run = run_program_in(scratch_directory(), argv, LIST("STAND_IN_DEVICE=cuda, NVIDIA H200"), 60);
	cr_assert_eq(run.status, 0, "%s", run.err);
	struct data_file *file = data_file_read(text("%s/data/h200/05_fa2.tsv", scratch_directory()));
	cr_assert(file && file->row_count == 2 * 2 * 2 * 8, "%zu rows", file ? file->row_count : 0);
	cr_expect_eq(data_number(file, &file->rows[15], "seq"), 16384);
	data_file_free(file);
	free_outcome(&run);
}
