#include "support/progress.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

struct progress progress_new(bool wanted)
{
	return (struct progress){.shown = wanted && isatty(STDERR_FILENO)};
}

void progress_show(struct progress *progress, const char *format, ...)
{
	if (!progress->shown)
		return;
	progress->dirty = true;

	char line[200]; /* cut to a terminal's width: a wrapped line cannot be wiped */
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(line, sizeof line, format, arguments);
	va_end(arguments);
	fprintf(stderr, "\r\x1b[K%.79s", line);
	fflush(stderr);
}

void progress_clear(struct progress *progress)
{
	if (progress->dirty)
		fputs("\r\x1b[K", stderr);
	progress->dirty = false;
}
