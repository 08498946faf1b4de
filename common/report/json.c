#include "report/json.h"

#include "support/text.h"

#include <inttypes.h>
#include <math.h>

struct json json_to(FILE *out)
{
	return (struct json){.out = out};
}

static void write_text(FILE *out, const char *text)
{
	fputc('"', out);
	for (const char *c = text; *c;) {
		size_t length = utf8_length(c);
		if (*c == '"' || *c == '\\')
			fprintf(out, "\\%c", *c);
		else if (*c == '\n')
			fputs("\\n", out);
		else if (*c == '\t')
			fputs("\\t", out);
		else if (length == 1 && *c < 0x20)
			fprintf(out, "\\u%04x", (unsigned)*c);
		else if (length == 0)
			fputs("\\ufffd", out);
		else
			fwrite(c, 1, length, out);
		c += length ? length : 1;
	}
	fputc('"', out);
}

void json_raw(struct json *json, const char *key)
{
	if (json->has_items[json->depth])
		fputc(',', json->out);
	json->has_items[json->depth] = true;
	if (key) {
		write_text(json->out, key);
		fputc(':', json->out);
	}
}

static void open(struct json *json, const char *key, char bracket)
{
	json_raw(json, key);
	fputc(bracket, json->out);
	if (json->depth + 1 < JSON_MAX_DEPTH)
		json->depth++;
	json->has_items[json->depth] = false;
}

static void close(struct json *json, char bracket)
{
	json->depth--;
	fputc(bracket, json->out);
}

void json_open_object(struct json *json, const char *key)
{
	open(json, key, '{');
}

void json_close_object(struct json *json)
{
	close(json, '}');
}

void json_open_array(struct json *json, const char *key)
{
	open(json, key, '[');
}

void json_close_array(struct json *json)
{
	close(json, ']');
}

void json_string(struct json *json, const char *key, const char *value)
{
	json_raw(json, key);
	write_text(json->out, value);
}

void json_number(struct json *json, const char *key, double value)
{
	json_raw(json, key);
	if (isfinite(value))
		fprintf(json->out, "%.9g", value);
	else if (json->infinities)
		fputs(isnan(value) ? "\"nan\"" : value > 0.0 ? "\"inf\"" : "\"-inf\"", json->out);
	else
		fputs("null", json->out);
}

void json_count(struct json *json, const char *key, uint64_t value)
{
	json_raw(json, key);
	fprintf(json->out, "%" PRIu64, value);
}

void json_bool(struct json *json, const char *key, bool value)
{
	json_raw(json, key);
	fputs(value ? "true" : "false", json->out);
}
