#include "browser.h"

#include "json.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

enum { NO_CHROMIUM = 77 };

cJSON *browse(const char *options, const char *page, const char *const actions[])
{
	char *copy = strdup(options);
	const char *argv[80] = {"perl", TEST_ROOT "/tests/explorer/browser.pl"};
	size_t count = 2;
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[count++] = word;
	argv[count++] = page;
	for (size_t i = 0; actions[i] && count < 79; i++)
		argv[count++] = actions[i];
	argv[count] = NULL;
	struct outcome o = run_program(argv, NOTHING, 90);
	free(copy);
	if (o.status == NO_CHROMIUM)
		skip_test("no Chromium here, the page is not looked at: ./setup.sh --all installs it");
	cr_assert_eq(o.status, 0, "%s: %s", page, o.err);
	cJSON *json = cJSON_Parse(o.out);
	cr_assert(json, "%s: no JSON: %s", page, o.out);
	char *console = cJSON_PrintUnformatted(json_get(json, "console"));
	char *requests = cJSON_PrintUnformatted(json_get(json, "requests"));
	cr_expect_str_eq(console, "[]", "%s: console: %s", page, console);
	cr_expect_str_eq(requests, "[]", "%s: asked for %s", page, requests);
	free(console);
	free(requests);
	cJSON *results = cJSON_DetachItemFromObject(json, "results");
	cJSON_Delete(json);
	free_outcome(&o);
	return results;
}

double result_number(const cJSON *results, int i)
{
	const cJSON *item = cJSON_GetArrayItem(results, i);
	cr_assert(cJSON_IsNumber(item), "result %d is no number", i);
	return item->valuedouble;
}

const char *result_string(const cJSON *results, int i)
{
	const cJSON *item = cJSON_GetArrayItem(results, i);
	cr_assert(cJSON_IsString(item), "result %d is no string", i);
	return item->valuestring;
}
