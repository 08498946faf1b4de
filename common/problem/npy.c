#include "problem/npy.h"

#include "support/output_file.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { MAGIC_BYTES = 6, VERSION_BYTES = 2, HEADER_LIMIT = 1 << 16, ALIGNMENT = 64 };

static const char magic[MAGIC_BYTES + 1] = "\x93NUMPY";

const char *shape_to_text(const size_t *shape, size_t rank, char *text, size_t size)
{
	size_t used = (size_t)snprintf(text, size, "(");
	for (size_t i = 0; i < rank && used < size; i++)
		used += (size_t)snprintf(text + used, size - used, "%s%zu", i ? ", " : "", shape[i]);
	if (used < size)
		snprintf(text + used, size - used, rank == 1 ? ",)" : ")");
	return text;
}

static int unusable(struct error *error, const char *path, const char *reason)
{
	return error_set(error, EXIT_USAGE, "%s: %s", path, reason);
}

/* The text after 'key': in the header's Python dictionary; NULL if the key is not there. */
static const char *find_key(const char *header, const char *key)
{
	char quoted[32];
	snprintf(quoted, sizeof quoted, "'%s'", key);
	const char *at = strstr(header, quoted);
	if (!at)
		return NULL;
	at += strlen(quoted);
	at += strspn(at, " ");
	if (*at != ':')
		return NULL;
	return at + 1 + strspn(at + 1, " ");
}

static int parse_shape(const char *text, const char *path, struct npy *array, struct error *error)
{
	if (!text || *text != '(')
		return unusable(error, path, "its header has no shape, expected a .npy file");
	text++;
	array->rank = 0;
	size_t elements = 1;
	for (;;) {
		text += strspn(text, " ");
		if (*text == ')')
			break;
		if (*text < '0' || *text > '9')
			return unusable(error, path, "its header has a shape that is not a tuple of whole numbers");
		if (array->rank == MAX_RANK)
			return unusable(error, path, "has more than 4 dimensions, expected at most 4");
		errno = 0;
		char *end;
		unsigned long long extent = strtoull(text, &end, 10);
		if (errno || extent == 0)
			return unusable(
				error, path,
				extent ? "has a dimension that is too large" : "is empty: a dimension is 0");
		if (extent > (SIZE_MAX / sizeof(float)) / elements)
			return unusable(error, path, "is too large for this machine");
		elements *= (size_t)extent;
		array->shape[array->rank++] = (size_t)extent;
		text = end + strspn(end, " ");
		if (*text == ',')
			text++;
		else if (*text != ')')
			return unusable(error, path, "its header has a shape that is not a tuple of whole numbers");
	}
	if (array->rank == 0)
		return unusable(error, path, "holds a single number, expected an array");
	return 0;
}

static int parse_header(const char *header, const char *path, struct npy *array, struct error *error)
{
	const char *type = find_key(header, "descr"), *order = find_key(header, "fortran_order");
	if (!type || *type != '\'' || !strchr(type + 1, '\''))
		return unusable(error, path, "its header has no simple type, expected '<f4' (float32)");
	if (strncmp(type, "'<f4'", 5) != 0) {
		int length = (int)(strchr(type + 1, '\'') - type) + 1;
		bool is_double = strncmp(type, "'<f8'", 5) == 0;
		return error_set(
			error, EXIT_USAGE, "%s: type %.*s%s, expected '<f4' (float32, little endian)", path,
			length < 40 ? length : 40, type, is_double ? " (float64)" : "");
	}
	if (!order || (strncmp(order, "False", 5) != 0 && strncmp(order, "True", 4) != 0))
		return unusable(error, path, "its header does not say the order, expected C order");
	if (order[0] == 'T')
		return unusable(error, path, "is in Fortran order, expected C order (numpy.ascontiguousarray)");
	return parse_shape(find_key(header, "shape"), path, array, error);
}

static int read_header(FILE *file, const char *path, struct npy *array, struct error *error)
{
	unsigned char start[MAGIC_BYTES + VERSION_BYTES + 4];
	if (fread(start, 1, MAGIC_BYTES + VERSION_BYTES, file) != MAGIC_BYTES + VERSION_BYTES ||
	    memcmp(start, magic, MAGIC_BYTES) != 0)
		return unusable(error, path, "is not a .npy file, expected one as numpy.save writes it");
	unsigned version = start[MAGIC_BYTES];
	if (version != 1 && version != 2)
		return error_set(error, EXIT_USAGE, "%s: .npy format %u, expected 1 or 2", path, version);

	unsigned char *length_bytes = start + MAGIC_BYTES + VERSION_BYTES;
	size_t width = version == 1 ? 2 : 4, length = 0;
	if (fread(length_bytes, 1, width, file) != width)
		return unusable(error, path, "is truncated in its header");
	for (size_t i = 0; i < width; i++)
		length |= (size_t)length_bytes[i] << (8 * i);
	if (length > HEADER_LIMIT)
		return unusable(error, path, "has a header of more than 64 KiB, expected a plain fp32 array");

	char *header = malloc(length + 1);
	if (!header)
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory", path);
	int result;
	if (fread(header, 1, length, file) != length) {
		result = unusable(error, path, "is truncated in its header");
	} else {
		header[length] = '\0';
		result = parse_header(header, path, array, error);
	}
	free(header);
	return result;
}

static int read_values(FILE *file, const char *path, struct npy *array, struct error *error)
{
	size_t elements = shape_elements(array->shape, array->rank), got = 0;
	char shape[100];
	shape_to_text(array->shape, array->rank, shape, sizeof shape);

	/* The buffer grows with what arrives: a header that promises terabytes costs nothing. */
	size_t capacity = 0;
	while (got < elements) {
		if (got == capacity) {
			capacity = capacity ? 2 * capacity : 1 << 16;
			if (capacity > elements)
				capacity = elements;
			float *larger = realloc(array->values, capacity * sizeof *larger);
			if (!larger)
				return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory", path);
			array->values = larger;
		}
		size_t now = fread(array->values + got, sizeof(float), capacity - got, file);
		if (now == 0)
			break;
		got += now;
	}
	if (got < elements)
		return error_set(
			error, EXIT_USAGE, "%s: truncated: holds %zu of the %zu elements that its shape %s requires",
			path, got, elements, shape);
	if (fgetc(file) != EOF)
		return error_set(error, EXIT_USAGE, "%s: longer than its shape %s requires", path, shape);
	return 0;
}

static int refuse_non_finite(
	const char *path, const struct npy *array, bool allow_minus_infinity, struct error *error)
{
	size_t elements = shape_elements(array->shape, array->rank);
	for (size_t i = 0; i < elements; i++) {
		float value = array->values[i];
		if (isfinite(value) || (allow_minus_infinity && isinf(value) && value < 0))
			continue;
		size_t at[MAX_RANK], rest = i;
		for (size_t axis = array->rank; axis-- > 0; rest /= array->shape[axis])
			at[axis] = rest % array->shape[axis];
		char where[100];
		return error_set(
			error, EXIT_USAGE, "%s: %s at %s, expected finite numbers%s", path,
			isnan(value) ? "NaN"
			: value > 0  ? "Inf"
				     : "-Inf",
			shape_to_text(at, array->rank, where, sizeof where), allow_minus_infinity ? " or -Inf" : "");
	}
	return 0;
}

int npy_read(const char *path, bool allow_minus_infinity, struct npy *array, struct error *error)
{
	memset(array, 0, sizeof *array);
	FILE *file = fopen(path, "rb");
	if (!file)
		return error_set(error, EXIT_USAGE, "%s: cannot be read: %s", path, strerror(errno));
	int result = read_header(file, path, array, error);
	if (!result)
		result = read_values(file, path, array, error);
	if (!result)
		result = refuse_non_finite(path, array, allow_minus_infinity, error);
	fclose(file);
	if (result) {
		free(array->values);
		array->values = NULL;
	}
	return result;
}

int npy_write(const char *path, const float *values, const size_t *shape, size_t rank, struct error *error)
{
	struct output_file file;
	if (output_file_open(&file, path, error) != 0)
		return error->exit_code;

	/* The header is padded with spaces so that the data start at a multiple of 64 bytes. */
	char shape_text[100], header[256];
	int length = snprintf(
		header, sizeof header, "{'descr': '<f4', 'fortran_order': False, 'shape': %s, }",
		shape_to_text(shape, rank, shape_text, sizeof shape_text));
	size_t start = MAGIC_BYTES + VERSION_BYTES + 2;
	size_t padded = (start + (size_t)length + 1 + ALIGNMENT - 1) / ALIGNMENT * ALIGNMENT - start;
	memset(header + length, ' ', padded - (size_t)length);
	header[padded - 1] = '\n';

	fwrite(magic, 1, MAGIC_BYTES, file.stream);
	fputc(1, file.stream);
	fputc(0, file.stream);
	fputc((int)(padded & 0xff), file.stream);
	fputc((int)(padded >> 8), file.stream);
	fwrite(header, 1, padded, file.stream);
	fwrite(values, sizeof *values, shape_elements(shape, rank), file.stream);
	return output_file_commit(&file, error);
}
