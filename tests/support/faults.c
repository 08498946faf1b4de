#include "faults.h"

#include "program.h"

#include <criterion/criterion.h>
#include <criterion/logging.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Runs a program; returns its exit status, the output it saved in *bytes and what it said in *said. Threads run from the
 * last to the first, so that a missing barrier changes the output; the race itself is not looked for. */
static int run_case(
	const char *program, const struct fault_case *tested, const char *directory, const char *output, char **bytes,
	size_t *size, char **said)
{
	struct outcome o = run_program(
		LIST("/bin/sh", "-c",
	             text("%s %s --kernel %s --quiet --save %s", program, tested->input, tested->kernel, directory)),
		LIST("SIM_ORDER=reverse", without_racecheck()), 60);
	FILE *file = fopen(text("%s/%s", directory, output), "rb");
	*bytes = calloc(1, 1 << 20);
	*size = file ? fread(*bytes, 1, 1 << 20, file) : 0;
	if (file)
		fclose(file);
	*said = text("%s%s", o.out, o.err);
	int status = o.status;
	free_outcome(&o);
	return status;
}

void expect_faults_found(
	const char *program, const char *faults, const char *output, const struct fault_case *cases, size_t count)
{
	const char *directory = scratch_directory();
	for (size_t i = 0; i < count; i++) {
		char *right, *wrong, *said;
		size_t right_size, wrong_size;
		const char *name = text("%s in %s, %s", cases[i].fault, cases[i].kernel, cases[i].input);
		int status = run_case(
			program, &cases[i], text("%s/right%zu", directory, i), output, &right, &right_size, &said);
		cr_expect_eq(status, 0, "the right twin of %s: %s", name, said);
		status = run_case(
			text("%s/%s/program", faults, cases[i].fault), &cases[i], text("%s/wrong%zu", directory, i),
			output, &wrong, &wrong_size, &said);
		cr_expect_eq(status, 1, "%s: exit %d: %s", name, status, said);
		cr_expect(strstr(said, "is wrong"), "%s: %s", name, said);
		cr_expect(
			right_size > 128 && right_size == wrong_size && memcmp(right, wrong, right_size) != 0,
			"%s changes nothing", name);
		free(right);
		free(wrong);
	}
}

void expect_faults_used(const char *faults, const struct fault_case *cases, size_t count, size_t planted)
{
	size_t found = 0;
	DIR *directory = opendir(faults);
	cr_assert(directory);
	for (struct dirent *entry; (entry = readdir(directory));) {
		bool used = entry->d_name[0] == '.' || strchr(entry->d_name, '.') != NULL;
		found += !used;
		for (size_t i = 0; i < count && !used; i++)
			used = strcmp(entry->d_name, cases[i].fault) == 0;
		cr_expect(used, "%s is planted, and no test runs it", entry->d_name);
	}
	closedir(directory);
	cr_assert_eq(found, planted);
}

/* The case that the mistake does not survive; NULL if there is none. */
static const char *find_mistake(
	const char *directory, const char *name, const struct mistake_case *cases, size_t count)
{
	const char *kernel = text("%.*s", (int)(strstr(name, "__") - name), name);
	for (size_t i = 0; i < count; i++) {
		if (cases[i].not_for && strcmp(cases[i].not_for, kernel) == 0)
			continue;
		const char *command =
			text("%s/%s/program --kernel %s --quiet %s", directory, name, kernel, cases[i].options);
		struct outcome o = run_program(LIST("/bin/sh", "-c", command), LIST("SIM_TIMEOUT=10"), 60);
		cr_expect(o.status == 0 || o.status == 1, "%s: exit %d, %s", command, o.status, o.err);
		bool found = o.status == 1;
		free_outcome(&o);
		if (found)
			return cases[i].options;
	}
	return NULL;
}

static int is_mistake(const struct dirent *entry)
{
	return strstr(entry->d_name, "__") && !strchr(entry->d_name, '.');
}

void expect_mistakes_found(const char *directory, const struct mistake_case *cases, size_t count, size_t planted)
{
	struct dirent **entries;
	int built = scandir(directory, &entries, is_mistake, alphasort);
	cr_assert_eq((size_t)built, planted, "%s holds %d mistakes", directory, built);
	for (int i = 0; i < built; i++) {
		const char *found = find_mistake(directory, entries[i]->d_name, cases, count);
		cr_expect(found, "%s survives all %zu cases", entries[i]->d_name, count);
		cr_log_info("%s: found by %s", entries[i]->d_name, found ? found : "none");
		free(entries[i]);
	}
	free(entries);
}

size_t read_told_faults(const char *table, struct told_fault *faults)
{
	char *lines = read_text(table);
	size_t count = 0;
	cr_assert_not_null(lines, "no %s", table);
	for (char *line; count < MOST_TOLD_FAULTS && (line = strsep(&lines, "\n")) && *line; count++) {
		const char *name = strsep(&line, "\t"), *options = strsep(&line, "\t");
		snprintf(faults[count].name, sizeof faults[count].name, "%s", name);
		snprintf(faults[count].options, sizeof faults[count].options, "%s", options);
		snprintf(faults[count].says, sizeof faults[count].says, "%s", line);
	}
	return count;
}

void expect_told_fault_found(const char *faults, const struct told_fault *fault)
{
	struct outcome o = run_line(
		text("%s/%s/program", faults, fault->name), text("--json - %s", fault->options),
		LIST("SIM_ORDER=reverse"), 60);
	cr_assert_eq(o.status, 1, "'%s' passes with %s: exit %d, %s", fault->name, fault->options, o.status, o.err);
	cr_expect(
		strstr(o.err, fault->says) || strstr(o.out, fault->says), "'%s' fails, but not with '%s': %s%s",
		fault->name, fault->says, o.err, o.out);
	free_outcome(&o);
}

void expect_told_faults_are_faults(const char *program, const char *table, size_t least)
{
	static struct told_fault faults[MOST_TOLD_FAULTS];
	size_t count = read_told_faults(table, faults);
	cr_assert_gt(count, least);
	for (size_t i = 0; i < count; i++) {
		struct outcome o = run_line(program, text("--quiet %s", faults[i].options), NOTHING, 60);
		cr_expect_eq(o.status, 0, "without a fault, %s: exit %d, %s", faults[i].options, o.status, o.err);
		cr_expect_str_empty(o.err, "without a fault, %s: %s", faults[i].options, o.err);
		free_outcome(&o);
	}
}
