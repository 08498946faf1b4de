#include "speech.h"

#include "json.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

cJSON *speech_of(const char *program, const char *model, const char *prompt, const char *line, double timeout_s)
{
	const char *argv[48] = {program, "--model", model, "--prompt", prompt, "--json", "-"};
	char *rest = text("%s", line);
	for (size_t count = 7; count < 47 && (argv[count] = strtok_r(rest, " ", &rest)); count++)
		continue;
	struct outcome o = run_program(argv, NOTHING, timeout_s);
	cr_assert_eq(o.status, 0, "'%s' %s: exit %d, %s", prompt, line, o.status, o.err);
	cJSON *json = cJSON_ParseWithOpts(o.out, NULL, true);
	cr_assert_not_null(json, "'%s' %s: no JSON object alone on standard output: %.300s", prompt, line, o.out);
	cr_expect(cJSON_IsTrue(json_get(json, "verified")), "'%s' %s", prompt, line);
	cr_expect_leq(json_number_of(json, "logits_error"), 1e-3);
	free_outcome(&o);
	return json;
}

char *ids_of(const cJSON *json)
{
	char *ids = text("%s", "");
	const cJSON *id;
	cJSON_ArrayForEach(id, json_get(json, "tokens")) ids = text("%s%s%d", ids, ids[0] ? " " : "", id->valueint);
	return ids;
}

const char *real_model(const char *variable)
{
	const char *model = getenv(variable);
	if (!model || !model[0])
		model = REAL_FILE;
	if (access(model, R_OK) != 0)
		skip_test("the real model is not there (make model)");
	return model;
}

/* CRC-32, bit by bit. */
static uint32_t checksum_of(const unsigned char *bytes, size_t count)
{
	uint32_t crc = UINT32_MAX;
	for (size_t i = 0; i < 8 * count; i++) {
		crc ^= i % 8 ? 0 : bytes[i / 8];
		crc = crc >> 1 ^ (crc & 1 ? 0xedb88320u : 0);
	}
	return ~crc;
}

/* The context is the uint32 at byte 44; the checksum, at byte 12, is of all from byte 16 on (tools/lib/flat_model.py). */
const char *tiny_model_with_context(unsigned positions)
{
	const char *path = text("%s/long.bin", scratch_directory());
	static unsigned char bytes[200000];
	FILE *from = fopen(TINY_FILE, "rb"), *to = fopen(path, "wb");
	cr_assert(from && to, "%s, %s", TINY_FILE, path);
	size_t count = fread(bytes, 1, sizeof bytes, from);
	cr_assert(count > 192 && count < sizeof bytes);
	memcpy(bytes + 44, &positions, 4);
	uint32_t checksum = checksum_of(bytes + 16, count - 16);
	memcpy(bytes + 12, &checksum, 4);
	cr_assert(fwrite(bytes, 1, count, to) == count);
	fclose(from);
	fclose(to);
	return path;
}
