/* What others read: results.json as Gradescope's documentation has it, JUnit, CSV, and the autograder's zip. */
#include "grading.h"
#include "tree.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool is_one_of(const cJSON *value, const char *const words[])
{
	const char *text = cJSON_GetStringValue(value);
	for (size_t i = 0; text && words[i]; i++)
		if (strcmp(text, words[i]) == 0)
			return true;
	return false;
}

static const cJSON *get(const cJSON *object, const char *key)
{
	return cJSON_GetObjectItemCaseSensitive(object, key);
}

static const char *const formats[] = {"text", "html", "simple_format", "md", "ansi", NULL};
static const char *const visibilities[] = {"hidden", "after_due_date", "after_published", "visible", NULL};

/* The schema of the documentation: which keys there may be, and what they hold. */
static void expect_schema(const cJSON *results)
{
	static const char *const keys[] = {
		"score",
		"max_score",
		"execution_time",
		"output",
		"output_format",
		"test_output_format",
		"test_name_format",
		"visibility",
		"stdout_visibility",
		"extra_data",
		"tests",
		"leaderboard",
		NULL};
	static const char *const test_keys[] = {"score",       "max_score",  "status",     "name",
	                                        "name_format", "number",     "output",     "output_format",
	                                        "tags",        "visibility", "extra_data", NULL};
	const cJSON *item, *test;
	double sum = 0.0;
	cr_assert(cJSON_IsObject(results));
	cJSON_ArrayForEach(item, results)
	{
		cJSON *key = cJSON_CreateString(item->string);
		cr_expect(is_one_of(key, keys), "unknown key %s", item->string);
		cJSON_Delete(key);
	}
	cr_assert(cJSON_IsNumber(get(results, "score")));
	cr_assert(cJSON_IsString(get(results, "output")));
	cr_assert(is_one_of(get(results, "output_format"), formats));
	cr_assert(is_one_of(get(results, "stdout_visibility"), visibilities));
	cr_assert(cJSON_IsArray(get(results, "tests")));
	cJSON_ArrayForEach(test, get(results, "tests"))
	{
		cJSON_ArrayForEach(item, test)
		{
			cJSON *key = cJSON_CreateString(item->string);
			cr_expect(is_one_of(key, test_keys), "unknown key %s", item->string);
			cJSON_Delete(key);
		}
		double score = cJSON_GetNumberValue(get(test, "score")),
		       most = cJSON_GetNumberValue(get(test, "max_score"));
		cr_expect(cJSON_IsNumber(get(test, "score")) && cJSON_IsNumber(get(test, "max_score")));
		cr_expect(score >= 0.0 && score <= most && most > 0.0);
		cr_expect(is_one_of(get(test, "status"), (const char *const[]){"passed", "failed", NULL}));
		cr_expect_eq(strcmp(cJSON_GetStringValue(get(test, "status")), "passed") == 0, score == most);
		cr_expect(cJSON_IsString(get(test, "name")) && cJSON_IsString(get(test, "number")));
		cr_expect(
			cJSON_IsString(get(test, "output")) && cJSON_GetStringValue(get(test, "output"))[0] != '\0');
		cr_expect(is_one_of(get(test, "output_format"), formats));
		/* a hidden test would hide the total from the student */
		cr_expect_str_eq(cJSON_GetStringValue(get(test, "visibility")), "visible");
		cr_expect(cJSON_IsArray(get(test, "tags")));
		sum += score;
	}
	cr_expect_float_eq(sum, cJSON_GetNumberValue(get(results, "score")), 0.01);
}

Test(classroom_gradescope, results_follow_the_schema)
{
	char *tree = solution("schema");
	replace_in(text("%s/01_naive/naive.cu", tree), "float m = -INFINITY;", "float m = 0.0f; // <&\">");
	cJSON *results = grade_to_json(tree, "01_naive", 0);
	expect_schema(results);
	cr_assert_eq(cJSON_GetArraySize(get(results, "tests")), 3);
	cJSON_Delete(results);
	results = grade_to_json(untouched("schema-none"), NULL, 0);
	expect_schema(results);
	struct task tasks[MAX_TASKS];
	cr_assert_eq(cJSON_GetArraySize(get(results, "tests")), (int)read_tasks(tasks));
	cJSON_Delete(results);
}

/* A grader that is killed leaves what it had found out so far. */
Test(classroom_gradescope, partial_results_survive_a_kill)
{
	only_when_thorough();
	char *tree = solution("killed"), *path = text("%s.json", tree);
	struct outcome o = run_program(
		LIST("sh", "-c",
	             "setsid \"$@\" >/dev/null 2>&1 & g=$!; "
	             "while ! grep -q '\"status\" : \"passed\"' \"$R\" 2>/dev/null; do sleep "
	             "0.05; kill -0 $g || exit 1; done; "
	             "kill -s KILL -- -$g || exit 2; wait $g; exit 0",
	             "sh", "perl", TEST_ROOT "/classroom/grade.pl", "--submission", tree, "--results", path),
		LIST("CC=" TEST_CC, "CXX=" TEST_CXX, text("R=%s", path),
	             text("TMPDIR=%s", scratch_directory())), /* it cannot clean up */
		300);
	cr_assert_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
	cJSON *results = cJSON_Parse(read_text(path));
	cr_assert_not_null(results);
	expect_schema(results);
	cr_expect_gt(score_of(results, NULL), 0.0);
	cr_expect_lt(score_of(results, NULL), 100.0);
	cr_expect_not_null(strstr(output_of(results, NULL), "was stopped"), "%s", output_of(results, NULL));
	cJSON_Delete(results);
}

Test(classroom_gradescope, junit_names_every_criterion)
{
	char *tree = solution("junit"), *path = text("%s.xml", tree);
	replace_in(text("%s/01_naive/naive.cu", tree), "float m = -INFINITY;", "float m = 0.0f; // <&\">");
	struct outcome o = grade(LIST("--submission", tree, "--only", "01_naive", "--junit", path), NOTHING);
	cr_assert_eq(o.status, 0, "%s", o.err);
	char *xml = read_text(path);
	cr_assert_not_null(strstr(xml, "<testsuites tests=\"21\" failures=\"2\">"), "%s", xml);
	cr_assert_not_null(
		strstr(xml, "<testcase classname=\"01_naive\" name=\"01.softmax: hard inputs\">"), "%s", xml);
	cr_assert_not_null(strstr(xml, "<failure message=\""), "%s", xml);
	int opened = 0, closed = 0;
	for (char *at = xml; (at = strstr(at, "<testcase ")); at++)
		opened++;
	for (char *at = xml; (at = strstr(at, "</testcase>")); at++)
		closed++;
	cr_assert_eq(opened, 21);
	cr_assert_eq(closed, 2);
	free(xml);
	free_outcome(&o);
}

Test(classroom_gradescope, a_folder_of_submissions_becomes_a_table)
{
	char *folder = text("%s/folder", scratch_directory()), *into = text("%s/results", scratch_directory());
	mkdir(folder, 0777);
	char *tree = solution("folder/anna");
	rename(zipped(tree, "anna_1"), text("%s/berta, b.zip", folder));
	write_text(text("%s/carla.zip", folder), "no zip\n");
	write_text(text("%s/anna.zip", folder), "no zip either, and of the same name\n");
	/* stored, with another letter in it than its checksum is of */
	struct outcome o = run_program(
		LIST("sh", "-ec",
	             "cd \"$1/anna\" && zip -q -0 ../doris.zip 01_naive/naive.cu predictions.txt && "
	             "perl -pi -e 's/weighted_sum\\(/Weighted_sum(/' ../doris.zip && mv ../doris.zip "
	             "\"../Zo\303\253.zip\"",
	             "sh", folder),
		NOTHING, 60);
	cr_assert_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
	o = run_program(
		LIST("make", "-s", "-C", TEST_ROOT, "grade", text("SUBMISSIONS=%s", folder), text("RESULTS=%s", into),
	             "ONLY=01_naive", "CC=" TEST_CC),
		LIST("CXX=" TEST_CXX), 300);
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	char *csv = read_text(text("%s/results.csv", into));
	cr_assert_not_null(csv);
	cr_expect_not_null(
		strstr(csv, "submission,points,of,01.score,01.softmax,01.weighted-sum,remark\n"), "%s", csv);
	cr_expect_not_null(strstr(csv, "\nanna,13,13,3,6,4,\n"), "%s", csv);
	cr_expect_not_null(strstr(csv, "\n\"berta, b.zip\",13,13,3,6,4,\n"), "%s", csv);
	cr_expect_not_null(strstr(csv, "\ncarla.zip,0,13,0,0,0,"), "%s", csv);
	cr_expect_not_null(strstr(csv, "not a zip file"), "%s", csv);
	cr_expect_not_null(strstr(csv, "\nZo\303\253.zip,"), "%s", csv);
	cr_expect_not_null(strstr(read_text(text("%s/Zo\303\253.txt", into)), "naive.cu is damaged"));
	cr_expect_null(strstr(read_text(text("%s/anna.txt", into)), "NO"), "overwritten by anna.zip");
	cr_expect_not_null(read_text(text("%s/anna.zip.txt", into)));
	free(csv);
	cJSON *results = cJSON_Parse(read_text(text("%s/berta, b.json", into)));
	cr_assert_not_null(results);
	expect_schema(results);
	cJSON_Delete(results);
	free_outcome(&o);
}

/* The zip as Gradescope uses it, in a directory that stands for /autograder. */
Test(classroom_gradescope, the_autograder_grades)
{
	only_when_thorough();
	char *base = text("%s/autograder", scratch_directory()),
	     *zip = text("%s/autograder.zip", scratch_directory());
	struct outcome o = run_program(
		LIST("perl", TEST_ROOT "/classroom/autograder.pl", "--out", zip, "--key", CLASS_OF_WINDOWS), NOTHING,
		60);
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	free_outcome(&o);
	char *own = hand_out("submission", CLASS_OF_WINDOWS);
	solve(own, NULL);
	o = run_program(
		LIST("sh", "-ec",
	             "mkdir -p \"$AUTOGRADER/source\" \"$AUTOGRADER/results\" && cd \"$AUTOGRADER/source\" "
	             "&& unzip -q \"$1\" && "
	             "cp -r \"$2\" ../submission && test -x setup.sh && test -x run_autograder && "
	             "! find . -name '*.fast' -o -name .git | grep . && ./setup.sh && ./run_autograder",
	             "sh", zip, own),
		LIST("CC=" TEST_CC, "CXX=" TEST_CXX, "SKIP_INSTALL=1", text("AUTOGRADER=%s", base),
	             "GRADE_SANDBOX=limits"),
		390);
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	free_outcome(&o);
	cJSON *results = cJSON_Parse(read_text(text("%s/results/results.json", base)));
	cr_assert_not_null(results);
	expect_schema(results);
	/* predictions are empty in this one: all kernels, no predictions */
	cr_assert_float_eq(score_of(results, NULL), 90.0, 1.0, "%s", output_of(results, NULL));
	cJSON_Delete(results);
}
