/*
 * The judge. It stands in the place of common/main.c and common/run.c, is linked with the reference and with no
 * code of a submission, and believes nothing that a submission's process says about itself:
 *
 *     judge write DIR [options]             the inputs of a problem, as .npy files
 *     judge verdict DIR --kernel NAME ...   compares the outputs in DIR with the reference; inputs are made anew
 *     judge model - --kernel NAME ...       the closed forms of a problem; nothing is run
 *
 * --masked puts -inf into the input for which the chapter says that it means something: every third element, and all
 * of the first row. The last two print one JSON object. Exit status as everywhere: 0, 2 usage, 3 environment; whether
 * a submission is right is in the object.
 */
#include "chapter.h"

#include "problem/load.h"
#include "support/number.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool masked;

struct inputs {
	struct named_values values[MAX_TENSORS + 1];
	float *owned[MAX_TENSORS];
	size_t count;
};

static int complain(const struct error *error)
{
	fprintf(stderr, "judge: %s\n", error->message);
	return error->exit_code;
}

static const struct kernel *find_kernel(const struct chapter *chapter, const char *name)
{
	for (size_t i = 0; name && i < chapter->kernel_count; i++)
		if (strcmp(chapter->kernels[i].name, name) == 0)
			return &chapter->kernels[i];
	return NULL;
}

static size_t elements_of(const struct problem *problem, const struct tensor *tensor)
{
	size_t shape[MAX_RANK], rank = problem_shape(problem, tensor->shape, shape);
	return shape_elements(shape, rank);
}

static void mask(const struct problem *problem, const struct tensor *tensor, float *values)
{
	size_t shape[MAX_RANK], rank = problem_shape(problem, tensor->shape, shape);
	size_t elements = shape_elements(shape, rank), row = elements / shape[0];
	for (size_t i = 0; i < elements; i++)
		if (i < row || i % 3 == 0)
			values[i] = -INFINITY;
}

static int make_inputs(
	const struct chapter *chapter, const struct kernel *kernel, const struct problem *problem,
	struct inputs *inputs, struct error *error)
{
	inputs->count = 0;
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		if (!tensor_is_input(tensor))
			continue;
		float *values = malloc(elements_of(problem, tensor) * sizeof *values);
		if (!values)
			return error_set(error, EXIT_ENVIRONMENT, "out of memory for %s", tensor->name);
		chapter->fill(problem, tensor->name, values);
		if (masked && chapter->may_be_minus_infinity &&
		    strcmp(chapter->may_be_minus_infinity, tensor->name) == 0)
			mask(problem, tensor, values);
		inputs->owned[inputs->count] = values;
		inputs->values[inputs->count++] = (struct named_values){tensor->name, values};
	}
	inputs->values[inputs->count] = (struct named_values){NULL, NULL};
	return 0;
}

static void free_inputs(struct inputs *inputs)
{
	for (size_t i = 0; i < inputs->count; i++)
		free(inputs->owned[i]);
}

static int write_inputs(
	const struct kernel *kernel, const struct problem *problem, const struct inputs *inputs,
	const char *directory, struct error *error)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		size_t shape[MAX_RANK], rank = problem_shape(problem, tensor->shape, shape);
		if (tensor_is_input(tensor) &&
		    save_tensor(
			    directory, tensor->name, find_values(inputs->values, tensor->name), shape, rank, error) !=
		            0)
			return error->exit_code;
	}
	return 0;
}

/* ---- outputs ---- */

/*
 * An output is read here and not by npy_read, which refuses NaN: NaN is an answer, a wrong one. The file has to be a
 * plain one, as long as its shape says. Returns NULL and *why, a few words.
 */
static float *read_output(
	const char *directory, const struct tensor *tensor, const struct problem *problem, const char **why)
{
	enum { LEAST = 10, MOST_HEADER = 1 << 16 };
	char path[4096], text[100], header[MOST_HEADER + 1];
	unsigned char start[LEAST];
	size_t shape[MAX_RANK], rank = problem_shape(problem, tensor->shape, shape);
	size_t elements = shape_elements(shape, rank), header_bytes = 0;
	struct stat status;
	float *values = NULL;

	int file = open(tensor_path(directory, tensor->name, path, sizeof path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	*why = "was not written";
	if (file < 0)
		return NULL;
	*why = "was written as something that is no .npy file of its shape";
	if (fstat(file, &status) == 0 && S_ISREG(status.st_mode) && read(file, start, LEAST) == LEAST &&
	    memcmp(start, "\x93NUMPY\x01", 7) == 0) {
		header_bytes = (size_t)start[8] | (size_t)start[9] << 8;
		if ((size_t)status.st_size == LEAST + header_bytes + elements * sizeof *values &&
		    read(file, header, header_bytes) == (ssize_t)header_bytes) {
			header[header_bytes] = '\0';
			if (strstr(header, "'<f4'") && strstr(header, "False") &&
			    strstr(header, shape_to_text(shape, rank, text, sizeof text)))
				values = malloc(elements * sizeof *values);
		}
	}
	for (size_t done = 0; values && done < elements * sizeof *values;) {
		ssize_t got = read(file, (char *)values + done, elements * sizeof *values - done);
		if (got <= 0) {
			free(values);
			values = NULL;
			break;
		}
		done += (size_t)got;
	}
	close(file);
	return values;
}

/* The first element, in the order of memory, that is further from the reference than its tolerance. */
static bool first_wrong(const struct expectation *expectation, const float *actual, size_t *row, size_t *column)
{
	for (size_t r = 0; r < expectation->row_count; r++)
		for (size_t c = 0; c < expectation->row_length; c++) {
			size_t at = r * expectation->row_length + c;
			double expected = expectation->values[at];
			double tolerance = check_tolerance(expectation, r, c);
			size_t where = expectation->rows ? expectation->rows[r] : r;
			double got = actual[where * expectation->row_length + c];
			if (got == expected || fabs(got - expected) <= tolerance)
				continue;
			*row = r;
			*column = c;
			return true;
		}
	return false;
}

static void print_value(struct json *json, const char *key, double value)
{
	char text[40];
	snprintf(text, sizeof text, "%.7g", without_nan_sign(value));
	json_string(json, key, text);
}

static void print_first_wrong(
	struct json *json, const struct problem *problem, const struct tensor *tensor,
	const struct expectation *expectation, const float *actual)
{
	size_t row = 0, column = 0, at[MAX_RANK], shape[MAX_RANK],
	       rank = problem_shape(problem, tensor->shape, shape);
	if (!first_wrong(expectation, actual, &row, &column))
		return;
	size_t where = expectation->rows ? expectation->rows[row] : row;
	check_coordinates(where, column, expectation->row_length, shape, rank, at);
	json_open_object(json, "first_wrong");
	json_open_array(json, "at");
	for (size_t axis = 0; axis < rank; axis++)
		json_count(json, NULL, at[axis]);
	json_close_array(json);
	print_value(json, "expected", expectation->values[row * expectation->row_length + column]);
	print_value(json, "actual", actual[where * expectation->row_length + column]);
	json_close_object(json);
}

/* How many elements are wrong, and in how many rows: all, the last ones, or a few are different mistakes. */
static void print_output(
	struct json *json, const struct problem *problem, const struct tensor *tensor,
	const struct expectations *expectations, const char *directory, bool *passed)
{
	const struct expectation *expectation = expectations_find_shaped(expectations, tensor->name, tensor->shape);
	const char *why = "has nothing to be compared with";
	float *actual = expectation ? read_output(directory, tensor, problem, &why) : NULL;
	json_open_object(json, NULL);
	json_string(json, "tensor", tensor->name);
	if (!actual) {
		*passed = false;
		json_bool(json, "passed", false);
		json_string(json, "missing", why);
	} else {
		struct check check = check_tensor(expectation, actual);
		*passed = *passed && check.passed;
		json_bool(json, "passed", check.passed);
		json_count(json, "compared", check.compared);
		json_count(json, "non_finite", check.non_finite);
		json_number(json, "max_abs", check.max_abs);
		json_number(json, "tolerance", check.tolerance);
		json_number(json, "ratio", check_ratio(&check));
		json_bool(json, "judged", check.judged);
		if (!check.passed)
			print_first_wrong(json, problem, tensor, expectation, actual);
	}
	json_close_object(json);
	free(actual);
}

/* ---- closed forms ---- */

static void print_models(struct json *json, const struct kernel *kernel, const struct problem *problem)
{
	const struct closed_forms forms = kernel->forms(problem);
	const struct model *models = forms.models;
	uint64_t ideal = 0;
	json_open_array(json, "models");
	for (size_t i = 0; i < MODELS; i++) {
		json_open_object(json, NULL);
		json_string(json, "counts", models[i].counts == MODEL_FOOTPRINT ? "footprint" : "requested");
		json_count(json, "read_bytes", 4 * models[i].read_elements);
		json_count(json, "write_bytes", 4 * models[i].write_elements);
		json_string(json, "formula", models[i].formula);
		json_close_object(json);
	}
	json_close_array(json);
	json_count(json, "atomic_bytes", 4 * forms.atomics);
	json_count(json, "statistic_bytes", 4 * forms.statistics);
	json_open_array(json, "statistics");
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++)
		if (tensor->statistic)
			json_string(json, NULL, tensor->name);
	json_close_array(json);
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++)
		if (!tensor->statistic && tensor->role != TENSOR_SCRATCH && tensor->role != TENSOR_PREPARED)
			ideal += sizeof(float) * elements_of(problem, tensor);
	json_count(json, "ideal_bytes", ideal);
}

static int print_verdict(
	const struct chapter *chapter, const struct kernel *kernel, const struct problem *problem,
	const struct inputs *inputs, const char *directory, struct error *error)
{
	struct json json = json_to(stdout);
	bool passed = true;
	json_open_object(&json, NULL);
	json_string(&json, "kernel", kernel->name);
	if (directory) {
		struct expectations expectations;
		if (chapter->expect(problem, inputs->values, &expectations, error) != 0)
			return error->exit_code;
		json_open_array(&json, "outputs");
		for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++)
			if (tensor_is_output(tensor))
				print_output(&json, problem, tensor, &expectations, directory, &passed);
		json_close_array(&json);
		json_bool(&json, "passed", passed);
		expectations_free(&expectations);
	}
	print_models(&json, kernel, problem);
	json_close_object(&json);
	putchar('\n');
	return fflush(stdout) == 0 ? 0 : error_set(error, EXIT_ENVIRONMENT, "standard output: cannot be written");
}

/* --masked is the judge's own: taken out before the harness sees the options. */
static int take_masked(int argc, char **argv)
{
	int kept = 0;
	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "--masked") == 0)
			masked = true;
		else
			argv[kept++] = argv[i];
	argv[kept] = NULL;
	return kept;
}

int chapter_main(const struct chapter *chapter, int argc, char **argv)
{
	struct error error = {0};
	struct options options;
	struct device device;
	const char *mode = argc > 2 ? argv[1] : "", *directory = argc > 2 ? argv[2] : "";
	bool write = strcmp(mode, "write") == 0, verdict = strcmp(mode, "verdict") == 0;
	if (!write && !verdict && strcmp(mode, "model") != 0) {
		error_set(&error, EXIT_USAGE, "expected write|verdict|model DIR --kernel NAME [options]");
		return complain(&error);
	}
	argv[2] = argv[0];
	argc = take_masked(argc, argv);
	if (options_parse(argc - 2, argv + 2, chapter->options, &chapter->defaults, &options, &error) != 0 ||
	    device_open(options.gpu, &device, &error) != 0)
		return complain(&error);
	const struct kernel *kernel = find_kernel(chapter, options.kernel);
	if (!kernel) {
		error_set(
			&error, EXIT_USAGE, "--kernel: no kernel '%.60s' in %s", options.kernel ? options.kernel : "",
			chapter->name);
		return complain(&error);
	}
	struct problem problem = options.problem;
	problem.variant = variant_of_chapter(chapter->name);
	problem_settle(&problem);
	struct inputs inputs = {.count = 0};
	int status = write || verdict ? make_inputs(chapter, kernel, &problem, &inputs, &error) : 0;
	if (status == 0)
		status =
			write ? write_inputs(kernel, &problem, &inputs, directory, &error)
			      : print_verdict(chapter, kernel, &problem, &inputs, verdict ? directory : NULL, &error);
	free_inputs(&inputs);
	return status ? complain(&error) : 0;
}
