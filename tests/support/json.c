#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "json.h"
#include "program.h"

cJSON *run_json(const char *program, const char *line, int status)
{
	struct outcome o = run_line(program, text("--json - %s", line), NOTHING, 120);
	cr_assert_eq(o.status, status, "%s %s: exit %d, expected %d: %s", program, line, o.status, status, o.err);
	cJSON *json = cJSON_ParseWithOpts(o.out, NULL, true);
	cr_assert(json, "%s %s: no JSON object alone on standard output: %.300s", program, line, o.out);
	free_outcome(&o);
	return json;
}

const cJSON *json_get(const cJSON *object, const char *key)
{
	const cJSON *member = cJSON_GetObjectItemCaseSensitive(object, key);
	cr_assert(member, "no key \"%s\"", key);
	return member;
}

double json_number_of(const cJSON *object, const char *key)
{
	const cJSON *member = json_get(object, key);
	cr_assert(cJSON_IsNumber(member), "\"%s\" is no number", key);
	return member->valuedouble;
}

const char *json_string_of(const cJSON *object, const char *key)
{
	const cJSON *member = json_get(object, key);
	cr_assert(cJSON_IsString(member), "\"%s\" is no string", key);
	return member->valuestring;
}
