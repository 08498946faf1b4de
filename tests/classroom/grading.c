#include "grading.h"

#include "tree.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#define GRADE TEST_ROOT "/classroom/grade.pl"

static void shell(const char *command)
{
	struct outcome o = run_program(LIST("sh", "-c", command), NOTHING, 120);
	cr_assert_eq(o.status, 0, "%s\n%s%s", command, o.out, o.err);
	free_outcome(&o);
}

char *untouched(const char *name)
{
	char *tree = hand_out(name, NULL);
	shell(text("cd '%s' && rm -rf common classroom plots tests tools */*.c */Makefile */*.h", tree));
	return tree;
}

char *solution(const char *name)
{
	char *tree = untouched(name);
	solve(tree, NULL);
	struct outcome o = run_program(LIST("perl", GRADE, "--answers"), LIST("CC=" TEST_CC, "CXX=" TEST_CXX), 300);
	cr_assert_eq(o.status, 0, "%s", o.err);
	write_text(text("%s/predictions.txt", tree), o.out);
	free_outcome(&o);
	return tree;
}

struct outcome grade(const char *const arguments[], const char *const environment[])
{
	const char *argv[24] = {"perl", GRADE}, *variables[12] = {"CC=" TEST_CC, "CXX=" TEST_CXX};
	size_t count = 2, set = 2;
	while (arguments[count - 2])
		argv[count] = arguments[count - 2], count++;
	while (environment[set - 2])
		variables[set] = environment[set - 2], set++;
	cr_assert(count < 24 && set < 12);
	return run_program(argv, variables, 390);
}

cJSON *grade_to_json(const char *submission, const char *only, int status)
{
	char *path = text("%s.json", submission);
	struct outcome o = only ? grade(LIST("--submission", submission, "--results", path, "--only", only), NOTHING)
	                        : grade(LIST("--submission", submission, "--results", path), NOTHING);
	cr_assert_eq(o.status, status, "exit %d\n%s%s", o.status, o.out, o.err);
	free_outcome(&o);
	char *json = read_text(path);
	cr_assert_not_null(json, "%s was not written", path);
	cJSON *results = cJSON_Parse(json);
	cr_assert_not_null(results, "%s is no JSON", path);
	free(json);
	return results;
}

static const cJSON *find_test(const cJSON *results, const char *task)
{
	const cJSON *test;
	cJSON_ArrayForEach(test, cJSON_GetObjectItemCaseSensitive(results, "tests"))
	{
		const char *number = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(test, "number"));
		if (number && strcmp(number, task) == 0)
			return test;
	}
	return NULL;
}

double score_of(const cJSON *results, const char *task)
{
	const cJSON *of = task ? find_test(results, task) : results;
	cr_assert_not_null(of, "no grade of %s", task ? task : "all");
	return cJSON_GetNumberValue(cJSON_GetObjectItemCaseSensitive(of, "score"));
}

const char *output_of(const cJSON *results, const char *task)
{
	const cJSON *of = task ? find_test(results, task) : results;
	const char *output = cJSON_GetStringValue(cJSON_GetObjectItemCaseSensitive(of, "output"));
	return output ? output : "";
}

char *zipped(const char *directory, const char *top)
{
	char *zip = text("%s-%s.zip", directory, *top ? "top" : "flat");
	if (*top)
		shell(
			text("d=$(mktemp -d) && mkdir -p \"$d/%s\" && cp -r '%s/.' \"$d/%s\" && cd \"$d\" && zip -qr "
		             "'%s' . && "
		             "rm -rf \"$d\"",
		             top, directory, top, zip));
	else
		shell(text("cd '%s' && zip -qr '%s' .", directory, zip));
	return zip;
}

double points_of(const char *task_or_chapter)
{
	struct task tasks[MAX_TASKS];
	size_t count = read_tasks(tasks);
	double sum = 0.0;
	for (size_t t = 0; t < count; t++)
		if (strcmp(tasks[t].id, task_or_chapter) == 0 || strcmp(tasks[t].chapter, task_or_chapter) == 0)
			sum += atof(tasks[t].points);
	return sum;
}

void replace_in(const char *path, const char *from, const char *to)
{
	char *content = read_text(path);
	cr_assert_not_null(content, "%s", path);
	char *at = strstr(content, from);
	cr_assert_not_null(at, "%s: no '%s'", path, from);
	write_text(path, text("%.*s%s%s", (int)(at - content), content, to, at + strlen(from)));
	free(content);
}
