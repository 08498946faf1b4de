/*
 * Planted faults: one change each to the kernels of chapter 07 (faults.edits), whose program has to fail with it, and to
 * the forward pass of the host (faults_c.edits), whose fillings no longer agree. Both files say what finds each; without
 * the fault the same options pass.
 */
#include "faults.h"
#include "program.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <criterion/parameterized.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRANSFORMER TEST_BUILD "/chapters/transformer"
#define TINY        TEST_ROOT "/tests/data/tiny_model"

#define KERNELS TEST_BUILD "/transformer/faults.tsv"
#define HOST    TEST_BUILD "/transformer/faults_c.tsv"

/* ---- kernels ---- */

/* The model's logits and counts are the same without the device's checks, which take most of the time. */
static struct outcome run(const char *program, const char *options, const char *environment)
{
	bool speech = strstr(options, "--prompt");
	const char *model = speech ? " --quiet --model " TINY "/tiny.bin" : "";
	return run_line(
		program, text("--json - %s%s", options, model), LIST(speech ? "SIM_CHECK=none" : environment), 120);
}

/* The right program passes: run once for the options that several faults share, which stand one after the other. */
static void expect_right(const char *options)
{
	struct outcome o = run(TRANSFORMER, options, NULL);
	cr_expect_eq(o.status, 0, "without a fault, %s: exit %d, %s", options, o.status, o.err);
	cr_expect_str_empty(o.err, "without a fault, %s: %s", options, o.err);
	free_outcome(&o);
}

/* Are the model's logits off? NaN, which JSON writes as null, is off. */
static bool logits_are_wrong(const char *name, const struct outcome *o)
{
	cJSON *json = cJSON_Parse(o->out);
	cr_assert_not_null(json, "%s: no JSON: %s", name, o->err);
	const cJSON *error = cJSON_GetObjectItem(json, "logits_error");
	cr_expect(cJSON_IsFalse(cJSON_GetObjectItem(json, "verified")), "%s is verified", name);
	cr_assert_not_null(error, "%s: no logits_error", name);
	bool wrong = !cJSON_IsNumber(error) || error->valuedouble > 1e-3;
	cJSON_Delete(json);
	return wrong;
}

ParameterizedTestParameters(faults, of_a_kernel)
{
	static struct told_fault faults[MOST_TOLD_FAULTS];
	size_t count = read_told_faults(KERNELS, faults);
	return cr_make_param_array(struct told_fault, faults, count);
}

ParameterizedTest(struct told_fault *fault, faults, of_a_kernel, .timeout = 180)
{
	struct outcome o = run(
		text(TEST_BUILD "/transformer/faults/%s/program", fault->name), fault->options, "SIM_ORDER=reverse");
	cr_assert_eq(o.status, 1, "'%s' passes with %s: exit %d, %s", fault->name, fault->options, o.status, o.err);
	if (strcmp(fault->says, "logits") == 0 || strcmp(fault->says, "counts") == 0)
		cr_expect_eq(
			logits_are_wrong(fault->name, &o), fault->says[0] == 'l', "'%s' is not found by %s: %s",
			fault->name, fault->says, o.out);
	else
		cr_expect(
			strstr(o.err, fault->says) || strstr(o.out, fault->says), "'%s' fails, but not with '%s': %s",
			fault->name, fault->says, o.err);
	free_outcome(&o);
}

Test(faults, the_same_options_pass_without_them, .timeout = 180)
{
	static struct told_fault faults[MOST_TOLD_FAULTS];
	size_t count = read_told_faults(KERNELS, faults);
	for (size_t i = 0; i < count; i++) {
		size_t same = 0;
		while (strcmp(faults[same].options, faults[i].options) != 0)
			same++;
		if (same == i)
			expect_right(faults[i].options);
	}
}

/* ---- the host ---- */

static struct outcome run_fillings(const char *program, const char *what)
{
	return run_program(LIST(program, what, strcmp(what, "host") == 0 ? TINY : NULL), NOTHING, 60);
}

/* A line that begins with `says` and ends with "wrong". */
static bool says_wrong(const char *lines, const char *says)
{
	for (const char *line = lines; *line;) {
		size_t length = strcspn(line, "\n");
		bool wrong = length > 6 && strncmp(line + length - 6, " wrong", 6) == 0;
		if (wrong && strncmp(line, says, strlen(says)) == 0)
			return true;
		line += length + (line[length] != '\0');
	}
	return false;
}

Test(faults, of_the_host, .timeout = 180)
{
	static struct told_fault faults[MOST_TOLD_FAULTS];
	size_t count = read_told_faults(HOST, faults);
	static const char *const all[] = {"host", "grouped"};
	for (size_t i = 0; i < 2; i++) {
		struct outcome o = run_fillings(TEST_BUILD "/transformer/fillings", all[i]);
		cr_expect_eq(o.status, 0, "%s: exit %d\n%s%s", all[i], o.status, o.out, o.err);
		free_outcome(&o);
	}
	cr_assert_gt(count, 20);
	for (size_t i = 0; i < count; i++) {
		const struct told_fault *fault = &faults[i];
		struct outcome o = run_fillings(
			text(TEST_BUILD "/transformer/faults_c/%s/fillings", fault->name), fault->options);
		cr_expect_eq(o.status, 1, "'%s' passes: exit %d\n%s%s", fault->name, o.status, o.out, o.err);
		cr_expect(says_wrong(o.out, fault->says), "'%s': no '%s':\n%s", fault->name, fault->says, o.out);
		free_outcome(&o);
	}
}
