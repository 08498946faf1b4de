#include "model/unicode.h"

#include <stdlib.h>

struct range {
	uint32_t first, last;
	enum unicode_class class;
};

static const struct range ranges[] = {
#include "model/unicode_classes.inc"
};

static int compare(const void *key, const void *element)
{
	uint32_t code = *(const uint32_t *)key;
	const struct range *range = element;
	return (code > range->last) - (code < range->first);
}

enum unicode_class unicode_class(uint32_t code)
{
	const struct range *found =
		bsearch(&code, ranges, sizeof ranges / sizeof ranges[0], sizeof ranges[0], compare);
	return found ? found->class : OTHER;
}

size_t utf8_character(const char *text, size_t length, uint32_t *code)
{
	/* The smallest code point that needs so many bytes. */
	static const uint32_t smallest[] = {0, 0, 0x80, 0x800, 0x10000};
	if (length == 0)
		return 0;
	unsigned char lead = (unsigned char)text[0];
	size_t bytes = lead < 0x80 ? 1 : lead < 0xc0 ? 0 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : lead < 0xf8 ? 4 : 0;
	if (bytes == 0 || bytes > length)
		return 0;
	*code = bytes == 1 ? lead : lead & (0x7fu >> bytes);
	for (size_t i = 1; i < bytes; i++) {
		unsigned char next = (unsigned char)text[i];
		if ((next & 0xc0) != 0x80)
			return 0;
		*code = *code << 6 | (next & 0x3fu);
	}
	if (*code < smallest[bytes] || *code > 0x10ffff || (*code >= 0xd800 && *code < 0xe000))
		return 0;
	return bytes;
}
