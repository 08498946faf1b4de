/*
 * Planted faults (tests/online_softmax/faults). Each is run on an input that shows it: its output differs from that
 * of the right kernel, and the program calls it wrong. Exit 0 for any of them is a checker that does not check.
 */
#include "program.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM TEST_BUILD "/online_softmax/online_softmax"
#define FAULTS  TEST_BUILD "/online_softmax/faults"

#define RANDOM   "--rows 3 --cols 257 --block 100 --dim 8"
#define NEGATIVE RANDOM " --input very-negative"
#define LARGE    RANDOM " --input large-logits"

static const struct {
	const char *fault, *kernel, *input;
} cases[] = {
	{"correction_missing", "softmax_dot", RANDOM},
	{"correction_missing", "softmax_dot", LARGE},
	{"l_not_rescaled", "softmax_online", RANDOM},
	{"l_not_rescaled", "softmax_dot", RANDOM " --input ramp"},
	{"m_starts_at_zero", "softmax_online", NEGATIVE},
	{"m_starts_at_zero", "softmax_dot", NEGATIVE},
	{"block_max", "softmax_dot", RANDOM},
	{"no_maximum", "softmax_three_pass", LARGE},
	{"no_maximum", "softmax_online", NEGATIVE},
	{"no_maximum", "softmax_dot", RANDOM " --input one-hot"},
	{"empty_is_nan", "softmax_online", "--values=-inf,-inf,1,2 --block 2"},
	{"empty_is_nan", "softmax_dot", "--values=-inf,-inf,1,2 --block 2"},
	{"empty_row_divides", "softmax_online", "--values=-inf,-inf,-inf"},
	{"empty_row_divides", "softmax_dot", "--values=-inf,-inf,-inf"},
	{"dropped_tail", "softmax_online", RANDOM},
	{"dropped_tail", "softmax_dot", RANDOM},
	{"dropped_tail", "softmax_dot", RANDOM " --input constant"},
	{"last_column_unseen", "softmax_online", RANDOM},
	{"last_column_unseen", "softmax_dot", RANDOM " --input ramp"},
	{"lanes_not_merged", "softmax_online", RANDOM},
	{"last_warp_not_merged", "softmax_online", RANDOM},
	{"last_warp_not_merged", "softmax_dot", RANDOM},
	{"no_barrier_before_merging", "softmax_online", RANDOM},
	{"no_barrier_after_merging", "softmax_online", RANDOM},
	{"no_barrier_before_summing", "softmax_dot", RANDOM},
	{"no_barrier_between_blocks", "softmax_dot", RANDOM},
	{"last_row_unwritten", "softmax_dot", RANDOM},
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* Runs a program; returns its exit status, its y.npy in *bytes and what it said in *err. */
static int run_case(const char *program, size_t i, const char *directory, char **bytes, size_t *size, char **said)
{
	struct outcome o = run_program(LIST("/bin/sh", "-c",
	                                    text("%s %s --kernel %s --repeat 1 --quiet --save %s", program,
	                                         cases[i].input, cases[i].kernel, directory)),
	                               NOTHING, 60);
	FILE *file = fopen(text("%s/y.npy", directory), "rb");
	*bytes = calloc(1, 1 << 20);
	*size = file ? fread(*bytes, 1, 1 << 20, file) : 0;
	if (file)
		fclose(file);
	*said = text("%s%s", o.out, o.err);
	int status = o.status;
	free_outcome(&o);
	return status;
}

Test(faults, every_one_changes_the_output_and_is_found)
{
	const char *directory = scratch_directory();
	for (size_t i = 0; i < CASES; i++) {
		char *right, *wrong, *said;
		size_t right_size, wrong_size;
		const char *name = text("%s in %s, %s", cases[i].fault, cases[i].kernel, cases[i].input);
		int status = run_case(PROGRAM, i, text("%s/right%zu", directory, i), &right, &right_size, &said);
		cr_expect_eq(status, 0, "the right twin of %s: %s", name, said);
		status = run_case(text(FAULTS "/%s", cases[i].fault), i, text("%s/wrong%zu", directory, i), &wrong,
		                  &wrong_size, &said);
		cr_expect_eq(status, 1, "%s: exit %d: %s", name, status, said);
		cr_expect(strstr(said, "is wrong"), "%s: %s", name, said);
		cr_expect(right_size > 128 && right_size == wrong_size && memcmp(right, wrong, right_size) != 0,
		          "%s changes nothing", name);
		free(right);
		free(wrong);
	}
}

/* The trace is that of the kernels as they are: a wrong run shows where it goes wrong. */
Test(faults, a_wrong_run_has_a_trace)
{
	struct outcome o = run_program(
		LIST(FAULTS "/m_starts_at_zero", "--trace", "--values=-300,-200", "--block", "1"), NOTHING, 60);
	cr_expect_eq(o.status, 1, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "Row 0 in blocks of 1") && strstr(o.out, "FAILED"), "%s", o.out);
	free_outcome(&o);
}

/* A fault nobody runs proves nothing. */
Test(faults, none_is_left_out)
{
	size_t planted = 0;
	DIR *directory = opendir(FAULTS);
	cr_assert(directory);
	for (struct dirent *entry; (entry = readdir(directory));) {
		bool used = entry->d_name[0] == '.' || strchr(entry->d_name, '.') != NULL;
		planted += !used;
		for (size_t i = 0; i < CASES && !used; i++)
			used = strcmp(entry->d_name, cases[i].fault) == 0;
		cr_expect(used, "%s is planted, and no test runs it", entry->d_name);
	}
	closedir(directory);
	cr_assert_eq(planted, 16);
}
