/*
 * Text to tokens and back: byte-level byte pair encoding (BPE) with the vocabulary and the merges of a model's file.
 *
 * The text is cut into words in two stages, each Unicode number (\p{N}) first by itself, then the pieces between them
 * by GPT-2's pattern
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * (tools/model refuses a model that has another). A word begins as its bytes, one
 * token each; then the pair of neighbors with the lowest rank is merged, the leftmost of several, until no pair has
 * a rank. Source: Sennrich, Haddow, Birch 2016, Algorithm 1; over bytes: Radford et al. 2019, section 2.2.
 *
 * Letters, numbers and blanks: model/unicode.h.
 */
#ifndef MODEL_TOKENIZER_H
#define MODEL_TOKENIZER_H

#include "support/error.h"

#include <stddef.h>
#include <stdint.h>

enum { BYTES = 256 };

struct merge {
	int32_t left, right, whole; /* ids: whole stands for the bytes of left and right */
	int32_t rank;
};

/* All pointers are into the model's file (language_model.h). */
struct tokenizer {
	int count; /* ids are 0 ... count - 1 */
	size_t text_bytes, merge_count;
	const int32_t *byte_token; /* [BYTES]: the token of a single byte; -1: none */
	const uint32_t
		*token_end; /* [count]: where its bytes end in the text; they begin where those before it end */
	const char *text;   /* [text_bytes] */
	const struct merge *merges; /* [merge_count], sorted by left and right */
	int start, end;             /* <|im_start|>, <|im_end|> */
};

/* A growing list of token ids; {0} is the empty one. */
struct tokens {
	int *ids; /* [count], freed by tokens_free */
	size_t count, capacity;
};

/* EXIT_ENVIRONMENT when there is no memory: the list is as it was. */
int tokens_append(struct tokens *tokens, int id, struct error *error);
void tokens_free(struct tokens *tokens);

/* EXIT_USAGE when a token, a merge or the order of the merges is not as above; `path` begins the line. */
int tokenizer_check(const struct tokenizer *tokenizer, const char *path, struct error *error);

/*
 * Appends the tokens of plain text: what looks like a control token in it is text as any other, so that a user cannot
 * speak in another role. Invalid UTF-8 (Unicode 3.9, table 3-7), and a byte that no token stands for, are EXIT_USAGE;
 * the message says the byte and its offset in `text`, and nothing is appended. Time O(length log length), whatever
 * the text.
 */
int tokenizer_encode(
	const struct tokenizer *tokenizer, const char *text, size_t length, struct tokens *append_to,
	struct error *error);

/*
 * The bytes that a token stands for, perhaps only a part of a UTF-8 character; they live as long as the file is open. Of
 * a control token: its name. `id` must be a token's.
 */
const char *tokenizer_bytes(const struct tokenizer *tokenizer, int id, size_t *length);

/* What SmolLM2-135M-Instruct was trained to be told first. */
#define DEFAULT_SYSTEM_PROMPT "You are a helpful AI assistant named SmolLM, trained by Hugging Face"

/*
 * Appends a conversation that is about to be answered (ChatML):
 *
 *     <|im_start|>system\n SYSTEM <|im_end|>\n<|im_start|>user\n USER <|im_end|>\n<|im_start|>assistant\n
 *
 * without the blanks around SYSTEM and USER. system NULL: DEFAULT_SYSTEM_PROMPT. Both end with a zero. EXIT_USAGE
 * when the user's prompt is empty, or when tokenizer_encode refuses one of the two; then nothing is appended.
 */
int chat_prompt(
	const struct tokenizer *tokenizer, const char *system, const char *user, struct tokens *append_to,
	struct error *error);

#endif
