/*
 * Text to tokens and back: byte-level byte pair encoding (BPE) with the vocabulary and the merges of a GGUF file.
 *
 * The text is cut into words in two stages, each Unicode number (\p{N}) first by itself, then the pieces between them
 * by GPT-2's pattern
 *     's|'t|'re|'ve|'m|'ll|'d| ?\p{L}+| ?\p{N}+| ?[^\s\p{L}\p{N}]+|\s+(?!\S)|\s+
 * (the file has to say so: tokenizer.ggml.model "gpt2", tokenizer.ggml.pre "smollm"). A word begins as its bytes, one
 * token each; then the pair of neighbors with the lowest rank is merged, the leftmost of several, until no pair has
 * a rank. Source: Sennrich, Haddow, Birch 2016, Algorithm 1; over bytes: Radford et al. 2019, section 2.2.
 *
 * Letters, numbers and blanks: model/unicode.h.
 */
#ifndef MODEL_TOKENIZER_H
#define MODEL_TOKENIZER_H

#include "model/gguf.h"
#include "support/error.h"

#include <stddef.h>

struct tokenizer;

/* A growing list of token ids; {0} is the empty one. */
struct tokens {
	int *ids; /* [count], freed by tokens_free */
	size_t count, capacity;
};

/* EXIT_ENVIRONMENT when there is no memory: the list is as it was. */
int tokens_append(struct tokens *tokens, int id, struct error *error);
void tokens_free(struct tokens *tokens);

/*
 * Reads the vocabulary. *tokenizer is the caller's, for tokenizer_free, and does not need the file any more. Refused:
 * an unknown kind of tokenizer, tokens that are there twice, a merge whose parts or whole are no token, or that is
 * there twice.
 */
int tokenizer_make(const struct gguf *gguf, struct tokenizer **tokenizer, struct error *error);
void tokenizer_free(struct tokenizer *tokenizer);

/* Number of tokens; ids are 0 ... count - 1. */
int tokenizer_count(const struct tokenizer *tokenizer);

/*
 * Appends the tokens of plain text: what looks like a control token in it is text as any other, so that a user cannot
 * speak in another role. Invalid UTF-8 (Unicode 3.9, table 3-7), and a byte that no token stands for, are EXIT_USAGE;
 * the message says the byte and its offset in `text`, and nothing is appended. Time O(length log length), whatever
 * the text.
 */
int tokenizer_encode(
	const struct tokenizer *tokenizer, const char *text, size_t length, struct tokens *append_to,
	struct error *error);

/* The id of a control token, "<|im_start|>"; -1: there is none of that name. */
int tokenizer_control(const struct tokenizer *tokenizer, const char *name);

/*
 * The bytes that a token stands for, perhaps only a part of a UTF-8 character; they live as long as the tokenizer. Of
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
 * when the user's prompt is empty, when tokenizer_encode refuses one of the two, or when a control token is missing;
 * then nothing is appended.
 */
int chat_prompt(
	const struct tokenizer *tokenizer, const char *system, const char *user, struct tokens *append_to,
	struct error *error);

#endif
