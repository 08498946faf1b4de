/*
 * The judge. It stands in the place of common/main.c and common/run/run.c, is linked with the reference and with no
 * code of a submission, and believes nothing that a submission's process says about itself:
 *
 *     judge KIND=VALUE
 *
 * KIND=VALUE is the variant that a class computes. Of each line of its input, words between tabs, it prints one JSON object,
 * a line:
 *
 *     DIR --kernel NAME ...    compares the outputs in DIR with the reference; inputs are made anew
 *     - --kernel NAME ...      the closed forms of a problem alone
 *
 * The options are those of a case (case.h). It ends with its input, or at the first line that it cannot judge. Exit status
 * as everywhere: 0, 2 usage, 3 environment; whether a submission is right is in the object.
 */
#include "case.h"
#include "harness.h"

#include "problem/load.h"

#include <fcntl.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

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
	bool is_good = fstat(file, &status) == 0 && S_ISREG(status.st_mode) && status.st_size > (off_t)bytes &&
	               status.st_size <= (off_t)bytes + LONGEST_HEADER &&
	               pread(file, values, bytes, status.st_size - (off_t)bytes) == (ssize_t)bytes;
	close(file);
	if (is_good)
		return values;
	free(values);
	return NULL;
}

/* The first output that is wrong, and how; nothing where all are right. Whether one is wrong. */
static bool print_wrong(
	struct json *json, const struct kernel *kernel, const struct problem *problem,
	const struct expectations *expectations, const char *directory, struct error *error)
{
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		if (!tensor_is_output(tensor))
			continue;
		const struct expectation *expectation =
			expectations_find_shaped(expectations, tensor->name, tensor->shape);
		float *actual = expectation ? read_output(directory, tensor, problem) : NULL;
		struct check check = {.passed = false};
		if (actual && (check = check_tensor(expectation, actual)).passed) {
			free(actual);
			continue;
		}
		char *words = NULL;
		size_t length, shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
		FILE *text = open_memstream(&words, &length);
		if (!text) {
			error_set(error, EXIT_ENVIRONMENT, "out of memory");
			return false;
		}
		if (actual)
			check_print_worst(text, &check, expectation, actual, shape, rank);
		else
			fprintf(text, "%s was not written, or not in its shape", tensor->name);
		fclose(text);
		json_open_object(json, "wrong");
		json_string(
			json, "category",
			!actual            ? "nothing written"
			: check.non_finite ? "NaN or infinity"
					   : "wrong result");
		json_string(json, "text", words);
		json_close_object(json);
		free(words);
		free(actual);
		return true;
	}
	return false;
}

/* Whether every output is what the course computes, where the class computes a variant of it. */
static bool is_plain_form(
	const struct chapter *chapter, const struct kernel *kernel, struct problem problem,
	const struct inputs *inputs, const char *directory, struct error *error)
{
	struct expectations expectations;
	problem.variant.kind = VARIANT_PLAIN;
	if (chapter->expect(&problem, inputs->list, &expectations, error) != 0)
		return false;
	bool is_plain = true;
	for (const struct tensor *tensor = kernel->tensors; tensor->name && is_plain; tensor++) {
		if (!tensor_is_output(tensor))
			continue;
		const struct expectation *expectation =
			expectations_find_shaped(&expectations, tensor->name, tensor->shape);
		float *actual = expectation ? read_output(directory, tensor, &problem) : NULL;
		is_plain = actual && check_tensor(expectation, actual).passed;
		free(actual);
	}
	expectations_free(&expectations);
	return is_plain;
}

/* ---- closed forms ---- */

static void print_predictions(struct json *json, const struct kernel *kernel, const struct problem *problem)
{
	const struct closed_forms forms = kernel->forms(problem);
	const struct prediction *predictions = forms.predictions;
	uint64_t ideal = 0;
	json_open_array(json, "models");
	for (size_t i = 0; i < PREDICTIONS; i++) {
		json_open_object(json, NULL);
		json_string(json, "counts", predictions[i].counts == PREDICTS_FOOTPRINT ? "footprint" : "requested");
		json_count(json, "bytes", 4 * (predictions[i].read_elements + predictions[i].write_elements));
		json_count(json, "write_bytes", 4 * predictions[i].write_elements);
		json_string(json, "formula", predictions[i].formula);
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

/* Nothing is printed of a verdict that an error ended. */
static int print_verdict(
	const struct chapter *chapter, const struct kernel *kernel, const struct options *options, bool masked,
	struct problem *problem, const char *directory, struct error *error)
{
	char *text = NULL;
	size_t length;
	FILE *memory = open_memstream(&text, &length);
	if (!memory)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory");
	struct json json = json_to(memory);
	struct inputs inputs = {.count = 0};
	struct expectations expectations;
	bool compares = strcmp(directory, "-") != 0;
	json_open_object(&json, NULL);
	if (compares && make_inputs(chapter, kernel, options, masked, problem, &inputs, error) == 0 &&
	    chapter->expect(problem, inputs.list, &expectations, error) == 0) {
		bool is_wrong = print_wrong(&json, kernel, problem, &expectations, directory, error);
		if (is_wrong && problem->variant.kind != VARIANT_PLAIN &&
		    is_plain_form(chapter, kernel, *problem, &inputs, directory, error))
			json_bool(&json, "is_plain_form", true);
		expectations_free(&expectations);
	}
	inputs_free(&inputs);
	print_predictions(&json, kernel, problem);
	json_close_object(&json);
	if (fclose(memory) != 0)
		error_set(error, EXIT_ENVIRONMENT, "out of memory");
	if (!error->exit_code && (printf("%s\n", text) < 0 || fflush(stdout) != 0))
		error_set(error, EXIT_ENVIRONMENT, "standard output: cannot be written");
	free(text);
	return error->exit_code;
}

static bool take_variant(const char *word, struct class_variant *variant)
{
	char name[16];
	if (sscanf(word, "%15[^=]=%f", name, &variant->value) != 2)
		return false;
	for (variant->kind = 0; variant->kind < VARIANT_KINDS; variant->kind++)
		if (strcmp(variant_names[variant->kind], name) == 0)
			return true;
	return false;
}

/* One verdict. argv[1] is DIR, the options follow. */
static int judge(const struct chapter *chapter, struct class_variant variant, int argc, char **argv)
{
	struct error error = {0};
	struct options options;
	struct device device;
	bool masked = take_option(&argc, argv, "--masked");
	take_option(&argc, argv, "--in-place"); /* what is expected is the same */
	if (argc < 2) {
		error_set(&error, EXIT_USAGE, "expected DIR|- --kernel NAME ...");
		return complain("judge", &error);
	}
	const char *directory = argv[1];
	if (options_parse(argc - 1, argv + 1, chapter->options, &chapter->defaults, &options, &error) != 0 ||
	    device_open(options.gpu, &device, &error) != 0)
		return complain("judge", &error);
	const struct kernel *kernel = chapter_kernel(chapter, options.kernel);
	if (!kernel)
		error_set(&error, EXIT_USAGE, "--kernel: expected one of %s", chapter->name);
	struct problem problem = options.problem;
	problem.variant = variant;
	problem_fill_defaults(&problem);
	if (kernel)
		print_verdict(chapter, kernel, &options, masked, &problem, directory, &error);
	return error.exit_code ? complain("judge", &error) : 0;
}

int chapter_main(const struct chapter *chapter, int argc, char **argv)
{
	enum { MOST_WORDS = 64 };
	struct class_variant variant;
	if (argc != 2 || !take_variant(argv[1], &variant)) {
		struct error error = {0};
		error_set(&error, EXIT_USAGE, "expected KIND=VALUE, and lines of input");
		return complain("judge", &error);
	}
	char *line = NULL;
	size_t size = 0;
	int status = 0;
	while (status == 0 && getline(&line, &size, stdin) > 0) {
		char *words[MOST_WORDS + 1] = {argv[0]};
		int count = 1;
		for (char *word = strtok(line, "\t\n"); word && count < MOST_WORDS; word = strtok(NULL, "\t\n"))
			words[count++] = word;
		status = judge(chapter, variant, count, words);
	}
	free(line);
	return status;
}
