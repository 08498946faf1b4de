#include "model/gguf.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

enum { VERSION = 3, DEFAULT_ALIGNMENT = 32, MAX_ALIGNMENT = 1 << 20, DIMENSIONS = 4, SHOWN = 60 };

/* The fewest bytes that a key or a tensor takes in the header: they limit how many of them a file can have. */
enum { KEY_BYTES = 8 + 1 + 4 + 1, TENSOR_BYTES = 8 + 1 + 4 + 8 + 4 + 8, STRING_BYTES = 8 };

/* GGUF's types of values. */
enum type { UINT8, INT8, UINT16, INT16, UINT32, INT32, FLOAT32, BOOL, STRING, ARRAY, UINT64, INT64, FLOAT64, TYPES };

static const struct {
	const char *name;
	size_t bytes; /* 0: it depends */
} types[TYPES] = {
	[UINT8] = {"uint8", 1},     [INT8] = {"int8", 1},   [UINT16] = {"uint16", 2},   [INT16] = {"int16", 2},
	[UINT32] = {"uint32", 4},   [INT32] = {"int32", 4}, [FLOAT32] = {"float32", 4}, [BOOL] = {"bool", 1},
	[STRING] = {"string", 0},   [ARRAY] = {"array", 0}, [UINT64] = {"uint64", 8},   [INT64] = {"int64", 8},
	[FLOAT64] = {"float64", 8},
};

struct key {
	struct gguf_string name;
	uint32_t type; /* of the value; of the elements of an array */
	bool array;
	size_t count; /* elements; 1 if it is no array */
	size_t at;    /* where the value, or the first element, begins in the file */
};

struct tensor {
	struct gguf_string name;
	uint32_t rank, encoding;
	uint64_t extent[DIMENSIONS]; /* columns first; 1 beyond the rank */
	uint64_t offset, bytes;      /* in the data; bytes 0: an encoding that is not read here */
};

struct gguf {
	char *path;
	const unsigned char *bytes;
	size_t size, data; /* bytes of the file; where the tensors' data begin */
	struct key *keys;  /* sorted by name */
	size_t key_count;
	struct tensor *tensors; /* sorted by name */
	size_t tensor_count;
	size_t at; /* while the header is read: the next byte */
};

/* A name from a file in a message: its beginning, and nothing but printable ASCII. */
struct shown {
	char text[SHOWN + 4];
};

static struct shown shown(struct gguf_string name)
{
	struct shown printable = {{0}};
	for (size_t i = 0; i < name.length && i < SHOWN; i++)
		printable.text[i] = isprint((unsigned char)name.bytes[i]) ? name.bytes[i] : '?';
	if (name.length > SHOWN)
		strcat(printable.text, "...");
	return printable;
}

static const char *type_name(uint32_t type)
{
	return type < TYPES ? types[type].name : "unknown";
}

/* ---- reading the header: every length is compared with what is left of the file ---- */

static int truncated(const struct gguf *gguf, const char *what, struct error *error)
{
	return error_set(
		error, EXIT_USAGE, "%s: ends in %s, which begins at byte %zu of %zu", gguf->path, what, gguf->at,
		gguf->size);
}

static size_t left(const struct gguf *gguf)
{
	return gguf->size - gguf->at;
}

static int read_u32(struct gguf *gguf, const char *what, uint32_t *value, struct error *error)
{
	if (left(gguf) < sizeof *value)
		return truncated(gguf, what, error);
	memcpy(value, gguf->bytes + gguf->at, sizeof *value);
	gguf->at += sizeof *value;
	return 0;
}

static int read_u64(struct gguf *gguf, const char *what, uint64_t *value, struct error *error)
{
	if (left(gguf) < sizeof *value)
		return truncated(gguf, what, error);
	memcpy(value, gguf->bytes + gguf->at, sizeof *value);
	gguf->at += sizeof *value;
	return 0;
}

static int read_string(struct gguf *gguf, const char *what, struct gguf_string *string, struct error *error)
{
	uint64_t length = 0;
	if (read_u64(gguf, what, &length, error))
		return error->exit_code;
	if (length > left(gguf))
		return error_set(
			error, EXIT_USAGE, "%s: %s at byte %zu has %" PRIu64 " bytes, but the file has only %zu more",
			gguf->path, what, gguf->at - sizeof length, length, left(gguf));
	*string = (struct gguf_string){(const char *)gguf->bytes + gguf->at, (size_t)length};
	gguf->at += (size_t)length;
	return 0;
}

/* Reads a name, which has to have a byte at least. */
static int read_name(struct gguf *gguf, const char *what, struct gguf_string *name, struct error *error)
{
	size_t at = gguf->at;
	if (read_string(gguf, what, name, error))
		return error->exit_code;
	if (name->length == 0)
		return error_set(error, EXIT_USAGE, "%s: %s at byte %zu is empty", gguf->path, what, at);
	return 0;
}

static int bad_type(const struct gguf *gguf, const struct key *key, uint32_t type, struct error *error)
{
	return error_set(
		error, EXIT_USAGE, "%s: key %s has a value of type %" PRIu32 "%s, expected 0 to 12", gguf->path,
		shown(key->name).text, type, key->array && type == ARRAY ? " in an array (an array of arrays)" : "");
}

/* Steps over the elements; afterwards all of them are known to be in the file. */
static int skip_elements(struct gguf *gguf, uint64_t count, struct key *key, struct error *error)
{
	size_t bytes = types[key->type].bytes;
	if (count > left(gguf) / (bytes ? bytes : STRING_BYTES))
		return error_set(
			error, EXIT_USAGE,
			"%s: key %s has %" PRIu64 " values of type %s, but the file has only %zu more bytes",
			gguf->path, shown(key->name).text, count, type_name(key->type), left(gguf));
	key->count = (size_t)count;
	key->at = gguf->at;
	struct gguf_string string;
	if (key->type == STRING) {
		for (size_t i = 0; i < key->count; i++)
			if (read_string(gguf, "a string", &string, error))
				return error->exit_code;
		return 0;
	}
	if (key->type == BOOL)
		for (size_t i = 0; i < key->count; i++)
			if (gguf->bytes[key->at + i] > 1)
				return error_set(
					error, EXIT_USAGE, "%s: key %s has the truth value %d, expected 0 or 1",
					gguf->path, shown(key->name).text, gguf->bytes[key->at + i]);
	gguf->at += key->count * bytes;
	return 0;
}

static int read_key(struct gguf *gguf, struct key *key, struct error *error)
{
	*key = (struct key){.array = false};
	uint64_t count = 1;
	if (read_name(gguf, "the name of a key", &key->name, error) ||
	    read_u32(gguf, "the type of a value", &key->type, error))
		return error->exit_code;
	if (key->type == ARRAY) {
		key->array = true;
		if (read_u32(gguf, "the type of an array", &key->type, error) ||
		    read_u64(gguf, "the length of an array", &count, error))
			return error->exit_code;
	}
	if (key->type >= TYPES || key->type == ARRAY)
		return bad_type(gguf, key, key->type, error);
	return skip_elements(gguf, count, key, error);
}

/* Bytes of a tensor, if it has one of our encodings. */
static int measure_tensor(const struct gguf *gguf, struct tensor *tensor, struct error *error)
{
	struct shown name = shown(tensor->name);
	uint64_t elements = 1, most = 8 * (uint64_t)gguf->size; /* no encoding has less than a bit for a weight */
	for (uint32_t i = 0; i < tensor->rank; i++) {
		if (tensor->extent[i] == 0)
			return error_set(
				error, EXIT_USAGE, "%s: tensor %s has a dimension of 0", gguf->path, name.text);
		if (tensor->extent[i] > most / elements)
			return error_set(
				error, EXIT_USAGE, "%s: tensor %s has more elements than the file has bits",
				gguf->path, name.text);
		elements *= tensor->extent[i];
	}
	if (!encoding_is_known(tensor->encoding))
		return 0;
	if (tensor->encoding != ENCODING_F32 && tensor->extent[0] % BLOCK_WEIGHTS != 0)
		return error_set(
			error, EXIT_USAGE, "%s: tensor %s is %s with rows of %" PRIu64 ", expected a multiple of %d",
			gguf->path, name.text, encoding_name(tensor->encoding), tensor->extent[0], BLOCK_WEIGHTS);
	tensor->bytes = matrix_row_bytes((enum encoding)tensor->encoding, (size_t)elements);
	return 0;
}

static int read_tensor(struct gguf *gguf, struct tensor *tensor, struct error *error)
{
	*tensor = (struct tensor){.extent = {1, 1, 1, 1}};
	if (read_name(gguf, "the name of a tensor", &tensor->name, error) ||
	    read_u32(gguf, "the rank of a tensor", &tensor->rank, error))
		return error->exit_code;
	if (tensor->rank == 0 || tensor->rank > DIMENSIONS)
		return error_set(
			error, EXIT_USAGE, "%s: tensor %s has %" PRIu32 " dimensions, expected 1 to %d", gguf->path,
			shown(tensor->name).text, tensor->rank, DIMENSIONS);
	for (uint32_t i = 0; i < tensor->rank; i++)
		if (read_u64(gguf, "the shape of a tensor", &tensor->extent[i], error))
			return error->exit_code;
	if (read_u32(gguf, "the encoding of a tensor", &tensor->encoding, error) ||
	    read_u64(gguf, "the offset of a tensor", &tensor->offset, error))
		return error->exit_code;
	return measure_tensor(gguf, tensor, error);
}

/* ---- what is checked when all of it is read ---- */

static int compare_names(const struct gguf_string *a, const struct gguf_string *b)
{
	int order = memcmp(a->bytes, b->bytes, a->length < b->length ? a->length : b->length);
	return order ? order : (a->length > b->length) - (a->length < b->length);
}

static int compare_keys(const void *a, const void *b)
{
	return compare_names(&((const struct key *)a)->name, &((const struct key *)b)->name);
}

static int compare_tensors(const void *a, const void *b)
{
	return compare_names(&((const struct tensor *)a)->name, &((const struct tensor *)b)->name);
}

static int compare_offsets(const void *a, const void *b)
{
	const struct tensor *first = a, *second = b;
	return (first->offset > second->offset) - (first->offset < second->offset);
}

static int twice(const struct gguf *gguf, const char *what, struct gguf_string name, struct error *error)
{
	return error_set(error, EXIT_USAGE, "%s: %s %s occurs twice", gguf->path, what, shown(name).text);
}

static int sort_keys(struct gguf *gguf, struct error *error)
{
	qsort(gguf->keys, gguf->key_count, sizeof *gguf->keys, compare_keys);
	for (size_t i = 1; i < gguf->key_count; i++)
		if (compare_keys(&gguf->keys[i - 1], &gguf->keys[i]) == 0)
			return twice(gguf, "key", gguf->keys[i].name, error);
	return 0;
}

/* Each tensor lies in the file, where its alignment wants it, and in no other. Leaves them sorted by name. */
static int place_tensors(struct gguf *gguf, uint64_t alignment, struct error *error)
{
	gguf->data = gguf->at + (size_t)((alignment - gguf->at % alignment) % alignment);
	uint64_t size = gguf->data < gguf->size ? gguf->size - gguf->data : 0, end = 0;
	qsort(gguf->tensors, gguf->tensor_count, sizeof *gguf->tensors, compare_offsets);
	for (size_t i = 0; i < gguf->tensor_count; i++) {
		const struct tensor *tensor = &gguf->tensors[i];
		struct shown name = shown(tensor->name);
		if (tensor->offset % alignment != 0)
			return error_set(
				error, EXIT_USAGE,
				"%s: tensor %s is at offset %" PRIu64 ", expected a multiple of %" PRIu64, gguf->path,
				name.text, tensor->offset, alignment);
		if (tensor->offset > size || tensor->bytes > size - tensor->offset)
			return error_set(
				error, EXIT_USAGE,
				"%s: tensor %s has %" PRIu64 " bytes at offset %" PRIu64
				" of the data, which have %" PRIu64 " bytes",
				gguf->path, name.text, tensor->bytes, tensor->offset, size);
		if (tensor->offset < end)
			return error_set(
				error, EXIT_USAGE, "%s: tensor %s at offset %" PRIu64 " overlaps the one before it",
				gguf->path, name.text, tensor->offset);
		end = tensor->offset + tensor->bytes;
	}
	qsort(gguf->tensors, gguf->tensor_count, sizeof *gguf->tensors, compare_tensors);
	for (size_t i = 1; i < gguf->tensor_count; i++)
		if (compare_tensors(&gguf->tensors[i - 1], &gguf->tensors[i]) == 0)
			return twice(gguf, "tensor", gguf->tensors[i].name, error);
	return 0;
}

/* "GGUF" and the version. */
static int read_start(struct gguf *gguf, struct error *error)
{
	uint32_t version = 0;
	if (gguf->size < 4 || memcmp(gguf->bytes, "GGUF", 4) != 0)
		return error_set(
			error, EXIT_USAGE, "%s: is not a GGUF file, expected one that begins with GGUF", gguf->path);
	gguf->at = 4;
	if (read_u32(gguf, "the version", &version, error))
		return error->exit_code;
	if (version == (uint32_t)VERSION << 24)
		return error_set(
			error, EXIT_USAGE, "%s: is big endian, expected a little-endian GGUF file", gguf->path);
	if (version != VERSION)
		return error_set(
			error, EXIT_USAGE, "%s: is GGUF version %" PRIu32 ", expected version %d", gguf->path,
			version, VERSION);
	return 0;
}

/* How many keys or tensors there are; not more than can be in what is left of the file. */
static int read_count(struct gguf *gguf, const char *what, size_t fewest_bytes, size_t *count, struct error *error)
{
	uint64_t number = 0;
	if (read_u64(gguf, what, &number, error))
		return error->exit_code;
	if (number > left(gguf) / fewest_bytes)
		return error_set(
			error, EXIT_USAGE, "%s: %s is %" PRIu64 ", but the file has only %zu more bytes", gguf->path,
			what, number, left(gguf));
	*count = (size_t)number;
	return 0;
}

static int read_alignment(const struct gguf *gguf, uint64_t *alignment, struct error *error)
{
	*alignment = DEFAULT_ALIGNMENT;
	if (!gguf_has(gguf, "general.alignment"))
		return 0;
	if (gguf_number(gguf, "general.alignment", alignment, error))
		return error->exit_code;
	if (*alignment < 8 || *alignment > MAX_ALIGNMENT || (*alignment & (*alignment - 1)) != 0)
		return error_set(
			error, EXIT_USAGE,
			"%s: general.alignment is %" PRIu64 ", expected a power of two from 8 to %d", gguf->path,
			*alignment, MAX_ALIGNMENT);
	return 0;
}

static int read_header(struct gguf *gguf, struct error *error)
{
	uint64_t alignment;
	if (read_start(gguf, error) ||
	    read_count(gguf, "the number of tensors", TENSOR_BYTES, &gguf->tensor_count, error) ||
	    read_count(gguf, "the number of keys", KEY_BYTES, &gguf->key_count, error))
		return error->exit_code;
	gguf->keys = malloc((gguf->key_count + 1) * sizeof *gguf->keys);
	gguf->tensors = malloc((gguf->tensor_count + 1) * sizeof *gguf->tensors);
	if (!gguf->keys || !gguf->tensors)
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory for its header", gguf->path);
	for (size_t i = 0; i < gguf->key_count; i++)
		if (read_key(gguf, &gguf->keys[i], error))
			return error->exit_code;
	for (size_t i = 0; i < gguf->tensor_count; i++)
		if (read_tensor(gguf, &gguf->tensors[i], error))
			return error->exit_code;
	if (sort_keys(gguf, error) || read_alignment(gguf, &alignment, error))
		return error->exit_code;
	return place_tensors(gguf, alignment, error);
}

/* ---- the file ---- */

/* Not blocking: a pipe without a writer must not hang. */
static int map_file(struct gguf *gguf, struct error *error)
{
	int file = open(gguf->path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	if (file < 0 || fstat(file, &status) != 0) {
		int reason = errno;
		if (file >= 0)
			close(file);
		return error_set(error, EXIT_USAGE, "%s: %s, expected a GGUF file", gguf->path, strerror(reason));
	}
	const char *wrong = S_ISDIR(status.st_mode)    ? "is a directory"
	                    : !S_ISREG(status.st_mode) ? "is no regular file"
	                    : status.st_size == 0      ? "is empty"
	                                               : NULL;
	if (wrong) {
		close(file);
		return error_set(error, EXIT_USAGE, "%s: %s, expected a GGUF file", gguf->path, wrong);
	}
	void *bytes = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	int reason = errno;
	close(file);
	if (bytes == MAP_FAILED)
		return error_set(
			error, EXIT_ENVIRONMENT, "%s: cannot be mapped into memory: %s", gguf->path,
			strerror(reason));
	gguf->bytes = bytes;
	gguf->size = (size_t)status.st_size;
	return 0;
}

int gguf_open(const char *path, struct gguf **gguf, struct error *error)
{
	*gguf = NULL;
	struct gguf *opened = calloc(1, sizeof *opened);
	if (!opened || !(opened->path = strdup(path))) {
		free(opened);
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory", path);
	}
	if (map_file(opened, error) || read_header(opened, error)) {
		gguf_close(opened);
		return error->exit_code;
	}
	*gguf = opened;
	return 0;
}

void gguf_close(struct gguf *gguf)
{
	if (!gguf)
		return;
	if (gguf->bytes)
		munmap((void *)(uintptr_t)gguf->bytes, gguf->size);
	free(gguf->keys);
	free(gguf->tensors);
	free(gguf->path);
	free(gguf);
}

const char *gguf_path(const struct gguf *gguf)
{
	return gguf->path;
}

/* ---- values ---- */

static const struct key *find_key(const struct gguf *gguf, const char *name)
{
	struct key wanted = {.name = {name, strlen(name)}};
	return bsearch(&wanted, gguf->keys, gguf->key_count, sizeof *gguf->keys, compare_keys);
}

const void *gguf_bytes(const struct gguf *gguf, size_t *size)
{
	*size = gguf->size;
	return gguf->bytes;
}

bool gguf_has(const struct gguf *gguf, const char *key)
{
	return find_key(gguf, key) != NULL;
}

/* The key, which has to be there. */
static int require_key(const struct gguf *gguf, const char *name, const struct key **key, struct error *error)
{
	*key = find_key(gguf, name);
	if (!*key)
		return error_set(error, EXIT_USAGE, "%s: has no key %s", gguf->path, name);
	return 0;
}

static int wrong_type(const struct gguf *gguf, const struct key *key, const char *expected, struct error *error)
{
	return error_set(
		error, EXIT_USAGE, "%s: key %s is %s%s, expected %s", gguf->path, shown(key->name).text,
		key->array ? "an array of " : "", type_name(key->type), expected);
}

int gguf_number(const struct gguf *gguf, const char *name, uint64_t *value, struct error *error)
{
	const struct key *key;
	if (require_key(gguf, name, &key, error))
		return error->exit_code;
	if (key->array || key->type == STRING || key->type == FLOAT32 || key->type == FLOAT64)
		return wrong_type(gguf, key, "a whole number", error);
	size_t bytes = types[key->type].bytes;
	bool is_signed = key->type == INT8 || key->type == INT16 || key->type == INT32 || key->type == INT64;
	*value = 0;
	memcpy(value, gguf->bytes + key->at, bytes); /* little endian, as the machine */
	if (is_signed && *value >> (8 * bytes - 1))
		return error_set(error, EXIT_USAGE, "%s: key %s is negative", gguf->path, name);
	return 0;
}

int gguf_real(const struct gguf *gguf, const char *name, double *value, struct error *error)
{
	const struct key *key;
	if (require_key(gguf, name, &key, error))
		return error->exit_code;
	if (key->array || (key->type != FLOAT32 && key->type != FLOAT64))
		return wrong_type(gguf, key, "a real number", error);
	float single;
	if (key->type == FLOAT32) {
		memcpy(&single, gguf->bytes + key->at, sizeof single);
		*value = (double)single;
	} else {
		memcpy(value, gguf->bytes + key->at, sizeof *value);
	}
	if (!isfinite(*value))
		return error_set(error, EXIT_USAGE, "%s: key %s is not a finite number", gguf->path, name);
	return 0;
}

/* The string at `at`, which gguf_open has seen; steps over it. */
static struct gguf_string string_at(const struct gguf *gguf, size_t *at)
{
	uint64_t length;
	memcpy(&length, gguf->bytes + *at, sizeof length);
	struct gguf_string string = {(const char *)gguf->bytes + *at + sizeof length, (size_t)length};
	*at += sizeof length + (size_t)length;
	return string;
}

int gguf_text(const struct gguf *gguf, const char *name, struct gguf_string *text, struct error *error)
{
	const struct key *key;
	if (require_key(gguf, name, &key, error))
		return error->exit_code;
	if (key->array || key->type != STRING)
		return wrong_type(gguf, key, "a string", error);
	size_t at = key->at;
	*text = string_at(gguf, &at);
	return 0;
}

/* The array of that type, not empty, and memory for `size` bytes for each of its elements. */
static int require_array(
	const struct gguf *gguf, const char *name, enum type type, size_t size, const struct key **key, void **memory,
	struct error *error)
{
	if (require_key(gguf, name, key, error))
		return error->exit_code;
	if (!(*key)->array || (*key)->type != (uint32_t)type) {
		char expected[40];
		snprintf(expected, sizeof expected, "an array of %s", type_name(type));
		return wrong_type(gguf, *key, expected, error);
	}
	if ((*key)->count == 0)
		return error_set(error, EXIT_USAGE, "%s: key %s is an empty array", gguf->path, name);
	*memory = calloc((*key)->count, size);
	if (!*memory)
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory for %s", gguf->path, name);
	return 0;
}

int gguf_strings(
	const struct gguf *gguf, const char *name, struct gguf_string **strings, size_t *count, struct error *error)
{
	const struct key *key;
	void *memory;
	if (require_array(gguf, name, STRING, sizeof **strings, &key, &memory, error))
		return error->exit_code;
	*strings = memory;
	*count = key->count;
	size_t at = key->at;
	for (size_t i = 0; i < key->count; i++)
		(*strings)[i] = string_at(gguf, &at);
	return 0;
}

int gguf_numbers(const struct gguf *gguf, const char *name, int32_t **numbers, size_t *count, struct error *error)
{
	const struct key *key;
	void *memory;
	if (require_array(gguf, name, INT32, sizeof **numbers, &key, &memory, error))
		return error->exit_code;
	*numbers = memory;
	*count = key->count;
	memcpy(*numbers, gguf->bytes + key->at, key->count * sizeof **numbers);
	return 0;
}

/* ---- tensors ---- */

static const struct tensor *find_tensor(const struct gguf *gguf, const char *name)
{
	struct tensor wanted = {.name = {name, strlen(name)}};
	return bsearch(&wanted, gguf->tensors, gguf->tensor_count, sizeof *gguf->tensors, compare_tensors);
}

bool gguf_has_tensor(const struct gguf *gguf, const char *name)
{
	return find_tensor(gguf, name) != NULL;
}

size_t gguf_tensor_count(const struct gguf *gguf)
{
	return gguf->tensor_count;
}

/* The tensor, of `rank` dimensions: columns, and rows or 1. */
static int require_tensor(
	const struct gguf *gguf, const char *name, uint32_t rank, size_t rows, size_t columns,
	const struct tensor **tensor, struct error *error)
{
	*tensor = find_tensor(gguf, name);
	if (!*tensor)
		return error_set(error, EXIT_USAGE, "%s: has no tensor %s", gguf->path, name);
	const uint64_t *extent = (*tensor)->extent;
	if ((*tensor)->rank != rank || extent[0] != columns || extent[1] != rows) {
		char found[100] = "", expected[50] = "";
		size_t used = 0;
		for (uint32_t i = (*tensor)->rank; i-- > 0;)
			used += (size_t)snprintf(
				found + used, sizeof found - used, "%" PRIu64 "%s", extent[i], i ? ", " : "");
		if (rank > 1)
			snprintf(expected, sizeof expected, "%zu, ", rows);
		return error_set(
			error, EXIT_USAGE, "%s: tensor %s is [%s], expected [%s%zu]", gguf->path, name, found,
			expected, columns);
	}
	return 0;
}

static int check_finite(const struct gguf *gguf, const char *name, const struct matrix *matrix, struct error *error)
{
	size_t index;
	return matrix_is_broken(matrix, &index)
	               ? error_set(
				 error, EXIT_USAGE,
				 "%s: tensor %s has a NaN or infinite weight at element %zu, "
				 "expected numbers",
				 gguf->path, name, index)
	               : 0;
}

int gguf_matrix(
	const struct gguf *gguf, const char *name, size_t rows, size_t columns, struct matrix *matrix,
	struct error *error)
{
	const struct tensor *tensor;
	if (require_tensor(gguf, name, 2, rows, columns, &tensor, error))
		return error->exit_code;
	if (!encoding_is_known(tensor->encoding))
		return error_set(
			error, EXIT_USAGE, "%s: tensor %s has encoding %" PRIu32 " (%s), expected F32, Q4_1 or Q8_0",
			gguf->path, name, tensor->encoding, encoding_name(tensor->encoding));
	*matrix = (struct matrix){
		(enum encoding)tensor->encoding, rows, columns, gguf->bytes + gguf->data + tensor->offset};
	return check_finite(gguf, name, matrix, error);
}

int gguf_vector(const struct gguf *gguf, const char *name, size_t length, const float **values, struct error *error)
{
	const struct tensor *tensor;
	if (require_tensor(gguf, name, 1, 1, length, &tensor, error))
		return error->exit_code;
	if (tensor->encoding != ENCODING_F32)
		return error_set(
			error, EXIT_USAGE, "%s: tensor %s has encoding %" PRIu32 " (%s), expected F32", gguf->path,
			name, tensor->encoding, encoding_name(tensor->encoding));
	*values = (const float *)(const void *)(gguf->bytes + gguf->data + tensor->offset);
	return check_finite(gguf, name, &(struct matrix){ENCODING_F32, 1, length, *values}, error);
}
