/*
 * Writes JSON, nothing more. Values go straight to the stream; the writer keeps track of commas and depth.
 * A number that is NaN or infinite becomes null, or with `infinities` "nan", "inf" or "-inf". A byte of a text that is no
 * UTF-8 becomes U+FFFD.
 */
#ifndef REPORT_JSON_H
#define REPORT_JSON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

enum { JSON_MAX_DEPTH = 16 };

struct json {
	FILE *out;
	size_t depth;
	bool has_items[JSON_MAX_DEPTH];
	bool infinities;
};

struct json json_to(FILE *out);

/* `key` is NULL inside an array and for the outermost value. */
void json_open_object(struct json *json, const char *key);
void json_close_object(struct json *json);
void json_open_array(struct json *json, const char *key);
void json_close_array(struct json *json);
void json_string(struct json *json, const char *key, const char *value);
void json_number(struct json *json, const char *key, double value);
void json_count(struct json *json, const char *key, uint64_t value);
void json_bool(struct json *json, const char *key, bool value);

/* Comma and key only: the caller writes the value to json->out. */
void json_raw(struct json *json, const char *key);

#endif
