/*
 * Planted faults (tests/tiled_matmul/faults). Each is run on a shape that shows it: its C differs from that of the
 * right kernel, and the program calls it wrong.
 */
#include "program.h"

#include <criterion/criterion.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM TEST_BUILD "/tiled_matmul/tiled_matmul"
#define FAULTS  TEST_BUILD "/tiled_matmul/faults"

#define RAGGED "--m 65 --n 70 --k 97"

static const struct {
	const char *fault, *kernel, *input;
} cases[] = {
	{"dropped_tail", "matmul_tiled", RAGGED},
	{"dropped_tail", "matmul_padded", RAGGED " --input constant"},
	{"dropped_tail", "matmul_registers", RAGGED},
	{"dropped_tail", "matmul_registers", "--m 40 --n 40 --k 2001"},
	{"last_step_missing", "matmul_tiled", RAGGED},
	{"no_barrier_before_multiplying", "matmul_tiled", RAGGED},
	{"no_barrier_before_multiplying", "matmul_padded", RAGGED},
	{"no_barrier_between_tiles", "matmul_tiled", RAGGED},
	{"no_barrier_between_tiles", "matmul_padded", RAGGED},
	{"no_barrier_before_multiplying_wide", "matmul_registers", RAGGED},
	{"no_barrier_between_wide_tiles", "matmul_registers", RAGGED},
	{"not_on_its_side", "matmul_tiled", RAGGED},
	{"not_on_its_side", "matmul_padded", RAGGED " --input one-hot"},
	{"last_column_unwritten", "matmul_tiled", RAGGED},
	{"last_column_unwritten", "matmul_registers", RAGGED},
	{"halves_swapped", "matmul_registers", RAGGED},
	{"sum_of_one_tile", "matmul_tiled", RAGGED},
};

enum { CASES = sizeof cases / sizeof cases[0] };

/* Runs a program; returns its exit status, its c.npy in *bytes and what it said in *said. */
static int run_case(const char *program, size_t i, const char *directory, char **bytes, size_t *size, char **said)
{
	struct outcome o = run_program(LIST("/bin/sh", "-c",
	                                    text("%s %s --kernel %s --repeat 1 --quiet --save %s", program,
	                                         cases[i].input, cases[i].kernel, directory)),
	                               NOTHING, 60);
	FILE *file = fopen(text("%s/c.npy", directory), "rb");
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
	cr_assert_eq(planted, 10);
}
