#include "model/tokenizer.h"

#include "model/unicode.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { BYTES = 256, MOST_TOKENS = 1 << 24 };

/* GGUF's types of tokens. */
enum { NORMAL = 1, CONTROL = 3 };

struct token {
	const char *bytes; /* [length], in the pool */
	size_t length;
	int id;
	bool control;
};

struct merge {
	int left, right, whole; /* ids: whole stands for the bytes of left and right */
	int rank;
};

struct tokenizer {
	struct token *tokens; /* [count], by id */
	struct token *sorted; /* [count], control tokens last, by their bytes */
	int count;
	struct merge *merges; /* [merge_count], sorted by left and right */
	size_t merge_count;
	char *pool;            /* the bytes of all tokens */
	int byte_token[BYTES]; /* the token of a single byte; -1: none */
};

int tokens_append(struct tokens *tokens, int id, struct error *error)
{
	if (tokens->count == tokens->capacity) {
		size_t capacity = tokens->capacity ? 2 * tokens->capacity : 64;
		int *ids = realloc(tokens->ids, capacity * sizeof *ids);
		if (!ids)
			return error_set(error, EXIT_ENVIRONMENT, "out of memory for %zu tokens", capacity);
		tokens->ids = ids;
		tokens->capacity = capacity;
	}
	tokens->ids[tokens->count++] = id;
	return 0;
}

void tokens_free(struct tokens *tokens)
{
	free(tokens->ids);
	*tokens = (struct tokens){0};
}

/* ---- the vocabulary ---- */

/*
 * GPT-2 writes a byte as a character that can be seen: itself if it can be printed in Latin-1, else the next unused one from
 * U+0100 on. So a vocabulary is text. Returns the byte of such a character, -1: it is none.
 */
static int byte_of(uint32_t code)
{
	if ((code >= 33 && code <= 126) || (code >= 161 && code <= 172) || (code >= 174 && code <= 255))
		return (int)code;
	if (code < 256 || code >= 256 + 68)
		return -1;
	int unseen = (int)code - 256; /* the number of this byte among those that cannot be seen */
	return unseen <= 32 ? unseen : unseen <= 66 ? 127 + unseen - 33 : 173;
}

/* Decodes such a text into bytes [length], *used of them. False when a character stands for no byte. */
static bool decode(struct gguf_string text, char *bytes, size_t *used)
{
	*used = 0;
	for (size_t at = 0; at < text.length;) {
		uint32_t code;
		size_t length = utf8_character(text.bytes + at, text.length - at, &code);
		int byte = length ? byte_of(code) : -1;
		if (byte < 0)
			return false;
		bytes[(*used)++] = (char)byte;
		at += length;
	}
	return true;
}

static int compare_tokens(const void *a, const void *b)
{
	const struct token *first = a, *second = b;
	if (first->control != second->control)
		return first->control - second->control;
	int order =
		memcmp(first->bytes, second->bytes, first->length < second->length ? first->length : second->length);
	return order ? order : (first->length > second->length) - (first->length < second->length);
}

static const struct token *find(const struct tokenizer *tokenizer, const char *bytes, size_t length, bool control)
{
	struct token wanted = {bytes, length, 0, control};
	return bsearch(
		&wanted, tokenizer->sorted, (size_t)tokenizer->count, sizeof *tokenizer->sorted, compare_tokens);
}

static int read_token(
	const struct gguf *gguf, struct gguf_string text, int32_t type, struct token *token, char *bytes,
	struct error *error)
{
	*token = (struct token){bytes, text.length, token->id, type == CONTROL};
	if (type != NORMAL && type != CONTROL)
		return error_set(
			error, EXIT_USAGE, "%s: token %d has type %d, expected %d (normal) or %d (control)",
			gguf_path(gguf), token->id, type, NORMAL, CONTROL);
	if (text.length == 0)
		return error_set(error, EXIT_USAGE, "%s: token %d is empty", gguf_path(gguf), token->id);
	if (type == CONTROL)
		memcpy(bytes, text.bytes, text.length);
	else if (!decode(text, bytes, &token->length))
		return error_set(
			error, EXIT_USAGE, "%s: token %d has a character that does not stand for a byte",
			gguf_path(gguf), token->id);
	return 0;
}

static int sort_tokens(const struct gguf *gguf, struct tokenizer *tokenizer, struct error *error)
{
	size_t count = (size_t)tokenizer->count;
	memcpy(tokenizer->sorted, tokenizer->tokens, count * sizeof *tokenizer->sorted);
	qsort(tokenizer->sorted, count, sizeof *tokenizer->sorted, compare_tokens);
	for (size_t i = 1; i < count; i++)
		if (compare_tokens(&tokenizer->sorted[i - 1], &tokenizer->sorted[i]) == 0)
			return error_set(
				error, EXIT_USAGE, "%s: tokens %d and %d are the same", gguf_path(gguf),
				tokenizer->sorted[i - 1].id, tokenizer->sorted[i].id);
	for (int byte = 0; byte < BYTES; byte++) {
		const struct token *token = find(tokenizer, (const char[]){(char)byte}, 1, false);
		tokenizer->byte_token[byte] = token ? token->id : -1;
	}
	return 0;
}

static int fill_tokens(
	const struct gguf *gguf, struct tokenizer *tokenizer, const struct gguf_string *texts, const int32_t *types,
	struct error *error)
{
	size_t count = (size_t)tokenizer->count, bytes = 0, used = 0;
	for (size_t i = 0; i < count; i++)
		bytes += texts[i].length;
	tokenizer->tokens = calloc(count, sizeof *tokenizer->tokens);
	tokenizer->sorted = calloc(count, sizeof *tokenizer->sorted);
	tokenizer->pool = malloc(bytes + 1);
	if (!tokenizer->tokens || !tokenizer->sorted || !tokenizer->pool)
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory for its tokens", gguf_path(gguf));
	for (size_t i = 0; i < count; i++) {
		tokenizer->tokens[i].id = (int)i;
		if (read_token(gguf, texts[i], types[i], &tokenizer->tokens[i], tokenizer->pool + used, error))
			return error->exit_code;
		used += tokenizer->tokens[i].length;
	}
	return sort_tokens(gguf, tokenizer, error);
}

static int read_tokens(const struct gguf *gguf, struct tokenizer *tokenizer, struct error *error)
{
	struct gguf_string *texts = NULL;
	int32_t *types = NULL;
	size_t count = 0, type_count = 0;
	int result = gguf_strings(gguf, "tokenizer.ggml.tokens", &texts, &count, error);
	if (!result)
		result = gguf_numbers(gguf, "tokenizer.ggml.token_type", &types, &type_count, error);
	if (!result && (count != type_count || count > MOST_TOKENS))
		result = error_set(
			error, EXIT_USAGE, "%s: has %zu tokens and %zu token types, expected equal numbers up to %d",
			gguf_path(gguf), count, type_count, MOST_TOKENS);
	if (!result) {
		tokenizer->count = (int)count;
		result = fill_tokens(gguf, tokenizer, texts, types, error);
	}
	free(texts);
	free(types);
	return result;
}

static int compare_merges(const void *a, const void *b)
{
	const struct merge *first = a, *second = b;
	if (first->left != second->left)
		return first->left < second->left ? -1 : 1;
	return (first->right > second->right) - (first->right < second->right);
}

/* "LEFT RIGHT"; no token has a blank in it, which is written as another character. */
static bool read_merge(const struct tokenizer *tokenizer, struct gguf_string text, char *bytes, struct merge *merge)
{
	const char *blank = memchr(text.bytes, ' ', text.length);
	if (!blank)
		return false;
	struct gguf_string left = {text.bytes, (size_t)(blank - text.bytes)};
	struct gguf_string right = {blank + 1, text.length - left.length - 1};
	size_t left_length, right_length;
	if (!decode(left, bytes, &left_length) || !decode(right, bytes + left_length, &right_length))
		return false;
	const struct token *first = find(tokenizer, bytes, left_length, false);
	const struct token *second = find(tokenizer, bytes + left_length, right_length, false);
	const struct token *whole = find(tokenizer, bytes, left_length + right_length, false);
	if (!first || !second || !whole)
		return false;
	*merge = (struct merge){.left = first->id, .right = second->id, .whole = whole->id};
	return true;
}

static int fill_merges(
	const struct gguf *gguf, struct tokenizer *tokenizer, const struct gguf_string *texts, struct error *error)
{
	size_t longest = 0;
	for (size_t i = 0; i < tokenizer->merge_count; i++)
		longest = texts[i].length > longest ? texts[i].length : longest;
	char *bytes = malloc(longest + 1);
	tokenizer->merges = calloc(tokenizer->merge_count, sizeof *tokenizer->merges);
	int result = 0;
	if (!bytes || !tokenizer->merges)
		result = error_set(error, EXIT_ENVIRONMENT, "%s: out of memory for its merges", gguf_path(gguf));
	for (size_t i = 0; !result && i < tokenizer->merge_count; i++) {
		if (!read_merge(tokenizer, texts[i], bytes, &tokenizer->merges[i]))
			result = error_set(
				error, EXIT_USAGE, "%s: merge %zu does not join two tokens to a third",
				gguf_path(gguf), i);
		tokenizer->merges[i].rank = (int)i;
	}
	free(bytes);
	return result;
}

static int read_merges(const struct gguf *gguf, struct tokenizer *tokenizer, struct error *error)
{
	struct gguf_string *texts = NULL;
	if (gguf_strings(gguf, "tokenizer.ggml.merges", &texts, &tokenizer->merge_count, error))
		return error->exit_code;
	int result = tokenizer->merge_count > MOST_TOKENS
	                     ? error_set(
				       error, EXIT_USAGE, "%s: has %zu merges, expected up to %d", gguf_path(gguf),
				       tokenizer->merge_count, MOST_TOKENS)
	                     : fill_merges(gguf, tokenizer, texts, error);
	free(texts);
	if (result)
		return result;
	qsort(tokenizer->merges, tokenizer->merge_count, sizeof *tokenizer->merges, compare_merges);
	for (size_t i = 1; i < tokenizer->merge_count; i++)
		if (compare_merges(&tokenizer->merges[i - 1], &tokenizer->merges[i]) == 0)
			return error_set(
				error, EXIT_USAGE, "%s: merges %d and %d are the same", gguf_path(gguf),
				tokenizer->merges[i - 1].rank, tokenizer->merges[i].rank);
	return 0;
}

static int expect_text(const struct gguf *gguf, const char *key, const char *expected, struct error *error)
{
	struct gguf_string text;
	if (gguf_text(gguf, key, &text, error))
		return error->exit_code;
	if (text.length != strlen(expected) || memcmp(text.bytes, expected, text.length) != 0)
		return error_set(
			error, EXIT_USAGE, "%s: key %s is \"%.*s\", expected \"%s\"", gguf_path(gguf), key,
			(int)(text.length < 40 ? text.length : 40), text.bytes, expected);
	return 0;
}

/* What would put a token, or a blank, before every text. */
static int expect_false(const struct gguf *gguf, const char *key, struct error *error)
{
	uint64_t value = 0;
	if (gguf_has(gguf, key) && gguf_number(gguf, key, &value, error))
		return error->exit_code;
	if (value)
		return error_set(error, EXIT_USAGE, "%s: key %s is true, expected false", gguf_path(gguf), key);
	return 0;
}

int tokenizer_make(const struct gguf *gguf, struct tokenizer **tokenizer, struct error *error)
{
	*tokenizer = NULL;
	if (expect_text(gguf, "tokenizer.ggml.model", "gpt2", error) ||
	    expect_text(gguf, "tokenizer.ggml.pre", "smollm", error) ||
	    expect_false(gguf, "tokenizer.ggml.add_bos_token", error) ||
	    expect_false(gguf, "tokenizer.ggml.add_space_prefix", error))
		return error->exit_code;
	struct tokenizer *made = calloc(1, sizeof *made);
	if (!made)
		return error_set(error, EXIT_ENVIRONMENT, "%s: out of memory", gguf_path(gguf));
	if (read_tokens(gguf, made, error) || read_merges(gguf, made, error)) {
		tokenizer_free(made);
		return error->exit_code;
	}
	*tokenizer = made;
	return 0;
}

void tokenizer_free(struct tokenizer *tokenizer)
{
	if (!tokenizer)
		return;
	free(tokenizer->tokens);
	free(tokenizer->sorted);
	free(tokenizer->merges);
	free(tokenizer->pool);
	free(tokenizer);
}

int tokenizer_count(const struct tokenizer *tokenizer)
{
	return tokenizer->count;
}

int tokenizer_control(const struct tokenizer *tokenizer, const char *name)
{
	const struct token *token = find(tokenizer, name, strlen(name), true);
	return token ? token->id : -1;
}

const char *tokenizer_bytes(const struct tokenizer *tokenizer, int id, size_t *length)
{
	*length = tokenizer->tokens[id].length;
	return tokenizer->tokens[id].bytes;
}

/* ---- a text is cut into words; all of it is known to be UTF-8 ---- */

static enum unicode_class class_at(const char *text, size_t length, size_t *bytes)
{
	uint32_t code = 0;
	*bytes = utf8_character(text, length, &code);
	return unicode_class(code);
}

/* Where the characters of `class` end that begin at `at`; *last is where the last one begins. */
static size_t run_end(const char *text, size_t length, size_t at, enum unicode_class class, size_t *last)
{
	size_t bytes;
	*last = at;
	while (at < length && class_at(text + at, length - at, &bytes) == class) {
		*last = at;
		at += bytes;
	}
	return at;
}

/* The length of 's 't 're 've 'm 'll or 'd at the beginning of the text, or 0. */
static size_t contraction(const char *text, size_t length)
{
	static const char *const endings[] = {"'s", "'t", "'re", "'ve", "'m", "'ll", "'d"};
	for (size_t i = 0; i < sizeof endings / sizeof endings[0]; i++) {
		size_t bytes = strlen(endings[i]);
		if (bytes <= length && memcmp(text, endings[i], bytes) == 0)
			return bytes;
	}
	return 0;
}

/* The length of the first match of GPT-2's pattern in text [length], length > 0: it matches at every beginning. */
static size_t word_length(const char *text, size_t length)
{
	size_t bytes = contraction(text, length), last;
	if (bytes)
		return bytes;
	/* " ?" and a run of one class */
	size_t at = text[0] == ' ';
	if (at < length) {
		enum unicode_class class = class_at(text + at, length - at, &bytes);
		if (class != BLANK)
			return run_end(text, length, at, class, &last);
	}
	/* Blanks, but the last one is left to a word that follows, unless it is the only one. */
	size_t end = run_end(text, length, 0, BLANK, &last);
	return end < length && last > 0 ? last : end;
}

/* The length of the first piece: a number, or all until the next number. */
static size_t piece_length(const char *text, size_t length)
{
	size_t bytes, at = 0;
	while (at < length && class_at(text + at, length - at, &bytes) != NUMBER)
		at += bytes;
	return at ? at : bytes;
}

/* ---- the pairs of a word are merged ---- */

/* A part of the word: first one byte, later what it was merged to. Merged away: next is GONE. */
struct part {
	int id;
	size_t previous, next; /* NONE: there is none */
};
static const size_t NONE = SIZE_MAX, GONE = SIZE_MAX - 1;

/* A pair that could be merged: part `left` and the one after it. */
struct pair {
	int rank;
	size_t left;
};

/* Memory for one word, used again for the next. */
struct word {
	struct part *parts; /* [capacity] */
	struct pair *heap;  /* [3 capacity]: the smallest rank on top, of equal ones the leftmost */
	size_t capacity, pairs;
};

static bool before(struct pair a, struct pair b)
{
	return a.rank != b.rank ? a.rank < b.rank : a.left < b.left;
}

static void push(struct word *word, struct pair pair)
{
	size_t at = word->pairs++;
	for (; at && before(pair, word->heap[(at - 1) / 2]); at = (at - 1) / 2)
		word->heap[at] = word->heap[(at - 1) / 2];
	word->heap[at] = pair;
}

static struct pair pop(struct word *word)
{
	struct pair top = word->heap[0], moved = word->heap[--word->pairs];
	size_t at = 0;
	for (size_t child; (child = 2 * at + 1) < word->pairs; at = child) {
		if (child + 1 < word->pairs && before(word->heap[child + 1], word->heap[child]))
			child++;
		if (!before(word->heap[child], moved))
			break;
		word->heap[at] = word->heap[child];
	}
	word->heap[at] = moved;
	return top;
}

/* The merge of part `left` and the one after it; NULL: there is none. */
static const struct merge *merge_at(const struct tokenizer *tokenizer, const struct word *word, size_t left)
{
	if (left == NONE || word->parts[left].next == NONE || word->parts[left].next == GONE)
		return NULL;
	struct merge wanted = {.left = word->parts[left].id, .right = word->parts[word->parts[left].next].id};
	return bsearch(&wanted, tokenizer->merges, tokenizer->merge_count, sizeof wanted, compare_merges);
}

static void consider(const struct tokenizer *tokenizer, struct word *word, size_t left)
{
	const struct merge *merge = merge_at(tokenizer, word, left);
	if (merge)
		push(word, (struct pair){merge->rank, left});
}

static void merge_all(const struct tokenizer *tokenizer, struct word *word)
{
	while (word->pairs) {
		struct pair pair = pop(word);
		const struct merge *merge = merge_at(tokenizer, word, pair.left);
		if (!merge || merge->rank != pair.rank)
			continue; /* one of the two was merged with another since */
		struct part *part = &word->parts[pair.left], *gone = &word->parts[part->next];
		part->id = merge->whole;
		part->next = gone->next;
		if (part->next != NONE)
			word->parts[part->next].previous = pair.left;
		gone->next = GONE;
		consider(tokenizer, word, part->previous);
		consider(tokenizer, word, pair.left);
	}
}

static int reserve(struct word *word, size_t length, struct error *error)
{
	if (length <= word->capacity)
		return 0;
	free(word->parts);
	free(word->heap);
	word->capacity = 2 * length;
	word->parts = calloc(word->capacity, sizeof *word->parts);
	word->heap = calloc(3 * word->capacity, sizeof *word->heap);
	if (!word->parts || !word->heap) {
		word->capacity = 0;
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for a word of %zu bytes", length);
	}
	return 0;
}

/* Appends the tokens of one word. Every byte of it has a token. */
static int encode_word(
	const struct tokenizer *tokenizer, const char *text, size_t length, struct word *word,
	struct tokens *append_to, struct error *error)
{
	if (reserve(word, length, error))
		return error->exit_code;
	for (size_t i = 0; i < length; i++)
		word->parts[i] = (struct part){
			tokenizer->byte_token[(unsigned char)text[i]], i ? i - 1 : NONE,
			i + 1 < length ? i + 1 : NONE};
	word->pairs = 0;
	for (size_t i = 0; i < length; i++)
		consider(tokenizer, word, i);
	merge_all(tokenizer, word);
	for (size_t i = 0; i != NONE; i = word->parts[i].next)
		if (tokens_append(append_to, word->parts[i].id, error))
			return error->exit_code;
	return 0;
}

/* The first byte that cannot be encoded is an error; `skip` bytes before the text are not the user's. */
static int check_text(
	const struct tokenizer *tokenizer, const char *what, const char *text, size_t length, size_t skip,
	struct error *error)
{
	for (size_t at = 0; at < length;) {
		uint32_t code;
		size_t bytes = utf8_character(text + at, length - at, &code);
		if (bytes == 0)
			return error_set(
				error, EXIT_USAGE, "%s: byte 0x%02x at offset %zu is not valid UTF-8", what,
				(unsigned char)text[at], at - skip);
		for (; bytes > 0; bytes--, at++)
			if (tokenizer->byte_token[(unsigned char)text[at]] < 0)
				return error_set(
					error, EXIT_USAGE, "%s: byte 0x%02x at offset %zu has no token in this model",
					what, (unsigned char)text[at], at - skip);
	}
	return 0;
}

static int encode(
	const struct tokenizer *tokenizer, const char *what, const char *text, size_t length, size_t skip,
	struct tokens *append_to, struct error *error)
{
	if (check_text(tokenizer, what, text, length, skip, error))
		return error->exit_code;
	struct word word = {0};
	size_t before_text = append_to->count;
	int result = 0;
	for (size_t piece_end = 0, at = 0; !result && at < length;) {
		if (at == piece_end)
			piece_end += piece_length(text + at, length - at);
		size_t bytes = word_length(text + at, piece_end - at);
		result = encode_word(tokenizer, text + at, bytes, &word, append_to, error);
		at += bytes;
	}
	if (result)
		append_to->count = before_text;
	free(word.parts);
	free(word.heap);
	return result;
}

int tokenizer_encode(
	const struct tokenizer *tokenizer, const char *text, size_t length, struct tokens *append_to,
	struct error *error)
{
	return encode(tokenizer, "the text", text, length, 0, append_to, error);
}

/* ---- a conversation ---- */

static int append_control(
	const struct tokenizer *tokenizer, const char *name, struct tokens *append_to, struct error *error)
{
	int id = tokenizer_control(tokenizer, name);
	if (id < 0)
		return error_set(error, EXIT_USAGE, "the model has no token %s, which a conversation needs", name);
	return tokens_append(append_to, id, error);
}

/* <|im_start|>ROLE\nTEXT; the role and the text are one text to the tokenizer. */
static int append_turn(
	const struct tokenizer *tokenizer, const char *what, const char *role, const char *text,
	struct tokens *append_to, struct error *error)
{
	if (append_control(tokenizer, "<|im_start|>", append_to, error))
		return error->exit_code;
	char *turn;
	int length = asprintf(&turn, "%s\n%s", role, text);
	if (length < 0)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for %s", what);
	int result = encode(tokenizer, what, turn, (size_t)length, strlen(role) + 1, append_to, error);
	free(turn);
	return result;
}

static int append_end(const struct tokenizer *tokenizer, struct tokens *append_to, struct error *error)
{
	int result = append_control(tokenizer, "<|im_end|>", append_to, error);
	return result ? result : tokenizer_encode(tokenizer, "\n", 1, append_to, error);
}

int chat_prompt(
	const struct tokenizer *tokenizer, const char *system, const char *user, struct tokens *append_to,
	struct error *error)
{
	if (user[0] == '\0')
		return error_set(error, EXIT_USAGE, "the prompt is empty, expected a question");
	size_t before_prompt = append_to->count;
	if (append_turn(
		    tokenizer, "the system prompt", "system", system ? system : DEFAULT_SYSTEM_PROMPT, append_to,
		    error) ||
	    append_end(tokenizer, append_to, error) ||
	    append_turn(tokenizer, "the prompt", "user", user, append_to, error) ||
	    append_end(tokenizer, append_to, error) ||
	    append_turn(tokenizer, "the prompt", "assistant", "", append_to, error)) {
		append_to->count = before_prompt;
		return error->exit_code;
	}
	return 0;
}
