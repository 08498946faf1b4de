/*
 * A language model of the Llama architecture as tools/model writes it into one flat file: its shape, its weights as
 * stored, its tokenizer.
 *
 * x = embedding[token]; for each layer  x += W_o attention(rope(W_q n), rope(W_k n), W_v n) with n = rmsnorm(x,
 * attention_norm), then  x += W_down (silu(W_gate n) * W_up n) with n = rmsnorm(x, feed_forward_norm); logits =
 * W_output rmsnorm(x, output_norm). rmsnorm(x, w)_i = w_i x_i / sqrt(mean(x^2) + epsilon). rope turns the pair
 * (x[2i], x[2i+1]) of each head by the angle position * rope_base^(-2i/head_dim). Query head a uses KV head a /
 * (heads / kv_heads). Scores are scaled by 1/sqrt(head_dim). Source: Touvron et al. 2023, section 2.2; grouped heads:
 * Ainslie et al. 2023.
 */
#ifndef MODEL_LANGUAGE_MODEL_H
#define MODEL_LANGUAGE_MODEL_H

#include "model/matrix.h"
#include "model/tokenizer.h"
#include "problem/problem.h" /* MAX_HEAD_DIM */
#include "support/error.h"

#include <limits.h>
#include <stdbool.h>

struct layer_weights {
	const float *attention_norm, *feed_forward_norm; /* [width] */
	struct matrix q;        /* [width, width]: row a * head_dim + i is element i of query head a */
	struct matrix k, v;     /* [kv_heads * head_dim, width] */
	struct matrix o;        /* [width, width] */
	struct matrix gate, up; /* [hidden, width] */
	struct matrix down;     /* [width, hidden] */
};

struct language_model {
	int layers, width, heads, kv_heads, head_dim; /* width = heads * head_dim, kv_heads divides heads */
	int hidden;                                   /* of the feed-forward network */
	int context;                                  /* positions the model was trained for: 0 ... context - 1 */
	int vocabulary;
	float epsilon, rope_base;
	struct matrix embedding;     /* [vocabulary, width] */
	struct matrix output;        /* [vocabulary, width]; tied: the embedding itself */
	bool tied;                   /* there is no other output */
	const float *output_norm;    /* [width] */
	struct layer_weights *layer; /* [layers] */
	struct tokenizer tokenizer;
	int stop[2];         /* tokens that end an answer besides <|im_end|> */
	char title[96];      /* the model's name, on one line */
	const char *weights; /* [weight_bytes] of the file: all matrices and norms lie in there */
	size_t weight_bytes;
	void *file; /* [size], mapped into memory */
	size_t size;
};

/*
 * Opens a model and checks all of it; *model is the caller's, for language_model_close. EXIT_USAGE, with one line that
 * names the file, for one that is no such file, is cut off, was changed (its checksum), or is of a model that this
 * forward pass cannot run: kv_heads not a divisor of heads, width not heads * head_dim, head_dim odd or above
 * MAX_HEAD_DIM, numbers that are no numbers. Nothing is read or allocated by a length that was not compared with the
 * file's before. The file must not be changed while it is open.
 */
int language_model_open(const char *path, struct language_model *model, struct error *error);
void language_model_close(struct language_model *model);

/* CRC-32, as zlib's. */
uint32_t checksum_of(const void *bytes, size_t size);

/* Does `id` end an answer? */
bool language_model_ends(const struct language_model *model, int id);

/* Bytes of the weights that one token reads, as stored: of the embedding one row, all of it when it is the output. */
size_t language_model_weight_bytes(const struct language_model *model);

/* The file of the model that `make model` brings, and the one that is committed, under the root of the course. */
#define REAL_MODEL "models/SmolLM2-135M-Instruct.Q4_1.bin"
#define TINY_MODEL "tests/data/tiny_model/tiny.bin"

struct model_place {
	char path[PATH_MAX];
	bool tiny; /* it is TINY_MODEL: it speaks nonsense, and the program has to say so */
};

/*
 * Which model to run: `given` (--model) if it is not NULL; else REAL_MODEL, else TINY_MODEL, under the nearest
 * directory above the running program that has one of them. EXIT_USAGE when there is none. The file is not opened.
 */
int language_model_find(const char *given, struct model_place *place, struct error *error);

/* EXIT_USAGE if the file that --json names (NULL: none) is the model, which would be lost. */
int model_place_keep(const struct model_place *place, const char *json, struct error *error);

#endif
