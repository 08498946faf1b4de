#include "support/number.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

static const char digits[] = "0123456789";

bool read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	size_t length = strspn(text, digits);
	errno = 0;
	*value = strtoull(text, NULL, 10);
	return length > 0 && text[length] == '\0' && !errno && *value >= least && *value <= most;
}

static const char *skip_sign(const char *text)
{
	return text + (*text == '+' || *text == '-');
}

bool read_real(const char *text, float *value)
{
	const char *at = skip_sign(text);
	size_t whole = strspn(at, digits), fraction = 0, exponent = 1;
	at += whole;
	if (*at == '.') {
		fraction = strspn(at + 1, digits);
		at += 1 + fraction;
	}
	if (*at == 'e' || *at == 'E') {
		at = skip_sign(at + 1);
		exponent = strspn(at, digits);
		at += exponent;
	}
	*value = strtof(text, NULL);
	return whole + fraction > 0 && exponent > 0 && *at == '\0' && isfinite(*value);
}
