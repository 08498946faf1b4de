#include "model/language_model.h"

#include "support/output_file.h"

#include <ctype.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* What a model may have at most: enough for any that a laptop runs, and no product of two of them overflows. */
enum { MOST_LAYERS = 1 << 10, MOST_WIDTH = 1 << 16, MOST_HIDDEN = 1 << 20, MOST_POSITIONS = 1 << 24 };

enum { LAYER_TENSORS = 9, KEY_LENGTH = 64 };

static int unusable(const struct gguf *file, struct error *error, const char *reason)
{
	return error_set(error, EXIT_USAGE, "%s: %s", gguf_path(file), reason);
}

/* A number from 1 to `most`. */
static int positive(const struct gguf *file, const char *key, int most, int *value, struct error *error)
{
	uint64_t number = 0;
	if (gguf_number(file, key, &number, error))
		return error->exit_code;
	if (number < 1 || number > (uint64_t)most)
		return error_set(
			error, EXIT_USAGE, "%s: key %s is %" PRIu64 ", expected 1 to %d", gguf_path(file), key,
			number, most);
	*value = (int)number;
	return 0;
}

/* A key that may be missing, and otherwise has to say what this forward pass does. */
static int if_there(const struct gguf *file, const char *key, int expected, struct error *error)
{
	uint64_t number = 0;
	if (!gguf_has(file, key))
		return 0;
	if (gguf_number(file, key, &number, error))
		return error->exit_code;
	if (number != (uint64_t)expected)
		return error_set(
			error, EXIT_USAGE, "%s: key %s is %" PRIu64 ", expected %d", gguf_path(file), key, number,
			expected);
	return 0;
}

static int positive_real(const struct gguf *file, const char *key, float *value, struct error *error)
{
	double real = 0;
	if (gguf_real(file, key, &real, error))
		return error->exit_code;
	*value = (float)real;
	if (!(*value > 0 && *value < 1e30f))
		return error_set(
			error, EXIT_USAGE, "%s: key %s is %g, expected a number above 0", gguf_path(file), key, real);
	return 0;
}

static int check_architecture(const struct gguf *file, struct error *error)
{
	static const char expected[] = "llama";
	struct gguf_string name;
	if (gguf_text(file, "general.architecture", &name, error))
		return error->exit_code;
	if (name.length != strlen(expected) || memcmp(name.bytes, expected, name.length) != 0)
		return error_set(
			error, EXIT_USAGE, "%s: its architecture is %.*s, expected %s", gguf_path(file),
			(int)(name.length < 40 ? name.length : 40), name.bytes, expected);
	if (gguf_has(file, "llama.rope.scaling.type"))
		return unusable(file, error, "scales its RoPE (llama.rope.scaling.type), which is not done here");
	return 0;
}

static int read_shape(struct language_model *model, struct error *error)
{
	const struct gguf *file = model->file;
	if (positive(file, "llama.block_count", MOST_LAYERS, &model->layers, error) ||
	    positive(file, "llama.embedding_length", MOST_WIDTH, &model->width, error) ||
	    positive(file, "llama.attention.head_count", MOST_WIDTH, &model->heads, error) ||
	    positive(file, "llama.feed_forward_length", MOST_HIDDEN, &model->hidden, error) ||
	    positive(file, "llama.context_length", MOST_POSITIONS, &model->context, error) ||
	    positive_real(file, "llama.attention.layer_norm_rms_epsilon", &model->epsilon, error) ||
	    positive_real(file, "llama.rope.freq_base", &model->rope_base, error))
		return error->exit_code;
	model->kv_heads = model->heads;
	if (gguf_has(file, "llama.attention.head_count_kv") &&
	    positive(file, "llama.attention.head_count_kv", MOST_WIDTH, &model->kv_heads, error))
		return error->exit_code;
	if (model->heads % model->kv_heads != 0)
		return error_set(
			error, EXIT_USAGE, "%s: has %d heads and %d KV heads, expected a multiple", gguf_path(file),
			model->heads, model->kv_heads);
	if (model->width % model->heads != 0)
		return error_set(
			error, EXIT_USAGE, "%s: has a width of %d for %d heads, expected a multiple", gguf_path(file),
			model->width, model->heads);
	model->head_dim = model->width / model->heads;
	if (model->head_dim % 2 != 0 || model->head_dim > MAX_HEAD_DIM)
		return error_set(
			error, EXIT_USAGE, "%s: has a head dimension of %d, expected an even number up to %d",
			gguf_path(file), model->head_dim, MAX_HEAD_DIM);
	if (if_there(file, "llama.rope.dimension_count", model->head_dim, error) ||
	    if_there(file, "llama.attention.key_length", model->head_dim, error) ||
	    if_there(file, "llama.attention.value_length", model->head_dim, error))
		return error->exit_code;
	return 0;
}

/* "blk.3.attn_q.weight" */
static const char *tensor_name(char text[KEY_LENGTH], int layer, const char *what)
{
	snprintf(text, KEY_LENGTH, "blk.%d.%s.weight", layer, what);
	return text;
}

static int layer_vector(
	const struct language_model *model, int layer, const char *what, const float **values, struct error *error)
{
	char name[KEY_LENGTH];
	return gguf_vector(model->file, tensor_name(name, layer, what), (size_t)model->width, values, error);
}

static int layer_matrix(
	const struct language_model *model, int layer, const char *what, int rows, int columns, struct matrix *matrix,
	struct error *error)
{
	char name[KEY_LENGTH];
	return gguf_matrix(model->file, tensor_name(name, layer, what), (size_t)rows, (size_t)columns, matrix, error);
}

static int read_layer(const struct language_model *model, int i, struct layer_weights *layer, struct error *error)
{
	int width = model->width, hidden = model->hidden, kv_width = model->kv_heads * model->head_dim;
	if (layer_vector(model, i, "attn_norm", &layer->attention_norm, error) ||
	    layer_vector(model, i, "ffn_norm", &layer->feed_forward_norm, error) ||
	    layer_matrix(model, i, "attn_q", width, width, &layer->q, error) ||
	    layer_matrix(model, i, "attn_k", kv_width, width, &layer->k, error) ||
	    layer_matrix(model, i, "attn_v", kv_width, width, &layer->v, error) ||
	    layer_matrix(model, i, "attn_output", width, width, &layer->o, error) ||
	    layer_matrix(model, i, "ffn_gate", hidden, width, &layer->gate, error) ||
	    layer_matrix(model, i, "ffn_up", hidden, width, &layer->up, error) ||
	    layer_matrix(model, i, "ffn_down", width, hidden, &layer->down, error))
		return error->exit_code;
	return 0;
}

static int read_weights(struct language_model *model, struct error *error)
{
	size_t width = (size_t)model->width, vocabulary = (size_t)model->vocabulary;
	model->tied = !gguf_has_tensor(model->file, "output.weight");
	if (gguf_matrix(model->file, "token_embd.weight", vocabulary, width, &model->embedding, error) ||
	    gguf_vector(model->file, "output_norm.weight", width, &model->output_norm, error))
		return error->exit_code;
	model->output = model->embedding;
	if (!model->tied && gguf_matrix(model->file, "output.weight", vocabulary, width, &model->output, error))
		return error->exit_code;
	model->layer = calloc((size_t)model->layers, sizeof *model->layer);
	if (!model->layer)
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory", gguf_path(model->file));
	for (int i = 0; i < model->layers; i++)
		if (read_layer(model, i, &model->layer[i], error))
			return error->exit_code;
	size_t expected = 2 + !model->tied + LAYER_TENSORS * (size_t)model->layers;
	if (gguf_tensor_count(model->file) != expected)
		return error_set(
			error, EXIT_USAGE, "%s: has %zu tensors, expected %zu: the others would be ignored",
			gguf_path(model->file), gguf_tensor_count(model->file), expected);
	return 0;
}

static void add_end(struct language_model *model, int id)
{
	if (id >= 0 && !language_model_ends(model, id))
		model->end[model->ends++] = id;
}

static int read_vocabulary(struct language_model *model, struct error *error)
{
	if (tokenizer_make(model->file, &model->tokenizer, error))
		return error->exit_code;
	model->vocabulary = tokenizer_count(model->tokenizer);
	if (if_there(model->file, "llama.vocab_size", model->vocabulary, error))
		return error->exit_code;
	static const char key[] = "tokenizer.ggml.eos_token_id";
	uint64_t end = 0;
	if (gguf_has(model->file, key)) {
		if (gguf_number(model->file, key, &end, error))
			return error->exit_code;
		if (end >= (uint64_t)model->vocabulary)
			return error_set(
				error, EXIT_USAGE, "%s: key %s is %" PRIu64 ", expected a token below %d",
				gguf_path(model->file), key, end, model->vocabulary);
		add_end(model, (int)end);
	}
	add_end(model, tokenizer_control(model->tokenizer, "<|im_end|>"));
	add_end(model, tokenizer_control(model->tokenizer, "<|endoftext|>"));
	return 0;
}

/* The name for people; whatever could move the cursor of a terminal is replaced. */
static int read_title(struct language_model *model, struct error *error)
{
	struct gguf_string name = {"?", 1};
	if (gguf_has(model->file, "general.name") && gguf_text(model->file, "general.name", &name, error))
		return error->exit_code;
	model->title = strndup(name.bytes, name.length < 80 ? name.length : 80);
	if (!model->title)
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory", gguf_path(model->file));
	for (char *c = model->title; *c; c++)
		if (!isprint((unsigned char)*c))
			*c = '?';
	return 0;
}

int language_model_open(const char *path, struct language_model *model, struct error *error)
{
	*model = (struct language_model){0};
	if (gguf_open(path, &model->file, error))
		return error->exit_code;
	if (check_architecture(model->file, error) || read_shape(model, error) || read_vocabulary(model, error) ||
	    read_weights(model, error) || read_title(model, error)) {
		language_model_close(model);
		return error->exit_code;
	}
	return 0;
}

void language_model_close(struct language_model *model)
{
	tokenizer_free(model->tokenizer);
	free(model->layer);
	free(model->title);
	gguf_close(model->file);
	*model = (struct language_model){0};
}

bool language_model_ends(const struct language_model *model, int id)
{
	for (int i = 0; i < model->ends; i++)
		if (model->end[i] == id)
			return true;
	return false;
}

size_t language_model_weight_bytes(const struct language_model *model)
{
	size_t norm = (size_t)model->width * sizeof(float);
	size_t bytes = matrix_bytes(&model->output) + norm;
	if (!model->tied)
		bytes += matrix_row_bytes(model->embedding.encoding, model->embedding.columns);
	for (int i = 0; i < model->layers; i++) {
		const struct layer_weights *layer = &model->layer[i];
		const struct matrix *const matrices[] = {&layer->q,    &layer->k,  &layer->v,   &layer->o,
		                                         &layer->gate, &layer->up, &layer->down};
		for (size_t j = 0; j < sizeof matrices / sizeof matrices[0]; j++)
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
