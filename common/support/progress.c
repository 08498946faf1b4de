#include "support/progress.h"

#include "support/clock.h"

#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

static const double interval_s = 0.1;

struct progress progress_new(bool wanted)
{
	return (struct progress){.shown = wanted && isatty(STDERR_FILENO), .last_s = -1.0};
}

void progress_show(struct progress *progress, bool urgent, const char *format, ...)
{
	if (!progress->shown)
		return;
	double now_s = clock_seconds();
	if (!urgent && now_s - progress->last_s < interval_s)
		return;
	progress->last_s = now_s;
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
