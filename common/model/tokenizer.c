#include "model/tokenizer.h"

#include "model/unicode.h"

#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

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

const char *tokenizer_bytes(const struct tokenizer *tokenizer, int id, size_t *length)
{
	size_t start = id ? tokenizer->token_end[id - 1] : 0;
	*length = tokenizer->token_end[id] - start;
	return tokenizer->text + start;
}

static bool is_token(const struct tokenizer *tokenizer, int id)
{
	return id >= 0 && id < tokenizer->count;
}

static int compare_merges(const void *a, const void *b)
{
	const struct merge *first = a, *second = b;
	if (first->left != second->left)
		return first->left < second->left ? -1 : 1;
	return (first->right > second->right) - (first->right < second->right);
}

/* Is the whole what its parts are, one after the other? */
static bool is_merge(const struct tokenizer *tokenizer, const struct merge *merge)
{
	if (!is_token(tokenizer, merge->left) || !is_token(tokenizer, merge->right) ||
	    !is_token(tokenizer, merge->whole))
		return false;
	size_t left, right, whole;
	const char *first = tokenizer_bytes(tokenizer, merge->left, &left);
	const char *second = tokenizer_bytes(tokenizer, merge->right, &right);
	const char *both = tokenizer_bytes(tokenizer, merge->whole, &whole);
	return whole == left + right && memcmp(both, first, left) == 0 && memcmp(both + left, second, right) == 0;
}

int tokenizer_check(const struct tokenizer *tokenizer, const char *path, struct error *error)
{
	uint32_t end = 0;
	for (int id = 0; id < tokenizer->count; end = tokenizer->token_end[id++])
		if (tokenizer->token_end[id] <= end || tokenizer->token_end[id] > tokenizer->text_bytes)
			return error_set(
				error, EXIT_USAGE, "%s: token %d ends before it begins, or too late", path, id);
	for (int byte = 0; byte < BYTES; byte++) {
		int id = tokenizer->byte_token[byte];
		size_t length = 0;
		const char *bytes = is_token(tokenizer, id) ? tokenizer_bytes(tokenizer, id, &length) : NULL;
		if (id != -1 && (length != 1 || (unsigned char)bytes[0] != byte))
			return error_set(
				error, EXIT_USAGE, "%s: token %d does not stand for byte %d", path, id, byte);
	}
	for (size_t i = 0; i < tokenizer->merge_count; i++) {
		const struct merge *merge = &tokenizer->merges[i];
		if (!is_merge(tokenizer, merge) || (i && compare_merges(merge - 1, merge) >= 0))
			return error_set(
				error, EXIT_USAGE, "%s: merge %zu joins no two tokens to a third, or is not sorted",
				path, i);
	}
	if (!is_token(tokenizer, tokenizer->start) || !is_token(tokenizer, tokenizer->end))
		return error_set(
			error, EXIT_USAGE, "%s: <|im_start|> is %d, <|im_end|> %d, expected tokens below %d", path,
			tokenizer->start, tokenizer->end, tokenizer->count);
	return 0;
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

/* Memory for the longest word of a text, used again for the next. */
struct word {
	struct part *parts; /* [length] */
	struct pair *heap;  /* [3 length]: the smallest rank on top, of equal ones the leftmost */
	size_t pairs;
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

/* Appends the tokens of one word. Every byte of it has a token. */
static int encode_word(
	const struct tokenizer *tokenizer, const char *text, size_t length, struct word *word,
	struct tokens *append_to, struct error *error)
{
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
	struct word word = {calloc(length + 1, sizeof *word.parts), calloc(3 * length + 1, sizeof *word.heap), 0};
	size_t before_text = append_to->count;
	int result = word.parts && word.heap ? 0 : error_set(error, EXIT_ENVIRONMENT, "out of memory for %s", what);
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

/* <|im_start|>ROLE\nTEXT; the role and the text are one text to the tokenizer. */
static int append_turn(
	const struct tokenizer *tokenizer, const char *what, const char *role, const char *text,
	struct tokens *append_to, struct error *error)
{
	if (tokens_append(append_to, tokenizer->start, error))
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
	int result = tokens_append(append_to, tokenizer->end, error);
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
