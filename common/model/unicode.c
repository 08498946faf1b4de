#include "model/unicode.h"

/* Characters without a class, then some of one. */
enum { L = LETTER, N = NUMBER, B = BLANK };
static const struct {
	uint16_t skipped, length, class;
} runs[] = {
#include "model/unicode_classes.inc"
};

enum unicode_class unicode_class(uint32_t code)
{
	uint32_t end = 0;
	for (size_t i = 0; i < sizeof runs / sizeof runs[0]; i++) {
		end += runs[i].skipped;
		if (code < end)
			break;
		end += runs[i].length;
		if (code < end)
			return (enum unicode_class)runs[i].class;
	}
	return OTHER;
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
