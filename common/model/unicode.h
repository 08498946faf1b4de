/* UTF-8, and the three classes of characters that a tokenizer tells apart. */
#ifndef MODEL_UNICODE_H
#define MODEL_UNICODE_H

#include <stddef.h>
#include <stdint.h>

/* The Unicode version of the classes is in unicode_classes.inc. */
enum unicode_class {
	OTHER,
	LETTER, /* \p{L}: general category L */
	NUMBER, /* \p{N}: general category N */
	BLANK   /* \s: White_Space */
};

enum unicode_class unicode_class(uint32_t code);

/*
 * The character that begins at text[0]; *code is its code point. Returns its length in bytes, 1 to 4, or 0 when no valid
 * UTF-8 begins there: a stray or missing continuation byte, a longer form than needed, a surrogate, a code above
 * U+10FFFF (The Unicode Standard 15, table 3-7).
 */
size_t utf8_character(const char *text, size_t length, uint32_t *code);

#endif
