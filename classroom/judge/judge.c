/*
 * The judge. It stands in the place of common/main.c and common/run.c, is linked with the reference and with no
 * code of a submission, and believes nothing that a submission's process says about itself:
 *
 *     judge write DIR [options]             the inputs of a problem, as .npy files
 *     judge verdict DIR --kernel NAME ...   compares the outputs in DIR with the reference; inputs are made anew
 *     judge model - --kernel NAME ...       the closed forms of a problem; nothing is run
 *
 * Two options are the judge's own. --masked puts -inf into the input for which the chapter says that it means something:
 * every third element, and all of the first row. --variant KIND=VALUE is what a class computes. The last two modes print one
 * JSON object. Exit status as everywhere: 0, 2 usage, 3 environment; whether a submission is right is in the object.
 */
#include "harness.h"

#include "problem/load.h"
#include "run_inputs.h"
#include "support/number.h"

#include <fcntl.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

static bool masked;
static struct class_variant variant;

static int complain(const struct error *error)
{
	fprintf(stderr, "judge: %s\n", error->message);
	return error->exit_code;
}

static void mask(const struct problem *problem, const struct tensor *tensor, float *values)
{
	size_t shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
	size_t elements = shape_elements(shape, rank), row = elements / shape[0];
	for (size_t i = 0; i < elements; i++)
		if (i < row || i % 3 == 0)
			values[i] = -INFINITY;
}

static int make_inputs(
	const struct chapter *chapter, const struct kernel *kernel, const struct options *options,
	struct problem *problem, struct inputs *inputs, struct error *error)
{
	if (inputs_make(chapter, kernel, 1, options, problem, inputs, error) != 0)
		return error->exit_code;
	const char *maskable = masked ? chapter->may_be_minus_infinity : NULL;
	for (size_t i = 0; maskable && i < inputs->count; i++)
		if (strcmp(inputs->list[i].name, maskable) == 0)
			mask(problem, tensor_find(kernel->tensors, maskable), inputs->owned[i]);
	return 0;
}

static int write_inputs(
	const struct kernel *kernel, const struct problem *problem, const struct inputs *inputs,
	const char *directory, struct error *error)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		size_t shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
		if (tensor_is_input(tensor) &&
		    save_tensor(
			    directory, tensor->name, find_values(inputs->list, tensor->name), shape, rank, error) !=
		            0)
			return error->exit_code;
	}
	return 0;
}

/* ---- outputs ---- */

/*
 * The elements of an output, freed by the caller. Read here and not by npy_read, which refuses NaN: NaN is an answer, a
 * wrong one. The file has to be a plain one, as long as its shape says. NULL for any other.
 */
static float *read_output(const char *directory, const struct tensor *tensor, const struct problem *problem)
{
	enum { LONGEST_HEADER = 512 };
	char path[4096];
	struct stat status;
	size_t bytes = tensor_elements(problem, tensor) * sizeof(float);
	float *values = malloc(bytes);
	int file = open(tensor_path(directory, tensor->name, path, sizeof path), O_RDONLY | O_NOFOLLOW | O_NONBLOCK);
	bool is_good = values && file >= 0 && fstat(file, &status) == 0 && S_ISREG(status.st_mode) &&
	               status.st_size - (off_t)bytes > 0 && status.st_size - (off_t)bytes <= LONGEST_HEADER &&
	               pread(file, values, bytes, status.st_size - (off_t)bytes) == (ssize_t)bytes;
	if (file >= 0)
		close(file);
	if (is_good)
		return values;
	free(values);
	return NULL;
}

static void print_value(struct json *json, const char *key, double value)
{
	char text[40];
	snprintf(text, sizeof text, "%.7g", without_nan_sign(value));
	json_string(json, key, text);
}

/* The worst element: where it is, what it should be. */
static void print_worst(
	struct json *json, const struct problem *problem, const struct tensor *tensor,
	const struct expectation *expectation, const struct check *check, const float *actual)
{
	size_t at[MAX_RANK], shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
	size_t row = expectation->rows ? expectation->rows[check->worst_row] : check->worst_row;
	size_t length = expectation->row_length;
	check_coordinates(row, check->worst_column, length, shape, rank, at);
	json_open_array(json, "at");
	for (size_t axis = 0; axis < rank; axis++)
		json_count(json, NULL, at[axis]);
	json_close_array(json);
	print_value(json, "expected", expectation->values[check->worst_row * length + check->worst_column]);
	print_value(json, "actual", actual[row * length + check->worst_column]);
}

static void print_output(
	struct json *json, const struct problem *problem, const struct tensor *tensor,
	const struct expectations *expectations, const char *directory, bool *passed)
{
	const struct expectation *expectation = expectations_find_shaped(expectations, tensor->name, tensor->shape);
	float *actual = expectation ? read_output(directory, tensor, problem) : NULL;
	struct check check = actual ? check_tensor(expectation, actual) : (struct check){.passed = false};
	*passed = *passed && check.passed;
	json_open_object(json, NULL);
	json_string(json, "tensor", tensor->name);
	json_bool(json, "passed", check.passed);
	json_bool(json, "missing", !actual);
	json_count(json, "compared", check.compared);
	json_count(json, "non_finite", check.non_finite);
	if (actual && !check.passed)
		print_worst(json, problem, tensor, expectation, &check, actual);
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
			ideal += sizeof(float) * tensor_elements(problem, tensor);
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
		if (chapter->expect(problem, inputs->list, &expectations, error) != 0)
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

static bool take_variant(const char *word)
{
	const char *value = strchr(word, '=');
	for (size_t kind = 0; value && kind < VARIANT_KINDS; kind++)
		if (strlen(variant_names[kind]) == (size_t)(value - word) &&
		    strncmp(variant_names[kind], word, (size_t)(value - word)) == 0) {
			variant = (struct class_variant){(enum variant_kind)kind, strtof(value + 1, NULL)};
			return true;
		}
	return false;
}

/* The judge's own options: taken out before the harness sees the others. -1 for a variant that there is not. */
static int take_own(int argc, char **argv)
{
	int kept = 0;
	for (int i = 0; i < argc; i++)
		if (strcmp(argv[i], "--masked") == 0)
			masked = true;
		else if (strcmp(argv[i], "--variant") != 0)
			argv[kept++] = argv[i];
		else if (++i == argc || !take_variant(argv[i]))
			return -1;
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
	bool is_mode = write || verdict || strcmp(mode, "model") == 0;
	if (is_mode)
		argv[2] = argv[0];
	if (!is_mode || (argc = take_own(argc, argv)) < 0)
		error_set(
			&error, EXIT_USAGE,
			"expected write|verdict|model DIR --kernel NAME [--variant KIND=VALUE] ...");
	if (error.exit_code ||
	    options_parse(argc - 2, argv + 2, chapter->options, &chapter->defaults, &options, &error) != 0 ||
	    device_open(options.gpu, &device, &error) != 0)
		return complain(&error);
	const struct kernel *kernel = chapter_kernel(chapter, options.kernel);
	if (!kernel) {
		error_set(&error, EXIT_USAGE, "--kernel: expected one of %s", chapter->name);
		return complain(&error);
	}
	struct problem problem = options.problem;
	problem.variant = variant;
	problem_settle(&problem);
	struct inputs inputs = {.count = 0};
	int status = 0;
	if (write || verdict)
		status = make_inputs(chapter, kernel, &options, &problem, &inputs, &error);
	if (status == 0 && write)
		status = write_inputs(kernel, &problem, &inputs, directory, &error);
	else if (status == 0)
		status = print_verdict(chapter, kernel, &problem, &inputs, verdict ? directory : NULL, &error);
	inputs_free(&inputs);
	return status ? complain(&error) : 0;
}
