#include "model/language_model.h"

#include "support/output_file.h"

#include <assert.h>
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

/* The file begins so. tools/lib/flat_model.py, which writes it, says what follows. Little endian, as the machine. */
struct header {
	char magic[8];
	uint32_t version, checksum; /* of what follows */
	uint64_t bytes;             /* of the file */
	uint32_t layers, width, heads, kv_heads, hidden, context, vocabulary, merges, text_bytes;
	float epsilon, rope_base;
	uint32_t encoding, embedding, output; /* of the layers' matrices, of the embedding, of the output, or TIED */
	uint32_t start, end, stop[2];         /* tokens */
	char title[96];
};
static_assert(sizeof(struct header) == 192, "the header has no gaps");

static const char magic[8] = "FLATLLM\n";
enum { VERSION = 1, CHECKED = offsetof(struct header, bytes), ALIGNMENT = 32, LAYER_MATRICES = 7 };
#define TIED UINT32_MAX

/* ---- the file ---- */

static int unusable(const char *path, struct error *error, const char *what)
{
	return error_set(error, EXIT_USAGE, "%s: %s, expected a file that tools/model wrote", path, what);
}

/* Not blocking: a pipe without a writer must not hang. */
static int map_file(const char *path, struct language_model *model, struct error *error)
{
	int file = open(path, O_RDONLY | O_CLOEXEC | O_NONBLOCK);
	struct stat status;
	const char *wrong = NULL;
	if (file < 0 || fstat(file, &status) != 0)
		wrong = strerror(errno);
	else if (!S_ISREG(status.st_mode))
		wrong = S_ISDIR(status.st_mode) ? "is a directory" : "is no regular file";
	else if (status.st_size == 0)
		wrong = "is empty";
	void *bytes = wrong ? NULL : mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	int reason = errno;
	if (file >= 0)
		close(file);
	if (wrong)
		return unusable(path, error, wrong);
	if (bytes == MAP_FAILED)
		return error_set(error, EXIT_ENVIRONMENT, "%s: cannot be mapped: %s", path, strerror(reason));
	model->file = bytes;
	model->size = (size_t)status.st_size;
	return 0;
}

/* Eight bytes at a time: table[i] is of a byte that i others follow. */
uint32_t checksum_of(const void *bytes, size_t size)
{
	uint32_t table[8][256], crc = UINT32_MAX;
	for (uint32_t byte = 0; byte < 256; byte++) {
		table[0][byte] = byte;
		for (int bit = 0; bit < 8; bit++)
			table[0][byte] = table[0][byte] >> 1 ^ (table[0][byte] & 1 ? 0xedb88320u : 0);
	}
	for (int i = 1; i < 8; i++)
		for (int byte = 0; byte < 256; byte++)
			table[i][byte] = table[i - 1][byte] >> 8 ^ table[0][table[i - 1][byte] & 255];
	const unsigned char *at = bytes, *end = at + size;
	for (; end - at >= 8; at += 8) {
		uint64_t word;
		memcpy(&word, at, sizeof word);
		word ^= crc;
		crc = 0;
		for (int i = 0; i < 8; i++)
			crc ^= table[7 - i][word >> 8 * i & 255];
	}
	for (; at < end; at++)
		crc = crc >> 8 ^ table[0][(crc ^ *at) & 255];
	return ~crc;
}

static int check_whole(const char *path, const struct language_model *model, struct error *error)
{
	const struct header *header = model->file;
	if (model->size >= 4 && memcmp(model->file, "GGUF", 4) == 0)
		return error_set(
			error, EXIT_USAGE, "%s: is a GGUF file, which has to be converted: tools/model --convert %s",
			path, path);
	if (model->size < sizeof *header || memcmp(header->magic, magic, sizeof magic) != 0)
		return unusable(path, error, "is no model");
	if (header->version != VERSION)
		return error_set(
			error, EXIT_USAGE, "%s: is of version %" PRIu32 ", expected %d: make model writes it anew",
			path, header->version, VERSION);
	if (header->bytes != model->size)
		return error_set(
			error, EXIT_USAGE, "%s: has %zu bytes, expected %" PRIu64 ": it was cut or has grown", path,
			model->size, header->bytes);
	if (checksum_of((const char *)model->file + CHECKED, model->size - CHECKED) != header->checksum)
		return unusable(path, error, "was changed: its checksum is another");
	return 0;
}

/* ---- its shape ---- */

/* From 1 to numbers that are enough for any model that a laptop runs, and of which no product of two overflows. */
static int read_numbers(
	const char *path, const struct header *header, struct language_model *model, struct error *error)
{
	const struct {
		const char *name;
		uint32_t number, most;
		int *value;
	} numbers[] = {
		{"layers", header->layers, 1 << 10, &model->layers},
		{"width", header->width, 1 << 16, &model->width},
		{"heads", header->heads, 1 << 16, &model->heads},
		{"KV heads", header->kv_heads, 1 << 16, &model->kv_heads},
		{"hidden width", header->hidden, 1 << 20, &model->hidden},
		{"context", header->context, 1 << 24, &model->context},
		{"tokens", header->vocabulary, 1 << 24, &model->vocabulary},
		{"merges", header->merges, 1 << 24, &(int){0}},
		{"bytes of tokens", header->text_bytes, 1 << 30, &(int){0}},
	};
	for (size_t i = 0; i < sizeof numbers / sizeof numbers[0]; i++) {
		if (numbers[i].number < 1 || numbers[i].number > numbers[i].most)
			return error_set(
				error, EXIT_USAGE, "%s: %s: %" PRIu32 ", expected 1 to %" PRIu32, path,
				numbers[i].name, numbers[i].number, numbers[i].most);
		*numbers[i].value = (int)numbers[i].number;
	}
	return 0;
}

static int check_shape(
	const char *path, const struct header *header, const struct language_model *model, struct error *error)
{
	if (model->heads % model->kv_heads != 0)
		return error_set(
			error, EXIT_USAGE, "%s: has %d heads and %d KV heads, expected a multiple", path,
			model->heads, model->kv_heads);
	if (model->width % model->heads != 0)
		return error_set(
			error, EXIT_USAGE, "%s: has a width of %d for %d heads, expected a multiple", path,
			model->width, model->heads);
	if (model->head_dim % 2 != 0 || model->head_dim > MAX_HEAD_DIM)
		return error_set(
			error, EXIT_USAGE, "%s: has a head dimension of %d, expected an even number up to %d", path,
			model->head_dim, MAX_HEAD_DIM);
	if (!(model->epsilon > 0 && model->epsilon < 1e30f && model->rope_base > 0 && model->rope_base < 1e30f))
		return error_set(
			error, EXIT_USAGE, "%s: epsilon is %g, the base of RoPE %g, expected numbers above 0", path,
			(double)model->epsilon, (double)model->rope_base);
	const uint32_t encodings[] = {header->encoding, header->embedding, model->tied ? 0 : header->output};
	for (int i = 0; i < 3; i++)
		if (!encoding_is_known(encodings[i]) ||
		    (encodings[i] != ENCODING_F32 && (model->width % BLOCK_WEIGHTS || model->hidden % BLOCK_WEIGHTS)))
			return error_set(
				error, EXIT_USAGE,
				"%s: encoding %" PRIu32 " for a width of %d and %d, expected 0 (F32), or 3 (Q4_1) "
				"or 8 (Q8_0) and multiples of %d",
				path, encodings[i], model->width, model->hidden, BLOCK_WEIGHTS);
	return 0;
}

/* ---- its parts, one after the other ---- */

/* The next part; beyond the end of the file NULL, also of all that follow. */
struct parts {
	char *file;
	size_t size, at;
};

static const void *take(struct parts *parts, size_t bytes)
{
	bytes += (ALIGNMENT - bytes % ALIGNMENT) % ALIGNMENT;
	if (bytes > parts->size - parts->at) {
		parts->size = parts->at = 0;
		return NULL;
	}
	parts->at += bytes;
	return parts->file + parts->at - bytes;
}

static struct matrix take_matrix(struct parts *parts, uint32_t encoding, int rows, int columns)
{
	struct matrix matrix = {(enum encoding)encoding, (size_t)rows, (size_t)columns, NULL};
	matrix.data = take(parts, matrix_bytes(&matrix));
	return matrix;
}

static void take_layer(
	struct parts *parts, uint32_t encoding, const struct language_model *model, struct layer_weights *layer)
{
	int width = model->width, hidden = model->hidden, kv_width = model->kv_heads * model->head_dim;
	size_t norm = (size_t)width * sizeof(float);
	layer->attention_norm = take(parts, norm);
	layer->q = take_matrix(parts, encoding, width, width);
	layer->k = take_matrix(parts, encoding, kv_width, width);
	layer->v = take_matrix(parts, encoding, kv_width, width);
	layer->o = take_matrix(parts, encoding, width, width);
	layer->feed_forward_norm = take(parts, norm);
	layer->gate = take_matrix(parts, encoding, hidden, width);
	layer->up = take_matrix(parts, encoding, hidden, width);
	layer->down = take_matrix(parts, encoding, width, hidden);
}

static int take_parts(
	const char *path, const struct header *header, struct language_model *model, struct error *error)
{
	struct parts parts = {model->file, model->size, sizeof *header};
	size_t norm = (size_t)model->width * sizeof(float);
	model->tokenizer = (struct tokenizer){
		.count = model->vocabulary,
		.merge_count = header->merges,
		.text_bytes = header->text_bytes,
		.byte_token = take(&parts, BYTES * sizeof(int32_t)),
		.token_end = take(&parts, header->vocabulary * sizeof(uint32_t)),
		.text = take(&parts, header->text_bytes),
		.merges = take(&parts, header->merges * sizeof(struct merge)),
		.start = (int)header->start,
		.end = (int)header->end,
	};
	size_t first = parts.at;
	model->embedding = model->output = take_matrix(&parts, header->embedding, model->vocabulary, model->width);
	model->output_norm = take(&parts, norm);
	if (!model->tied)
		model->output = take_matrix(&parts, header->output, model->vocabulary, model->width);
	model->layer = calloc((size_t)model->layers, sizeof *model->layer);
	if (!model->layer)
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory", path);
	for (int i = 0; i < model->layers; i++)
		take_layer(&parts, header->encoding, model, &model->layer[i]);
	if (parts.at != model->size)
		return unusable(path, error, "is not as long as a model of its shape");
	model->weights = (const char *)model->file + first;
	model->weight_bytes = model->size - first;
	return 0;
}

static void list_matrices(const struct layer_weights *layer, const struct matrix *list[LAYER_MATRICES])
{
	const struct matrix *const matrices[LAYER_MATRICES] = {&layer->q,    &layer->k,  &layer->v,   &layer->o,
	                                                       &layer->gate, &layer->up, &layer->down};
	memcpy(list, matrices, sizeof matrices);
}

static int check_finite(const char *path, const char *what, const struct matrix *matrix, struct error *error)
{
	size_t index;
	if (!matrix_is_broken(matrix, &index))
		return 0;
	return error_set(
		error, EXIT_USAGE, "%s: %s has a NaN or infinite weight at element %zu, expected numbers", path, what,
		index);
}

static struct matrix norm_as_matrix(const struct language_model *model, const float *norm)
{
	return (struct matrix){ENCODING_F32, 1, (size_t)model->width, norm};
}

static int check_layer(const char *path, const struct language_model *model, int i, struct error *error)
{
	static const char *const names[] = {
		"q", "k", "v", "o", "gate", "up", "down", "attention_norm", "feed_forward_norm"};
	const struct matrix attention_norm = norm_as_matrix(model, model->layer[i].attention_norm);
	const struct matrix feed_forward_norm = norm_as_matrix(model, model->layer[i].feed_forward_norm);
	const struct matrix *list[LAYER_MATRICES + 2] = {
		[LAYER_MATRICES] = &attention_norm, [LAYER_MATRICES + 1] = &feed_forward_norm};
	list_matrices(&model->layer[i], list);
	for (int j = 0; j < LAYER_MATRICES + 2; j++) {
		char what[40];
		snprintf(what, sizeof what, "%s of layer %d", names[j], i);
		if (check_finite(path, what, list[j], error))
			return error->exit_code;
	}
	return 0;
}

static int check_weights(const char *path, const struct language_model *model, struct error *error)
{
	const struct matrix norm = norm_as_matrix(model, model->output_norm);
	if (check_finite(path, "the embedding", &model->embedding, error) ||
	    (!model->tied && check_finite(path, "the output", &model->output, error)) ||
	    check_finite(path, "the output's norm", &norm, error))
		return error->exit_code;
	for (int i = 0; i < model->layers; i++)
		if (check_layer(path, model, i, error))
			return error->exit_code;
	return 0;
}

static int read_model(const char *path, struct language_model *model, struct error *error)
{
	if (map_file(path, model, error) || check_whole(path, model, error))
		return error->exit_code;
	const struct header *header = model->file;
	if (read_numbers(path, header, model, error))
		return error->exit_code;
	model->head_dim = model->width / model->heads;
	model->epsilon = header->epsilon;
	model->rope_base = header->rope_base;
	model->tied = header->output == TIED;
	model->stop[0] = (int)header->stop[0];
	model->stop[1] = (int)header->stop[1];
	for (size_t i = 0; i + 1 < sizeof model->title && header->title[i]; i++) /* nothing that moves a cursor */
		model->title[i] = isprint((unsigned char)header->title[i]) ? header->title[i] : '?';
	if (check_shape(path, header, model, error) || take_parts(path, header, model, error) ||
	    tokenizer_check(&model->tokenizer, path, error))
		return error->exit_code;
	return check_weights(path, model, error);
}

int language_model_open(const char *path, struct language_model *model, struct error *error)
{
	*model = (struct language_model){0};
	if (read_model(path, model, error))
		language_model_close(model);
	return model->file ? 0 : error->exit_code;
}

void language_model_close(struct language_model *model)
{
	free(model->layer);
	if (model->file)
		munmap(model->file, model->size);
	*model = (struct language_model){0};
}

bool language_model_ends(const struct language_model *model, int id)
{
	return id == model->tokenizer.end || id == model->stop[0] || id == model->stop[1];
}

size_t language_model_weight_bytes(const struct language_model *model)
{
	size_t norm = (size_t)model->width * sizeof(float);
	size_t bytes = matrix_bytes(&model->output) + norm;
	if (!model->tied)
		bytes += matrix_row_bytes(model->embedding.encoding, model->embedding.columns);
	for (int i = 0; i < model->layers; i++) {
		const struct matrix *matrices[LAYER_MATRICES];
		list_matrices(&model->layer[i], matrices);
		for (int j = 0; j < LAYER_MATRICES; j++)
			bytes += matrix_bytes(matrices[j]);
		bytes += 2 * norm;
	}
	return bytes;
}

/* Is there directory/name that can be read? Then it is the place. */
static bool found(const char *directory, const char *name, struct model_place *place)
{
	int length = snprintf(place->path, sizeof place->path, "%s/%s", directory, name);
	return length > 0 && (size_t)length < sizeof place->path && access(place->path, R_OK) == 0;
}

int language_model_find(const char *given, struct model_place *place, struct error *error)
{
	place->tiny = false;
	if (given) {
		if ((size_t)snprintf(place->path, sizeof place->path, "%s", given) >= sizeof place->path)
			return error_set(error, EXIT_USAGE, "--model: the path is too long");
		return 0;
	}
	char directory[PATH_MAX];
	ssize_t length = readlink("/proc/self/exe", directory, sizeof directory - 1);
	directory[length < 0 ? 0 : length] = '\0';
	for (char *slash; (slash = strrchr(directory, '/'));) {
		*slash = '\0';
		if (found(directory, REAL_MODEL, place))
			return 0;
		if (found(directory, TINY_MODEL, place)) {
			place->tiny = true;
			return 0;
		}
	}
	return error_set(
		error, EXIT_USAGE, "no model: neither %s nor %s exists; name a file with --model FILE", REAL_MODEL,
		TINY_MODEL);
}

int model_place_keep(const struct model_place *place, const char *json, struct error *error)
{
	if (json && output_file_is_same(json, place->path))
		return error_set(error, EXIT_USAGE, "--json: %.200s is the model, expected another file", json);
	return 0;
}
