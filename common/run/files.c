#include "run/files.h"

#include "problem/load.h"
#include "support/output_file.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* One that an option names itself has no `name`; the others are of the directory that it names. */
struct file {
	char *path;
	const char *option, *name;
	bool written;
};

/* Those looked at so far. */
struct files {
	struct file *list;
	size_t count;
};

void files_run_json(const char *directory, char path[static PATH_MAX])
{
	if (snprintf(path, PATH_MAX, "%s/run.json", directory) >= PATH_MAX)
		memset(path, 'x', PATH_MAX - 1);
}

bool files_have_standard_output(const struct options *options)
{
	const char *const named[] = {options->json, options->tsv, options->explain};
	for (size_t i = 0; i < sizeof named / sizeof named[0]; i++)
		if (named[i] && strcmp(named[i], "-") == 0)
			return true;
	return false;
}

static bool is_listed(const struct files *files, const char *option, const char *name)
{
	for (size_t i = 0; i < files->count; i++)
		if (files->list[i].name == name && strcmp(files->list[i].option, option) == 0)
			return true;
	return false;
}

static int list(
	struct files *files, bool written, const char *path, const char *option, const char *name,
	struct error *error)
{
	for (size_t i = 0; i < files->count; i++) {
		const struct file *other = &files->list[i];
		if (other->name && (written || other->written) && output_file_is_same(path, other->path))
			return error_set(
				error, EXIT_USAGE, "%.200s: is %s of --%s, expected another file", path, other->name,
				other->option);
	}
	struct file *grown = realloc(files->list, (files->count + 1) * sizeof *grown);
	char *kept = strdup(path);
	if (grown)
		files->list = grown;
	if (!grown || !kept) {
		free(kept);
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the names of files");
	}
	files->list[files->count++] = (struct file){kept, option, name, written};
	return 0;
}

/* NAME.npy of a directory, once, however many kernels have the tensor. */
static int list_tensor(
	struct files *files, bool written, const char *directory, const char *option, const char *tensor,
	struct error *error)
{
	char path[PATH_MAX];
	tensor_path(directory, tensor, path, sizeof path);
	if (is_listed(files, option, tensor))
		return 0;
	if (written && output_directory_check(directory, path, error) != 0)
		return error->exit_code;
	return list(files, written, path, option, tensor, error);
}

static int list_tensors(
	struct files *files, const struct kernel *kernel, const struct options *options, struct error *error)
{
	const char *load = options->problem.load, *save = options->save, *details = options->details;
	for (const struct tensor *tensor = kernel->tensors; tensor->name; tensor++) {
		bool input = tensor_is_input(tensor), output = tensor_is_output(tensor);
		if ((input && load && list_tensor(files, false, load, "load", tensor->name, error) != 0) ||
		    (input && details && list_tensor(files, true, details, "details", tensor->name, error) != 0) ||
		    (output && save && list_tensor(files, true, save, "save", tensor->name, error) != 0))
			return error->exit_code;
	}
	return 0;
}

/* One that an option names: not in the directory of --details either, where any name may be an array's. */
static int list_named(
	struct files *files, const char *path, const char *option, const char *details, struct error *error)
{
	char there[PATH_MAX];
	if (!path)
		return 0;
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	if (details && snprintf(there, sizeof there, "%s/%s", details, name) < PATH_MAX &&
	    output_file_is_same(path, there))
		return error_set(error, EXIT_USAGE, "%.200s: is %s of --details, expected another file", path, name);
	return output_file_check(path, error) ? error->exit_code : list(files, true, path, option, NULL, error);
}

static int list_all(
	struct files *files, const struct kernel *kernels, size_t kernel_count, const struct options *options,
	struct error *error)
{
	char path[PATH_MAX];
	for (size_t k = 0; k < kernel_count; k++)
		if (list_tensors(files, &kernels[k], options, error) != 0)
			return error->exit_code;
	if (options->details) {
		files_run_json(options->details, path);
		if (output_directory_check(options->details, path, error) != 0 ||
		    list(files, true, path, "details", "run.json", error) != 0)
			return error->exit_code;
	}
	if (list_named(files, options->json, "json", options->details, error) != 0 ||
	    list_named(files, options->tsv, "tsv", options->details, error) != 0)
		return error->exit_code;
	return list_named(files, options->explain, "explain", options->details, error);
}

int files_check(const struct kernel *kernels, size_t kernel_count, const struct options *options, struct error *error)
{
	struct files files = {NULL, 0};
	int status = list_all(&files, kernels, kernel_count, options, error);
	for (size_t i = 0; i < files.count; i++)
		free(files.list[i].path);
	free(files.list);
	return status;
}
