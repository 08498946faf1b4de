#include <criterion/criterion.h>

#include "json.h"

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
