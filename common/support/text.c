#include "support/text.h"

size_t utf8_length(const char *text)
{
	const unsigned char *c = (const unsigned char *)text;
	size_t length = c[0] < 0x80 ? 1 : c[0] < 0xc2 ? 0 : c[0] < 0xe0 ? 2 : c[0] < 0xf0 ? 3 : c[0] < 0xf5 ? 4 : 0;
	/* The second byte also keeps out longer spellings than needed, halves of surrogate pairs and what is beyond U+10FFFF. */
	unsigned char least = c[0] == 0xe0 ? 0xa0 : c[0] == 0xf0 ? 0x90 : 0x80;
	unsigned char most = c[0] == 0xed ? 0x9f : c[0] == 0xf4 ? 0x8f : 0xbf;
	for (size_t i = 1; i < length; i++, least = 0x80, most = 0xbf)
		if (c[i] < least || c[i] > most)
			return 0;
	return length;
}
