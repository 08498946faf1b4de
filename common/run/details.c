#include "run/details.h"

#include "problem/load.h"
#include "run/files.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#ifdef DEVICE_SIM
#include "sim.h"

static int begin(
	const char *variable, int (*write_to)(const char *path), const char *directory, const char *name,
	struct error *error)
{
	char path[PATH_MAX];
	if (getenv(variable))
		return 0;
	snprintf(path, sizeof path, "%s/%s", directory, name);
	return write_to(path) == 0
	               ? 0
	               : error_set(error, EXIT_ENVIRONMENT, "%.200s: cannot be written: %s", path, strerror(errno));
}

int details_record(const char *directory, bool with_trace, struct error *error)
{
	int status = with_trace ? begin("SIM_TRACE", sim_trace, directory, "trace", error) : 0;
	return status ? status : begin("SIM_REPORT", sim_report, directory, "report", error);
}

#else

int details_record(const char *directory, bool with_trace, struct error *error)
{
	(void)directory, (void)with_trace, (void)error;
	return 0; /* nobody sees what a GPU accesses */
}

#endif

int details_inputs(
	const char *directory, const struct kernel *kernels, size_t kernel_count, const struct problem *problem,
	const struct inputs *inputs, struct error *error)
{
	char last[PATH_MAX];
	files_run_json(directory, last); /* written last: where it is, all else is whole */
	mkdir(directory, 0777);          /* if that fails, so does what follows, with the better message */
	if (unlink(last) != 0 && errno != ENOENT)
		return error_set(error, EXIT_ENVIRONMENT, "%.200s: cannot be removed: %s", last, strerror(errno));
	for (size_t k = 0; k < kernel_count; k++)
		for (const struct tensor *tensor = kernels[k].tensors; tensor->name; tensor++) {
			size_t shape[MAX_RANK], rank = tensor_shape(problem, tensor, shape);
			if (tensor_is_input(tensor) &&
			    save_tensor(
				    directory, tensor->name, find_values(inputs->list, tensor->name), shape, rank,
				    error) != 0)
				return error->exit_code;
		}
	return 0;
}

struct array_file {
	FILE *stream;
	char path[PATH_MAX];
};

/* Of another run, in the same directory. */
static int forget_array(const char *directory, size_t kernel, size_t number, const char *what, struct error *error)
{
	char path[PATH_MAX];
	snprintf(path, sizeof path, "%s/%zu.%zu.%s", directory, kernel, number, what);
	if (unlink(path) == 0 || errno == ENOENT)
		return 0;
	return error_set(error, EXIT_ENVIRONMENT, "%.200s: cannot be removed: %s", path, strerror(errno));
}

static int open_array(
	struct array_file *file, const char *directory, size_t kernel, size_t number, const char *what,
	struct error *error)
{
	if (forget_array(directory, kernel, number, what, error) != 0) /* what a link leads to is not overwritten */
		return error->exit_code;
	snprintf(file->path, sizeof file->path, "%s/%zu.%zu.%s", directory, kernel, number, what);
	if ((file->stream = fopen(file->path, "we")))
		return 0;
	return error_set(error, EXIT_ENVIRONMENT, "%.200s: cannot be written: %s", file->path, strerror(errno));
}

static int close_array(struct array_file *file, struct error *error)
{
	bool failed = ferror(file->stream);
	if (fclose(file->stream) == 0 && !failed)
		return 0;
	return error_set(error, EXIT_ENVIRONMENT, "%.200s: cannot be written: %s", file->path, strerror(errno));
}

static int write_array(
	const char *directory, size_t kernel, size_t number, const char *what, const void *values, size_t size,
	size_t count, struct error *error)
{
	struct array_file file;
	if (open_array(&file, directory, kernel, number, what, error) != 0)
		return error->exit_code;
	fwrite(values, size, count, file.stream);
	return close_array(&file, error);
}

int details_output(
	const char *directory, size_t kernel, size_t number, const struct expectation *expectation,
	const float *actual, size_t elements, struct error *error)
{
	const size_t rows = expectation->row_count, length = expectation->row_length;
	struct array_file file;
	if (write_array(directory, kernel, number, "actual", actual, sizeof *actual, elements, error) != 0 ||
	    write_array(
		    directory, kernel, number, "expected", expectation->values, sizeof *expectation->values,
		    rows * length, error) != 0 ||
	    forget_array(directory, kernel, number, "rows", error) != 0 ||
	    (expectation->rows && write_array(
					  directory, kernel, number, "rows", expectation->rows,
					  sizeof *expectation->rows, rows, error) != 0) ||
	    open_array(&file, directory, kernel, number, "ratio", error) != 0)
		return error->exit_code;
	for (size_t r = 0; r < rows; r++)
		for (size_t c = 0; c < length; c++) {
			double ratio = check_element(expectation, actual, r, c);
			fwrite(&ratio, sizeof ratio, 1, file.stream);
		}
	return close_array(&file, error);
}
