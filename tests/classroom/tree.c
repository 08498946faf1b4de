#include "tree.h"

#include "program.h"

#include <cjson/cJSON.h>
#include <criterion/criterion.h>
#include <dirent.h>
#include <stdlib.h>
#include <string.h>

const struct chapter_files chapters[CHAPTERS] = {
	{"01_naive", "naive", {"naive"}},
	{"02_online_softmax", "online_softmax", {"softmax_three_pass", "softmax_online", "softmax_dot"}},
	{"03_tiled_matmul",
         "tiled_matmul",
         {"matmul_naive", "matmul_coalesced", "matmul_tiled", "matmul_padded", "matmul_registers"}},
	{"04_fa1", "fa1", {"fa1_paper", "fa1_row", "fa1_row_dynamic"}},
	{"05_fa2", "fa2", {"fa2_row", "fa2_split_q"}},
	{"06_backward", "backward", {"backward_naive", "backward_split", "backward_atomic"}},
};

#define TOOL TEST_ROOT "/classroom/handout.py"

size_t read_tasks(struct task tasks[MAX_TASKS])
{
	char *text = read_text(TEST_ROOT "/classroom/tasks.tsv"), *rest = text;
	size_t count = 0;
	for (char *line = strsep(&rest, "\n"); line; line = strsep(&rest, "\n")) {
		if (line[0] == '#' || line[0] == '\0')
			continue;
		cr_assert(count < MAX_TASKS);
		struct task *t = &tasks[count++];
		char **fields[] = {&t->id, &t->chapter, &t->kernels, &t->title, &t->lines, &t->points};
		for (size_t f = 0; f < sizeof fields / sizeof fields[0]; f++) {
			*fields[f] = strsep(&line, "\t");
			cr_assert(
				*fields[f] && (*fields[f])[0], "tasks.tsv: task %zu has no field %zu", count, f + 1);
		}
		cr_assert_null(line, "tasks.tsv: %s has more than six fields", t->id);
	}
	return count;
}

const struct chapter_files *chapter_named(const char *directory)
{
	for (int c = 0; c < CHAPTERS; c++)
		if (strcmp(chapters[c].directory, directory) == 0)
			return &chapters[c];
	cr_assert_fail("there is no chapter %s", directory);
	return NULL;
}

bool is_listed(const char *list, const char *kernel)
{
	return strstr(text(",%s,", list), text(",%s,", kernel)) != NULL;
}

char *hand_out(const char *name, const char *key)
{
	char *tree = text("%s/%s", scratch_directory(), name);
	struct outcome o = key ? run_program(LIST("python3", TOOL, tree, "--class", key), NOTHING, 60)
	                       : run_program(LIST("python3", TOOL, tree), NOTHING, 60);
	cr_assert_eq(o.status, 0, "%s: %s", tree, o.err);
	cr_assert_str_empty(o.err);
	free_outcome(&o);
	return tree;
}

void solve(const char *tree, const char *except)
{
	struct outcome o =
		except ? run_program(LIST("python3", TOOL, "--solve", tree, "--except", except), NOTHING, 60)
		       : run_program(LIST("python3", TOOL, "--solve", tree), NOTHING, 60);
	cr_assert_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
}

char *variant_of(const char *tree, const char *chapter)
{
	char *table = read_text(text("%s/class.tsv", tree));
	char *line = table ? strstr(table, text("\n%s\t", chapter)) : NULL;
	cr_assert_not_null(line, "class.tsv of %s has no line for %s", tree, chapter);
	line += strlen(chapter) + 2;
	return strndup(line, strcspn(line, "\t"));
}

/* NULL, and the compiler's words, if it does not build. */
static char *build(
	const char *tree, const struct chapter_files *chapter, const char *directory, const char *flags, char **words)
{
	static int number;
	char *objects = text("%s/build/%s/sim", TEST_ROOT, strrchr("/" TEST_CC, '/') + 1);
	char *class_object = text("%s/class-%d.o", scratch_directory(), ++number);
	char *program = text("%s/%s-%d", scratch_directory(), chapter->name, number);
	char *command =
		text("%s -std=c11 -D_GNU_SOURCE -I'%s/common' -c '%s/common/problem/variant.c' -o %s\n"
	             "CC='%s' CXX='%s' %s/simcc/simcc %s -I'%s/%s' '%s'/*.cu "
	             "$(basename -s .c -a %s/%s/*.c | sed 's,.*,%s/%s/&.o,') "
	             "$(find %s/common -name '*.o' ! -name variant.o) %s -lm -o %s",
	             TEST_CC, tree, tree, class_object, TEST_CC, TEST_CXX, TEST_ROOT, flags, tree, chapter->directory,
	             directory, TEST_ROOT, chapter->directory, objects, chapter->directory, objects, class_object,
	             program);
	struct outcome o = run_program(LIST("/bin/sh", "-ec", command), NOTHING, 120);
	*words = strdup(o.err);
	free_outcome(&o);
	return o.status == 0 ? program : NULL;
}

char *try_build_sources(
	const char *tree, const struct chapter_files *chapter, const char *directory, const char *flags)
{
	char *words;
	return build(tree, chapter, directory, flags, &words);
}

char *build_chapter(const char *tree, const struct chapter_files *chapter, const char *flags)
{
	char *words, *directory = text("%s/%s", tree, chapter->directory);
	char *program = build(tree, chapter, directory, flags, &words);
	cr_assert_not_null(program, "%s: %s", directory, words);
	return program;
}

bool verifies(const char *program, const char *kernel, const char *options)
{
	char *copy = strdup(options);
	const char *argv[48] = {program, "--json", "-", "--kernel", kernel, "--repeat", "1"};
	size_t count = 7;
	for (char *word = strtok(copy, " "); word; word = strtok(NULL, " "))
		argv[count++] = word;
	struct outcome o = run_program(argv, NOTHING, 120);
	cr_assert(o.status == 0 || o.status == 1, "%s %s %s: exit %d: %s", program, kernel, options, o.status, o.err);
	cJSON *json = cJSON_Parse(o.out);
	cr_assert_not_null(json, "%s %s %s: no JSON: %s", program, kernel, options, o.err);
	const cJSON *entry = cJSON_GetArrayItem(cJSON_GetObjectItem(json, "kernels"), 0);
	cr_assert_not_null(entry, "%s %s: no kernel ran", program, kernel);
	bool verified = cJSON_IsTrue(cJSON_GetObjectItem(entry, "verified"));
	cr_assert(!verified || !cJSON_GetObjectItem(entry, "skipped"));
	verified = verified && o.status == 0; /* a hazard is exit 1, whatever the numbers */
	cJSON_Delete(json);
	free_outcome(&o);
	free(copy);
	return verified;
}

char *region_of(const char *source, const char *id)
{
	const char *start = strstr(source, text("// task %s: ", id));
	const char *end = strstr(source, text("// end %s\n", id));
	if (!start || !end || end < start)
		return NULL;
	start = strchr(start, '\n') + 1;
	while (end > start && end[-1] != '\n')
		end--;
	return strndup(start, (size_t)(end - start));
}

static int is_source(const struct dirent *entry)
{
	const char *suffix = strrchr(entry->d_name, '.');
	return suffix && (strcmp(suffix, ".cu") == 0 || strcmp(suffix, ".cuh") == 0);
}

void list_sources(const char *directory, char *names[MAX_SOURCES + 1])
{
	struct dirent **entries;
	int count = scandir(directory, &entries, is_source, alphasort);
	cr_assert(count > 0 && count <= MAX_SOURCES, "%s has %d sources", directory, count);
	for (int i = 0; i < count; i++)
		names[i] = strdup(entries[i]->d_name);
	names[count] = NULL;
}

char *region_in(const char *tree, const char *chapter, const char *id, char **file)
{
	char *names[MAX_SOURCES + 1], *directory = text("%s/%s", tree, chapter);
	list_sources(directory, names);
	for (size_t i = 0; names[i]; i++) {
		char *region = region_of(read_text(text("%s/%s", directory, names[i])), id);
		if (region) {
			*file = names[i];
			return region;
		}
	}
	cr_assert_fail("%s: no region of task %s", directory, id);
	return NULL;
}
