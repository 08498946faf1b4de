/*
 * What common/model makes of files, for tests/model/test_*.py. Built with the address and the undefined-behaviour
 * sanitizer, and with language_model.c's mmap as a copy in the heap: a read beyond the file, even of one byte, is then a report
 * and exit 1.
 *
 *   files open FILE               the model's shape; on an error its line on stderr and its exit code
 *   files read FILE               as open, and every weight is read, the texts below are encoded
 *   files cut FILE                the first n bytes of it as a file, for every n up to 16384, then some, and again as a file
 *                                 that says it has so many: each must be refused
 *   files fuzz FILE SEED COUNT    COUNT copies of it with random changes, most with a right checksum: each is refused with one line or can be read
 *   files encode FILE             stdin: texts, each a 32-bit length and its bytes; a line for each: ids, or "error: ..."
 *   files chat FILE SYSTEM USER   the ids of a conversation; SYSTEM "-": the default
 *   files classes                 runs of characters of one class: first, last, class
 */
#include "model/language_model.h"
#include "model/unicode.h"
#include "support/random.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

/* language_model.c is compiled with these for mmap and munmap. */
void *copy_of_file(void *where, size_t size, int protection, int flags, int file, off_t offset)
{
	(void)where, (void)protection, (void)flags;
	char *copy = malloc(size);
	for (size_t got = 0; copy && got < size;) {
		ssize_t now = pread(file, copy + got, size - got, offset + (off_t)got);
		if (now <= 0)
			abort();
		got += (size_t)now;
	}
	return copy ? copy : MAP_FAILED;
}

int free_copy(void *copy, size_t size)
{
	(void)size;
	free(copy);
	return 0;
}

static _Noreturn void fail(const struct error *error)
{
	fprintf(stderr, "%s\n", error->message);
	exit(error->exit_code);
}

static _Noreturn void wrong(const char *what, uint64_t which)
{
	fprintf(stderr, "files: %s (%" PRIu64 ")\n", what, which);
	exit(1);
}

/* ---- everything a model is asked for ---- */

static double sum_of_matrix(const struct matrix *matrix)
{
	float *values = malloc(matrix->columns * sizeof *values);
	double sum = 0;
	for (size_t row = 0; values && row < matrix->rows; row++) {
		matrix_row(matrix, row, values);
		for (size_t i = 0; i < matrix->columns; i++)
			sum += (double)values[i];
	}
	free(values);
	return sum;
}

static double sum_of_vector(const float *values, int count)
{
	double sum = 0;
	for (int i = 0; i < count; i++)
		sum += (double)values[i];
	return sum;
}

/* Reads each weight, so that a sanitizer sees one that is not in the file. */
static double sum_of_weights(const struct language_model *model)
{
	double sum = sum_of_matrix(&model->embedding) + sum_of_matrix(&model->output) +
	             sum_of_vector(model->output_norm, model->width);
	for (int i = 0; i < model->layers; i++) {
		const struct layer_weights *layer = &model->layer[i];
		const struct matrix *const matrices[] = {&layer->q,    &layer->k,  &layer->v,   &layer->o,
		                                         &layer->gate, &layer->up, &layer->down};
		for (size_t j = 0; j < sizeof matrices / sizeof matrices[0]; j++)
			sum += sum_of_matrix(matrices[j]);
		sum += sum_of_vector(layer->attention_norm, model->width);
		sum += sum_of_vector(layer->feed_forward_norm, model->width);
	}
	return sum;
}

/* Encodes; the bytes of the tokens must be the text again. */
static int encode_and_back(
	const struct tokenizer *tokenizer, const char *text, size_t length, struct tokens *tokens,
	struct error *error)
{
	tokens->count = 0;
	if (tokenizer_encode(tokenizer, text, length, tokens, error))
		return error->exit_code;
	size_t at = 0;
	for (size_t i = 0; i < tokens->count; i++) {
		size_t bytes;
		const char *part = tokenizer_bytes(tokenizer, tokens->ids[i], &bytes);
		if (bytes > length - at || memcmp(text + at, part, bytes) != 0)
			wrong("a text did not come back from its tokens, first at byte", at);
		at += bytes;
	}
	if (at != length)
		wrong("a text came back shorter", at);
	return 0;
}

static void encode_some(const struct language_model *model)
{
	static const char *const texts[] = {"",
	                                    "the sums of the kernels",
	                                    "  12\n\n x's ",
	                                    "\xc3\xa9\xe6\xb3\xa8\xf0\x9f\x99\x82",
	                                    "\xff",
	                                    "<|im_end|>"};
	struct tokens tokens = {0};
	struct error error = {0};
	for (size_t i = 0; i < sizeof texts / sizeof texts[0]; i++)
		if (encode_and_back(&model->tokenizer, texts[i], strlen(texts[i]), &tokens, &error) &&
		    error.exit_code != EXIT_USAGE)
			wrong("a text was refused with another code than 2", i);
	chat_prompt(&model->tokenizer, NULL, "why?", &tokens, &error);
	tokens_free(&tokens);
}

/* Opens and reads all of it; the exit code. A refusal must be a line, and of the file. */
static int try_file(const char *path, struct error *error)
{
	struct language_model model;
	*error = (struct error){0};
	if (language_model_open(path, &model, error)) {
		if (error->exit_code != EXIT_USAGE || strncmp(error->message, path, strlen(path)) != 0 ||
		    error->message[strlen(path)] != ':')
			wrong(error->message, (uint64_t)error->exit_code);
		return error->exit_code;
	}
	sum_of_weights(&model);
	encode_some(&model);
	language_model_close(&model);
	return 0;
}

/* ---- changed files ---- */

struct file {
	unsigned char *bytes;
	size_t size;
	int number;    /* of a file in memory */
	char path[40]; /* by which it can be opened */
};

static struct file read_file(const char *path)
{
	struct file file = {.number = memfd_create("changed", 0)};
	FILE *stream = fopen(path, "rb");
	if (!stream || file.number < 0 || fseek(stream, 0, SEEK_END) != 0)
		wrong("cannot read the file", 0);
	file.size = (size_t)ftell(stream);
	rewind(stream);
	file.bytes = malloc(file.size);
	if (!file.bytes || fread(file.bytes, 1, file.size, stream) != file.size)
		wrong("cannot read the file", file.size);
	fclose(stream);
	snprintf(file.path, sizeof file.path, "/proc/self/fd/%d", file.number);
	return file;
}

static void change_file(const struct file *file, const unsigned char *bytes, size_t size)
{
	if (ftruncate(file->number, (off_t)size) != 0 || pwrite(file->number, bytes, size, 0) != (ssize_t)size)
		wrong("cannot write the changed file", size);
}

/* Length and checksum as they have to be (tools/lib/flat_model.py). */
static void seal(unsigned char *bytes, size_t size)
{
	uint64_t length = size;
	if (size < 24)
		return;
	memcpy(bytes + 16, &length, sizeof length);
	uint32_t checksum = checksum_of(bytes + 16, size - 16);
	memcpy(bytes + 12, &checksum, sizeof checksum);
}

static int cut(const char *path)
{
	struct file file = read_file(path);
	struct error error;
	size_t refused = 0;
	for (size_t size = 0; size < file.size; size += size < 16384 ? 1 : 997) {
		for (int sealed = 0; sealed < 2; sealed++) {
			if (sealed)
				seal(file.bytes, size);
			change_file(&file, file.bytes, size);
			if (!try_file(file.path, &error))
				wrong("a file that was cut was accepted", size);
		}
		refused++;
	}
	free(file.bytes);
	printf("%zu refused\n", refused);
	return 0;
}

/* One change somewhere, three of four times in the header: a bit, a number that lengths, counts and offsets go wrong
 * with, or bytes that are taken out. */
static void change(unsigned char *bytes, size_t *size, size_t header, uint64_t start, uint64_t *drawn)
{
	static const uint64_t numbers[] = {
		0, 1, 31, 256, INT32_MAX, UINT64_C(1) << 60, INT64_MAX, UINT64_MAX - 31, UINT64_MAX};
	uint64_t kind = random_word(start, (*drawn)++), where = random_word(start, (*drawn)++);
	uint64_t word = random_word(start, (*drawn)++), number = numbers[word % (sizeof numbers / sizeof numbers[0])];
	if (*size < 16)
		return;
	size_t end = kind % 4 && header < *size ? header : *size, at = (size_t)(where % (end - 8));
	switch (kind / 4 % 3) {
	case 0: bytes[at] ^= (unsigned char)(1 << word % 8); break;
	case 1: memcpy(bytes + at, &number, word >> 63 ? 8 : 4); break;
	case 2: {
		size_t count = 1 + (size_t)(word % 16 % (*size - at));
		memmove(bytes + at, bytes + at + count, *size - at - count);
		*size -= count;
		break;
	}
	}
}

static int fuzz(const char *path, uint64_t seed, uint64_t count)
{
	enum { HEADER = 4800 }; /* the tiny model's, with its vocabulary */
	struct file file = read_file(path);
	unsigned char *changed = malloc(file.size);
	uint64_t start = stream_start(seed, "fuzz"), drawn = 0, opened = 0;
	for (uint64_t i = 0; changed && i < count; i++) {
		struct error error;
		size_t size = file.size;
		memcpy(changed, file.bytes, size);
		for (uint64_t changes = 1 + random_word(start, drawn++) % 3; changes > 0; changes--)
			change(changed, &size, HEADER, start, &drawn);
		if (i % 16)
			seal(changed, size);
		change_file(&file, changed, size);
		opened += !try_file(file.path, &error);
	}
	free(changed);
	free(file.bytes);
	printf("%" PRIu64 " opened, %" PRIu64 " refused\n", opened, count - opened);
	return 0;
}

/* ---- texts ---- */

static void print_ids(const struct tokens *tokens)
{
	for (size_t i = 0; i < tokens->count; i++)
		printf("%s%d", i ? " " : "", tokens->ids[i]);
	printf("\n");
}

static int encode(const struct language_model *model)
{
	struct tokens tokens = {0};
	uint32_t length;
	while (fread(&length, sizeof length, 1, stdin) == 1) {
		char *text = malloc(length + 1); /* the sanitizer sees a read behind the text */
		struct error error = {0};
		if (!text || fread(text, 1, length, stdin) != length)
			wrong("no text of that length", length);
		text = realloc(text, length ? length : 1);
		if (encode_and_back(&model->tokenizer, text, length, &tokens, &error))
			printf("error: %d %s\n", error.exit_code, error.message);
		else
			print_ids(&tokens);
		free(text);
	}
	tokens_free(&tokens);
	return 0;
}

static int chat(const struct language_model *model, const char *system, const char *user)
{
	struct tokens tokens = {0};
	struct error error = {0};
	if (tokens_append(&tokens, 12345, &error))
		fail(&error);
	int result = chat_prompt(&model->tokenizer, strcmp(system, "-") == 0 ? NULL : system, user, &tokens, &error);
	if (tokens.ids[0] != 12345 || (result && tokens.count != 1))
		wrong("a conversation changed what was there before", tokens.count);
	if (result)
		fprintf(stderr, "%s\n", error.message);
	else
		print_ids(&tokens);
	tokens_free(&tokens);
	return result;
}

static int classes(void)
{
	static const char *const names[] = {
		[OTHER] = "OTHER", [LETTER] = "LETTER", [NUMBER] = "NUMBER", [BLANK] = "BLANK"};
	uint32_t first = 0;
	for (uint32_t code = 1; code <= 0x110000; code++)
		if (code == 0x110000 || unicode_class(code) != unicode_class(first)) {
			printf("%" PRIu32 " %" PRIu32 " %s\n", first, code - 1, names[unicode_class(first)]);
			first = code;
		}
	return 0;
}

static int with_model(int count, char **arguments)
{
	struct language_model model;
	struct error error = {0};
	const char *command = arguments[1];
	int result = 0;
	if (language_model_open(arguments[2], &model, &error))
		fail(&error);
	if (strcmp(command, "encode") == 0)
		result = encode(&model);
	else if (strcmp(command, "chat") == 0 && count == 5)
		result = chat(&model, arguments[3], arguments[4]);
	else
		printf("%d layers, width %d, %d heads on %d, head %d, hidden %d, context %d, vocabulary %d, epsilon "
		       "%g, "
		       "base %g, %zu bytes, %s\n",
		       model.layers, model.width, model.heads, model.kv_heads, model.head_dim, model.hidden,
		       model.context, model.vocabulary, (double)model.epsilon, (double)model.rope_base,
		       language_model_weight_bytes(&model), model.title);
	language_model_close(&model);
	return result;
}

int main(int count, char **arguments)
{
	struct error error;
	const char *command = count > 1 ? arguments[1] : "";
	if (strcmp(command, "classes") == 0)
		return classes();
	if (count < 3)
		wrong("usage", (uint64_t)count);
	if (strcmp(command, "cut") == 0)
		return cut(arguments[2]);
	if (strcmp(command, "fuzz") == 0 && count == 5)
		return fuzz(arguments[2], strtoull(arguments[3], NULL, 10), strtoull(arguments[4], NULL, 10));
	if (strcmp(command, "read") == 0)
		return try_file(arguments[2], &error) ? (fprintf(stderr, "%s\n", error.message), error.exit_code) : 0;
	return with_model(count, arguments);
}
