#include "problem/load.h"

#include "problem/dimensions.h"
#include "support/output_file.h"

#include <ctype.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *tensor_path(const char *directory, const char *tensor, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "%s/", directory);
	for (; *tensor && used + 1 < size; tensor++)
		text[used++] = (char)tolower((unsigned char)*tensor);
	if (used < size)
		snprintf(text + used, size - used, ".npy");
	return text;
}

int load_tensor(
	const char *directory, const char *tensor, const char *letters, bool may_be_minus_infinity,
	struct problem *problem, uint64_t *fixed, float **values, struct error *error)
{
	char path[PATH_MAX], got[100], source[PATH_MAX + 120];
	struct npy array;
	tensor_path(directory, tensor, path, sizeof path);
	if (npy_read(path, may_be_minus_infinity, &array, error) != 0)
		return error->exit_code;

	size_t rank = strlen(letters);
	int result = 0;
	snprintf(
		source, sizeof source, "%s: shape %s", path, shape_to_text(array.shape, array.rank, got, sizeof got));
	if (array.rank != rank)
		result = error_set(error, EXIT_USAGE, "%s, expected %zu dimensions", source, rank);
	for (size_t axis = 0; axis < rank && !result; axis++)
		result = dimension_fix(source, letters[axis], array.shape[axis], problem, fixed, error);
	if (result)
		free(array.values);
	else
		*values = array.values;
	return result;
}

bool tensor_file_exists(const char *directory, const char *tensor)
{
	char path[PATH_MAX];
	struct stat status;
	return stat(tensor_path(directory, tensor, path, sizeof path), &status) == 0 || errno != ENOENT;
}

int save_tensor(
	const char *directory, const char *tensor, const float *values, const size_t *shape, size_t rank,
	struct error *error)
{
	char path[PATH_MAX];
	mkdir(directory, 0777); /* if that fails, so does the write, with the better message */
	return npy_write(tensor_path(directory, tensor, path, sizeof path), values, shape, rank, error);
}
