#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <criterion/criterion.h>

#include "expect.h"
#include "program.h"

/* ---- reading ---- */

static void add_launch(struct expectations *expectations, const char *line)
{
	size_t count = expectations->launch_count;

	expectations->launches = realloc(expectations->launches, (count + 2) * sizeof *expectations->launches);
	cr_assert(expectations->launches != NULL, "out of memory");
	expectations->launches[count] = strdup(line);
	expectations->launches[count + 1] = NULL;
	expectations->launch_count++;
}

static char *joined(char *text_so_far, const char *separator, const char *more)
{
	return text_so_far == NULL ? text("%s%s", more, separator) : text("%s%s%s", text_so_far, more, separator);
}

/* " x3" at the end of a line stands for three such launches. */
static void repeat_launches(struct expectations *expectations)
{
	struct expectations all = {.launch_count = 0};

	for (size_t i = 0; i < expectations->launch_count; i++) {
		char *line = expectations->launches[i], *mark = strstr(line, " x");
		long times = mark != NULL && isdigit((unsigned char)mark[2]) ? strtol(mark + 2, NULL, 10) : 1;

		if (mark != NULL && isdigit((unsigned char)mark[2]))
			memset(mark, ' ', strcspn(mark + 1, " ") + 1);
		while (times-- > 0)
			add_launch(&all, line);
	}
	expectations->launches = all.launches;
	expectations->launch_count = all.launch_count;
}

struct expectations read_expectations(const char *path)
{
	struct expectations expectations = {.launch_count = 0};
	char *all = read_text(text("%s.cu", path)), *rest = all, *line;

	if (all == NULL)
		rest = all = read_text(text("%s/main.cu", path));
	cr_assert(all != NULL, "%s: no such program", path);
	while ((line = strsep(&rest, "\n")) != NULL) {
		line += strspn(line, " \t");
		if (strncmp(line, "//= ", 4) == 0)
			add_launch(&expectations, line + 4);
		else if (strncmp(line, "//+ ", 4) == 0) {
			char **last = &expectations.launches[expectations.launch_count - 1];

			*last = text("%s %s", *last, line + 4);
		} else if (strncmp(line, "//> ", 4) == 0)
			expectations.output = joined(expectations.output, "\n", line + 4);
		else if (strncmp(line, "//! order: ", 11) == 0)
			expectations.depends_on_order = strdup(line + 11);
		else if (strncmp(line, "//! not fast: ", 14) == 0)
			expectations.not_fast = strdup(line + 14);
	}
	repeat_launches(&expectations);
	free(all);
	return expectations;
}

uint64_t evaluate(const char *expression)
{
	uint64_t sum = 0, product = 1, sign = 1; /* modulo 2^64, so that a difference comes out right */
	const char *at = expression;

	for (;;) {
		char *end;

		cr_assert(isdigit((unsigned char)*at), "'%s' is no sum of products", expression);
		product *= strtoull(at, &end, 10);
		at = end;
		if (*at != '*') {
			sum += sign * product;
			product = 1;
			sign = *at == '-' ? (uint64_t)-1 : 1;
		}
		if (*at == '\0')
			return sum;
		cr_assert(strchr("*+-", *at) != NULL, "'%s' is no sum of products", expression);
		at++;
	}
}

/* ---- comparing ---- */

struct place {
	const char *program;
	size_t index;
	const struct launch *launch;
};

static void compare(const struct place *place, const char *counter, const char *part, uint64_t counted,
                    const char *expected)
{
	if (expected != NULL && strcmp(expected, "?") == 0)
		return;
	uint64_t worked_out = expected ? evaluate(expected) : 0;

	cr_expect(counted == worked_out, "%s: launch %zu, %s: %s%s counted %" PRIu64 ", worked out by hand %" PRIu64,
	          place->program, place->index, place->launch->kernel, counter, part, counted, worked_out);
}

/* The value of KEY=value in a line, in memory of its own; NULL if it is not there. */
static char *value_of(const char *line, const char *key)
{
	const size_t length = strlen(key);

	for (const char *word = line; *word != '\0'; word += strspn(word, " ")) {
		if (strncmp(word, key, length) == 0 && word[length] == '=')
			return strndup(word + length + 1, strcspn(word + length + 1, " "));
		word += strcspn(word, " ");
	}
	return NULL;
}

/* Compares the fields of a value a/b/c with numbers; with no value they must be 0. */
static void compare_fields(const struct place *place, const char *line, const char *counter, size_t count,
                           const char *const names[], const uint64_t counted[])
{
	char *value = value_of(line, counter), *rest = value;

	for (size_t i = 0; i < count; i++) {
		const char *field = rest != NULL ? strsep(&rest, "/") : NULL;

		if (value != NULL && field == NULL)
			break;
		compare(place, counter, names[i], counted[i], field);
	}
	free(value);
}

static void compare_count(const struct place *place, const char *line, const char *counter, const struct count *count)
{
	static const char *const names[] = {" bytes", " requests", " sectors or wavefronts", " ideal wavefronts",
	                                    " conflicts"};
	const uint64_t counted[] = {count->bytes, count->requests, count->parts, count->ideal, count->conflicts};

	compare_fields(place, line, counter, 5, names, counted);
}

static void compare_if_given(const struct place *place, const char *line, const char *counter, size_t count,
                             const uint64_t counted[])
{
	static const char *const names[] = {" (first)", " (second)", " (third)", " (fourth)"};
	char *value = value_of(line, counter);

	if (value != NULL)
		compare_fields(place, line, counter, count, names, counted);
	free(value);
}

static void compare_shape(const struct place *place, const char *line, const char *key, const unsigned shape[3])
{
	char *value = value_of(line, key), *counted = text("%u,%u,%u", shape[0], shape[1], shape[2]);

	if (value != NULL)
		cr_expect_str_eq(value, counted, "%s: launch %zu: %s is %s", place->program, place->index, key,
		                 counted);
}

static void compare_tensors(const struct place *place, const char *line)
{
	const char *word = line;

	while ((word = strstr(word, " tensor:")) != NULL) {
		char *key = strndup(word + 1, strcspn(word + 1, "="));
		const struct tensor *tensor = find_tensor(place->launch, key + strlen("tensor:"));

		cr_expect(tensor != NULL, "%s: launch %zu: no %s", place->program, place->index, key);
		if (tensor != NULL)
			compare_if_given(
				place, line, key, 4,
				(uint64_t[]){tensor->read, tensor->write, tensor->read_bytes, tensor->write_bytes});
		word++;
		free(key);
	}
}

/* "fa2_row<64,true>", however the report spaces it. */
static char *full_name(const struct launch *launch)
{
	char *name =
		launch->arguments[0] ? text("%s<%s>", launch->kernel, launch->arguments) : strdup(launch->kernel);
	char *to = name;

	for (const char *from = name; *from != '\0'; from++)
		if (*from != ' ')
			*to++ = *from;
	*to = '\0';
	return name;
}

static void compare_launch(const struct place *place, const char *line)
{
	const struct launch *launch = place->launch;
	static const char *const one[] = {""}, *const two[] = {" bytes", " requests"};

	compare_count(place, line, "load", &launch->load);
	compare_count(place, line, "store", &launch->store);
	compare_count(place, line, "atomic", &launch->atomic);
	compare_count(place, line, "sload", &launch->shared_load);
	compare_count(place, line, "sstore", &launch->shared_store);
	compare_count(place, line, "satomic", &launch->shared_atomic);
	compare_fields(place, line, "const", 2, two, (uint64_t[]){launch->constant.bytes, launch->constant.requests});
	compare_fields(place, line, "barriers", 1, one, &launch->barriers);
	compare_fields(place, line, "exp", 1, one, &launch->exp);
	compare_if_given(place, line, "foot", 2, (uint64_t[]){launch->read_bytes, launch->write_bytes});
	compare_if_given(place, line, "dyn", 1, &launch->dynamic_shared);
	compare_if_given(place, line, "static", 1, &launch->static_shared);
	compare_tensors(place, line);
}

/* Holds for any launch: the parts add up. */
static void check_sums(const struct place *place)
{
	const struct launch *launch = place->launch;
	uint64_t read = 0, write = 0, atomic = 0, read_footprint = 0, write_footprint = 0;

	for (size_t i = 0; i < launch->tensor_count; i++) {
		read += launch->tensors[i].read;
		write += launch->tensors[i].write;
		atomic += launch->tensors[i].atomic;
		read_footprint += launch->tensors[i].read_bytes;
		write_footprint += launch->tensors[i].write_bytes;
	}
	cr_expect(read == launch->load.bytes && write == launch->store.bytes && atomic == launch->atomic.bytes &&
	                  read_footprint == launch->read_bytes && write_footprint == launch->write_bytes,
	          "%s: launch %zu: the tensors do not add up to the launch", place->program, place->index);
	cr_expect(launch->hazards == 0, "%s: launch %zu has hazards", place->program, place->index);
}

void expect_launches(const char *program, const struct expectations *expectations, const struct report *report)
{
	cr_expect(report->launch_count == expectations->launch_count, "%s: %zu launches, expected %zu", program,
	          report->launch_count, expectations->launch_count);
	for (size_t i = 0; i < report->launch_count && i < expectations->launch_count; i++) {
		const char *line = expectations->launches[i];
		const struct place place = {program, i, &report->launches[i]};
		char *name = strndup(line, strcspn(line, " ")), *counted = full_name(place.launch);

		cr_expect_str_eq(counted, name, "%s: launch %zu is %s, expected %s", program, i, counted, name);
		compare_shape(&place, line, "grid", place.launch->grid);
		compare_shape(&place, line, "block", place.launch->block);
		check_sums(&place);
		if (strstr(line, " ANY") == NULL)
			compare_launch(&place, line);
		free(name);
		free(counted);
	}
}
