/*
 * Chapter 06's own kernels with one fault each (faults.edits), run by the chapter's own program: every fault must
 * change what is computed, and every one must be found.
 */
#include "json.h"
#include "program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const struct {
	const char *fault, *kernel, *options;
	const char *wrong; /* the tensors that must be reported */
} faults[] = {
	{"wrong_do_row", "backward_split", "--seq 97 --dim 40", "dV"},
	{"no_d_in_dkdv", "backward_split", "--seq 97 --dim 40", "dK"},
	{"no_d_in_dkdv", "backward_atomic", "--seq 97 --dim 40", "dK dQ"},
	{"no_d_in_dq", "backward_split", "--seq 97 --dim 40", "dQ"},
	{"dq_unscaled", "backward_split", "--seq 97 --dim 40", "dQ"},
	{"dk_unscaled", "backward_split", "--seq 97 --dim 40", "dK"},
	{"unshifted", "backward_split", "--seq 97 --dim 40", "dV dK dQ"},
	{"unshifted", "backward_naive", "--seq 97 --dim 40", "dV dK dQ"},
	{"unshifted", "backward_split", "--seq 97 --dim 40 --input large-logits", "dV dK dQ"},
	{"dropped_queries", "backward_split", "--seq 97 --dim 40", "dV dK"},
	{"dropped_queries", "backward_atomic", "--seq 97 --dim 111", "dV dK dQ"},
	{"dropped_keys", "backward_split", "--seq 97 --dim 40", "dQ"},
	{"causal_off_by_one", "backward_split", "--seq 97 --dim 40 --causal", "dV dK"},
	{"o_not_normalised", "backward_split", "--seq 97 --dim 40", "O dQ dK"},
	{"naive_wrong_row", "backward_naive", "--seq 97 --dim 40", "dV dK"},
	{"naive_no_d", "backward_naive", "--seq 97 --dim 40", "dQ dK"},
};
enum { FAULTS = sizeof faults / sizeof faults[0] };

static struct outcome run(const char *program, const char *kernel, const char *options, const char *save)
{
	const char *command = text("%s --kernel %s %s --save %s --quiet", program, kernel, options, save);
	return run_program(LIST("/bin/sh", "-c", command), LIST(without_racecheck()), 60);
}

/* Files of different content: cmp's exit status 1. */
static bool differ(const char *a, const char *b)
{
	struct outcome o = run_program(LIST("cmp", "-s", a, b), NOTHING, 10);
	int status = o.status;
	free_outcome(&o);
	return status == 1;
}

static double error_of(const char *program, const char *tensor)
{
	cJSON *json = run_json_with(
		program, "--kernel backward_split --seq 200 --dim 40 --input large-logits", without_racecheck(), 0);
	const cJSON *kernel = json_named(json_get(json, "kernels"), "backward_split"), *output;
	double error = NAN;
	cJSON_ArrayForEach(
		output, json_get(kernel, "outputs")) if (strcmp(json_string_of(output, "tensor"), tensor) == 0)
		error = json_number_of(output, "max_abs");
	cr_assert(!isnan(error), "%s: no error of %s", program, tensor);
	cJSON_Delete(json);
	return error;
}

/* Why forward and backward share multiply_rows: P = exp(S - L) sums to 1 only if both rounded S alike. */
Test(faults, scores_rounded_elsewhere_ruin_dv)
{
	double alike = error_of(TEST_BUILD "/chapters/backward", "dV");
	double elsewhere = error_of(TEST_BUILD "/backward/faults/s_rounded_elsewhere/program", "dV");
	cr_log_info("dV is off by %g, by %g with S rounded elsewhere", alike, elsewhere);
	cr_expect(elsewhere > 5 * alike, "dV is off by %g, by %g with S rounded elsewhere", alike, elsewhere);
}

static void lower(char *name)
{
	for (; *name; name++)
		if (*name >= 'A' && *name <= 'Z')
			*name += 'a' - 'A';
}

/* The first fault with the same kernel and options: the right twin of all of these is run once. */
static size_t first_alike(size_t f)
{
	size_t i = 0;
	while (strcmp(faults[i].kernel, faults[f].kernel) != 0 || strcmp(faults[i].options, faults[f].options) != 0)
		i++;
	return i;
}

Test(faults, each_changes_the_output_and_is_found)
{
	const char *directory = scratch_directory();
	for (size_t f = 0; f < FAULTS; f++) {
		const char *name = faults[f].fault;
		char *right = text("%s/right%zu", directory, first_alike(f)), *wrong = text("%s/wrong", directory);
		struct outcome bad =
			run(text("%s/backward/faults/%s/program", TEST_BUILD, name), faults[f].kernel,
		            faults[f].options, wrong);
		if (first_alike(f) == f) {
			struct outcome good =
				run(TEST_BUILD "/chapters/backward", faults[f].kernel, faults[f].options, right);
			cr_expect_eq(good.status, 0, "the correct twin of %s: %s", name, good.err);
			free_outcome(&good);
		}
		cr_expect_eq(
			bad.status, 1, "%s in %s passed: exit %d\n%s%s", name, faults[f].kernel, bad.status, bad.out,
			bad.err);
		char list[32], *rest = list;
		snprintf(list, sizeof list, "%s", faults[f].wrong);
		for (char *tensor; (tensor = strtok_r(rest, " ", &rest));) {
			cr_expect(
				strstr(bad.err, text("%s is wrong", tensor)), "%s in %s: %s is not reported:\n%s",
				name, faults[f].kernel, tensor, bad.err);
			lower(tensor);
			cr_expect(
				differ(text("%s/%s.npy", right, tensor), text("%s/%s.npy", wrong, tensor)),
				"%s in %s changes nothing in %s", name, faults[f].kernel, tensor);
		}
		free_outcome(&bad);
	}
}
