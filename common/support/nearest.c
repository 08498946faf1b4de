#include "support/nearest.h"

#include <ctype.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum { LONGEST = 40, LEAST_PART = 3, LETTERS_A_MISTAKE = 3 };

static size_t least(size_t a, size_t b)
{
	return a < b ? a : b;
}

static char letter(const char *text, size_t i)
{
	return (char)tolower((unsigned char)text[i]);
}

/* Mistakes between the two: the distance of Damerau and Levenshtein in which no letter is moved twice. */
static size_t mistakes(const char *a, const char *b)
{
	size_t rows = strlen(a), columns = strlen(b), d[LONGEST + 1][LONGEST + 1];
	for (size_t i = 0; i <= rows; i++)
		d[i][0] = i;
	for (size_t j = 0; j <= columns; j++)
		d[0][j] = j;
	for (size_t i = 1; i <= rows; i++)
		for (size_t j = 1; j <= columns; j++) {
			bool same = letter(a, i - 1) == letter(b, j - 1);
			d[i][j] = least(least(d[i - 1][j], d[i][j - 1]) + 1, d[i - 1][j - 1] + !same);
			if (i > 1 && j > 1 && letter(a, i - 1) == letter(b, j - 2) &&
			    letter(a, i - 2) == letter(b, j - 1))
				d[i][j] = least(d[i][j], d[i - 2][j - 2] + 1);
		}
	return d[rows][columns];
}

static bool contains(const char *text, const char *part)
{
	size_t length = strlen(part);
	if (length < LEAST_PART)
		return false;
	for (size_t at = 0; strlen(text) >= at + length; at++) {
		size_t i = 0;
		while (i < length && letter(text, at + i) == letter(part, i))
			i++;
		if (i == length)
			return true;
	}
	return false;
}

static bool has_few(size_t distance, const char *written, const char *word)
{
	size_t a = strlen(written), b = strlen(word), longer = a > b ? a : b;
	size_t forgiven = longer / LETTERS_A_MISTAKE;
	return distance <= (forgiven ? forgiven : 1) && distance < longer;
}

const char *nearest_word(const char *written, const char *const *words, size_t count)
{
	const char *nearest = NULL;
	size_t least_cost = 0;
	if (!*written || strlen(written) > LONGEST)
		return NULL;
	for (size_t i = 0; i < count; i++) {
		if (!*words[i] || strlen(words[i]) > LONGEST)
			continue;
		size_t distance = mistakes(written, words[i]);
		bool is_part = contains(written, words[i]) || contains(words[i], written);
		size_t cost = 2 * distance +
		              !is_part; /* of two that are as near, the one that is a part: --tim is --time */
		if ((is_part || has_few(distance, written, words[i])) && (!nearest || cost < least_cost)) {
			nearest = words[i];
			least_cost = cost;
		}
	}
	return nearest;
}

const char *nearest_text(const char *written, const char *const *words, size_t count, char text[NEAREST_TEXT_SIZE])
{
	const char *nearest = nearest_word(written, words, count);
	text[0] = '\0';
	if (nearest)
		snprintf(text, NEAREST_TEXT_SIZE, "; did you mean %s?", nearest);
	return text;
}
