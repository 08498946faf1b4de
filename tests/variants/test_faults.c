/*
 * Planted faults: one change each to the kernels of chapter 09 (faults.edits), whose program has to fail with it and say
 * what the entry says; without the fault the same options pass.
 */
#include "program.h"

#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <stdio.h>
#include <string.h>

#define VARIANTS TEST_BUILD "/chapters/variants"

struct fault {
	char name[80], options[140], says[48];
};

enum { MOST_FAULTS = 90 };

static size_t read_faults(struct fault *faults)
{
	char *lines = read_text(TEST_BUILD "/variants/faults.tsv");
	size_t count = 0;
	cr_assert_not_null(lines, "no faults.tsv");
	for (char *line; count < MOST_FAULTS && (line = strsep(&lines, "\n")) && *line; count++) {
		const char *name = strsep(&line, "\t"), *options = strsep(&line, "\t");
		snprintf(faults[count].name, sizeof faults[count].name, "%s", name);
		snprintf(faults[count].options, sizeof faults[count].options, "%s", options);
		snprintf(faults[count].says, sizeof faults[count].says, "%s", line);
	}
	return count;
}

ParameterizedTestParameters(faults, of_a_kernel)
{
	static struct fault faults[MOST_FAULTS];
	size_t count = read_faults(faults);
	return cr_make_param_array(struct fault, faults, count);
}

ParameterizedTest(struct fault *fault, faults, of_a_kernel, .timeout = 120)
{
	struct outcome o = run_line(
		text(TEST_BUILD "/variants/faults/%s/program", fault->name), text("--json - %s", fault->options),
		LIST("SIM_ORDER=reverse"), 60);
	cr_assert_eq(o.status, 1, "'%s' passes with %s: exit %d, %s", fault->name, fault->options, o.status, o.err);
	cr_expect(
		strstr(o.err, fault->says) || strstr(o.out, fault->says), "'%s' fails, but not with '%s': %s%s",
		fault->name, fault->says, o.err, o.out);
	free_outcome(&o);
}

Test(faults, the_same_options_pass_without_them, .timeout = 120)
{
	static struct fault faults[MOST_FAULTS];
	size_t count = read_faults(faults);
	cr_assert_gt(count, 60);
	for (size_t i = 0; i < count; i++) {
		struct outcome o = run_line(VARIANTS, text("--quiet %s", faults[i].options), NOTHING, 60);
		cr_expect_eq(o.status, 0, "without a fault, %s: exit %d, %s", faults[i].options, o.status, o.err);
		cr_expect_str_empty(o.err, "without a fault, %s: %s", faults[i].options, o.err);
		free_outcome(&o);
	}
}
