/* Small arithmetic that every room needs. */
#ifndef SUPPORT_NUMBER_H
#define SUPPORT_NUMBER_H

#include <math.h>
#include <stdbool.h>
#include <stdint.h>

/* Pieces of `size` that cover `count`. */
static inline uint64_t ceil_div(uint64_t count, uint64_t size)
{
	return count / size + (count % size != 0);
}

static inline uint64_t smaller(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

/*
 * A NaN without its sign, which means nothing and differs from machine to machine: 0/0 has it on x86 and has none on
 * 64-bit ARM, and printf writes it, "-nan". For every number that is printed and may be a kernel's.
 */
static inline double without_nan_sign(double value)
{
	return isnan(value) ? (double)NAN : value;
}

/*
 * Numbers that people write: decimal digits, nothing before them but a sign (of real numbers), nothing behind them. C's own
 * readers take more: blanks, hexadecimal, "nan". A whole number is within the limits; a real one is finite as an fp32.
 */
bool read_whole(const char *text, uint64_t least, uint64_t most, uint64_t *value);
bool read_real(const char *text, float *value);

/* "17,301,504"; text holds at least 32 bytes. Returns text. */
const char *format_count(uint64_t value, char text[32]);
/* "8.39 MB", three figures, powers of 1000. */
const char *format_bytes(double bytes, char text[32]);
/* "1.23 ms", "45.6 us", "7.8 s". */
const char *format_milliseconds(double ms, char text[32]);

#endif
