#include "support/error.h"

#include <stdarg.h>
#include <stdio.h>

int error_set(struct error *error, int exit_code, const char *format, ...)
{
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(error->message, sizeof error->message, format, arguments);
	va_end(arguments);
	for (char *c = error->message; *c; c++)
		if ((unsigned char)*c < ' ' || *c == '\x7f')
			*c = '?'; /* of what the user wrote: a message is one line, and no terminal's command */
	error->exit_code = exit_code;
	return exit_code;
}
