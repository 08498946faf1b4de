/*
 * The C library, as device code calls it: the plugin renames the call of f in device code to sim_f. Exponentials are
 * counted; a second result is a store like any other; output waits for the end of the launch; a failed assert ends
 * the launch.
 */
#include <float.h>
#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "run/worker.h"

/* GNU's: not every C library declares them. */
extern float exp10f(float x);
extern double exp10(double x);
extern void sincosf(float x, float *sine, float *cosine);
extern void sincos(double x, double *sine, double *cosine);

#define EXPONENTIAL(name, type)                                                                                      \
	type sim_##name(type x);                                                                                     \
	type sim_##name(type x)                                                                                      \
	{                                                                                                            \
		sim_count_exp();                                                                                     \
		return name(x);                                                                                      \
	}

EXPONENTIAL(expf, float)
EXPONENTIAL(exp, double)
EXPONENTIAL(exp2f, float)
EXPONENTIAL(exp2, double)
EXPONENTIAL(exp10f, float)
EXPONENTIAL(exp10, double)
EXPONENTIAL(expm1f, float)
EXPONENTIAL(expm1, double)

/* PTX's ex2.approx.ftz.f32: what is subnormal is 0. */
float sim_ex2_ftz(float x);
float sim_ex2_ftz(float x)
{
	const float result = sim_exp2f(x);
	return result < FLT_MIN ? 0.0f : result;
}

/* C's functions that store a second result: the library does it, so the store is told here. */
#define TELL_STORE(pointer) sim_access(pointer, __builtin_ctz(sizeof *(pointer)), SIM_OP_STORE, CALL_SITE())

#define STORING_HOOK(name, type, result)                                                                             \
	type sim_##name(type x, result *stored)                                                                      \
	{                                                                                                            \
		TELL_STORE(stored);                                                                                  \
		return name(x, stored);                                                                              \
	}
#define REMQUO_HOOK(name, type)                                                                                      \
	type sim_##name(type x, type y, int *quotient)                                                               \
	{                                                                                                            \
		TELL_STORE(quotient);                                                                                \
		return name(x, y, quotient);                                                                         \
	}
#define SINCOS_HOOK(name, type)                                                                                      \
	void sim_##name(type x, type *sine, type *cosine)                                                            \
	{                                                                                                            \
		TELL_STORE(sine);                                                                                    \
		TELL_STORE(cosine);                                                                                  \
		name(x, sine, cosine);                                                                               \
	}

STORING_HOOK(modf, double, double)
STORING_HOOK(modff, float, float)
STORING_HOOK(frexp, double, int)
STORING_HOOK(frexpf, float, int)
REMQUO_HOOK(remquo, double)
REMQUO_HOOK(remquof, float)
SINCOS_HOOK(sincos, double)
SINCOS_HOOK(sincosf, float)

int sim_printf(const char *format, ...) __attribute__((format(printf, 1, 2)));
int sim_vprintf(const char *format, va_list arguments) __attribute__((format(printf, 1, 0)));
void sim_assert_fail(const char *expression, const char *file, unsigned line, const char *function)
	__attribute__((noreturn));

int sim_vprintf(const char *format, va_list arguments)
{
	char text[512], *longer = NULL;
	va_list again;
	va_copy(again, arguments);
	int length = vsnprintf(text, sizeof text, format, arguments);
	if (length >= (int)sizeof text) {
		longer = need(malloc((size_t)length + 1));
		vsnprintf(longer, (size_t)length + 1, format, again);
	}
	va_end(again);
	if (length > 0)
		sim_device_write(longer ? longer : text, (size_t)length);
	free(longer);
	return length;
}

int sim_printf(const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	int length = sim_vprintf(format, arguments);
	va_end(arguments);
	return length;
}

void sim_assert_fail(const char *expression, const char *file, unsigned line, const char *function)
{
	const uint3 block = sim_lane->worker->block, thread = sim_lane->thread;
	sim_device_abort(
		cudaErrorAssert, NO_SITE, file, line,
		"%s:%u: %s: block: [%u,%u,%u], thread: [%u,%u,%u] Assertion `%s` failed.", file, line, function,
		block.x, block.y, block.z, thread.x, thread.y, thread.z, expression);
}
