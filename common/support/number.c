#include "support/number.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static const char decimal_digits[] = "0123456789";

bool read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value)
{
	size_t length = strspn(text, decimal_digits);
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
	size_t whole = strspn(at, decimal_digits), fraction = 0, exponent = 1;
	at += whole;
	if (*at == '.') {
		fraction = strspn(at + 1, decimal_digits);
		at += 1 + fraction;
	}
	if (*at == 'e' || *at == 'E') {
		at = skip_sign(at + 1);
		exponent = strspn(at, decimal_digits);
		at += exponent;
	}
	*value = strtof(text, NULL);
	return whole + fraction > 0 && exponent > 0 && *at == '\0' && isfinite(*value);
}

const char *format_count(uint64_t value, char text[32])
{
	char digits[24];
	int length = snprintf(digits, sizeof digits, "%" PRIu64, value);
	char *to = text;
	for (int i = 0; i < length; i++) {
		if (i > 0 && (length - i) % 3 == 0)
			*to++ = ',';
		*to++ = digits[i];
	}
	*to = '\0';
	return text;
}

/* Three significant figures. */
static void format_scaled(double value, const char *unit, char text[32])
{
	int decimals = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
	snprintf(text, 32, "%.*f %s", decimals, value, unit);
}

const char *format_bytes(double bytes, char text[32])
{
	static const char *const units[] = {"kB", "MB", "GB", "TB", "PB"};
	size_t unit = 0;
	if (bytes < 1000.0) {
		snprintf(text, 32, "%.0f B", bytes);
		return text;
	}
	for (bytes /= 1000.0; bytes >= 999.5 && unit + 1 < sizeof units / sizeof units[0]; unit++)
		bytes /= 1000.0;
	format_scaled(bytes, units[unit], text);
	return text;
}

const char *format_milliseconds(double ms, char text[32])
{
	if (ms >= 999.5) /* three figures of a smaller unit would be four */
		format_scaled(ms / 1000.0, "s", text);
	else if (ms >= 0.9995)
		format_scaled(ms, "ms", text);
	else if (ms >= 0.9995e-3)
		format_scaled(ms * 1e3, "us", text);
	else
		format_scaled(ms * 1e6, "ns", text);
	return text;
}
