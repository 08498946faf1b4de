#include "support/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *error, int exit_code, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	error->exit_code = exit_code;
	return exit_code;
}
