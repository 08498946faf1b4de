#include "chapter_run.h"

#include "json.h"
#include "program.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <stdlib.h>
#include <string.h>

struct chapter_run run_chapter(const char *program, const char *environment, const char *options)
{
	struct outcome outcome = run_line(program, text("--json - %s", options), LIST(environment), 120);
	struct chapter_run run = {outcome.status, strdup(outcome.err), NULL};
	if (outcome.out[0])
		run.json = cJSON_Parse(outcome.out);
	free_outcome(&outcome);
	return run;
}

void free_chapter_run(struct chapter_run *run)
{
	free(run->err);
	cJSON_Delete(run->json);
}

static struct chapter_run expect_verified(struct chapter_run run, const char *program, const char *options)
{
	const char *name = strrchr(program, '/') + 1;
	const cJSON *kernel = NULL;
	size_t kernels = 0;
	cr_assert_eq(run.status, 0, "%s %s: exit %d, %s", name, options, run.status, run.err);
	cr_assert_str_empty(run.err, "%s %s: %s", name, options, run.err);
	cr_assert_not_null(run.json, "%s %s: no JSON", name, options);
	cJSON_ArrayForEach(kernel, cJSON_GetObjectItem(run.json, "kernels"))
	{
		const char *kernel_name = json_string_of(kernel, "name");
		cr_expect(
			cJSON_IsTrue(cJSON_GetObjectItem(kernel, "verified")), "%s %s: %s is not verified", name,
			options, kernel_name);
		cr_expect_null(
			cJSON_GetObjectItem(kernel, "skipped"), "%s %s: %s is skipped", name, options, kernel_name);
		kernels++;
	}
	cr_assert(kernels > 0, "%s %s ran no kernel", name, options);
	return run;
}

struct chapter_run run_verified(const char *program, const char *options)
{
	return expect_verified(run_chapter(program, NULL, options), program, options);
}

struct chapter_run run_one_of_many(const char *program, const char *options)
{
	return expect_verified(run_chapter(program, without_racecheck(), options), program, options);
}

const cJSON *kernel_named(const struct chapter_run *run, const char *name)
{
	const cJSON *kernel = json_named(json_get(run->json, "kernels"), name);
	cr_assert(kernel, "there is no kernel %s", name);
	return kernel;
}

double number_at(const cJSON *object, const char *path)
{
	char *copy = strdup(path);
	for (char *key = strtok(copy, "/"); key; key = strtok(NULL, "/")) {
		bool is_place = isdigit((unsigned char)key[0]);
		object = is_place ? cJSON_GetArrayItem(object, atoi(key)) : json_get(object, key);
		cr_assert_not_null(object, "%s: no %s", path, key);
	}
	free(copy);
	cr_assert(cJSON_IsNumber(object), "%s is no number", path);
	return object->valuedouble;
}

struct moved elements_of(const cJSON *kernel, const char *name)
{
	if (!json_named(json_get(json_get(kernel, "hbm"), "tensors"), name))
		return (struct moved){0, 0};
	return (struct moved){(uint64_t)json_read_of(kernel, name) / 4, (uint64_t)json_written_of(kernel, name) / 4};
}

void expect_elements(const char *options, const cJSON *kernel, const char *tensor, uint64_t read, uint64_t written)
{
	struct moved moved = elements_of(kernel, tensor);
	cr_expect(
		moved.read == read && moved.written == written,
		"%s: %d of %s are read and %d written, expected %d and %d", options, (int)moved.read, tensor,
		(int)moved.written, (int)read, (int)written);
}
