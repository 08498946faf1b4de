/* What a chapter's program printed with --json -, for tests: a missing key fails the test. */
#ifndef SUPPORT_JSON_H
#define SUPPORT_JSON_H

#include <cjson/cJSON.h>

/* The member of an object, its number, its string. */
const cJSON *json_get(const cJSON *object, const char *key);
double json_number_of(const cJSON *object, const char *key);
const char *json_string_of(const cJSON *object, const char *key);

#endif
