#include "speech.h"

#include "json.h"
#include "program.h"

#include <criterion/criterion.h>
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

/* The context is the uint32 behind its key and type. */
const char *tiny_model_with_context(unsigned positions)
{
	static const char key[] = "llama.context_length";
	const char *path = text("%s/long.gguf", scratch_directory());
	char bytes[200000];
	FILE *from = fopen(TINY_FILE, "rb"), *to = fopen(path, "wb");
	cr_assert(from && to, "%s, %s", TINY_FILE, path);
	size_t count = fread(bytes, 1, sizeof bytes, from), at = 0;
	while (at + sizeof key + 8 < count && memcmp(bytes + at, key, sizeof key - 1) != 0)
		at++;
	memcpy(bytes + at + sizeof key - 1 + 4, &positions, 4);
	cr_assert(count < sizeof bytes && fwrite(bytes, 1, count, to) == count);
	fclose(from);
	fclose(to);
	return path;
}
