/*
 * Launches a GPU would not accept, and what is said about one. A program that never looks at the error would go on as
 * if the kernel had run; at its end it is told.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "report/output.h"

static struct {
	char last[400];  /* why; "" if the last launch was none */
	char first[400]; /* of those whose error nobody has looked at yet */
	uint64_t unseen;
} refusals;

void report_refusal(const struct request *request, const char *format, ...)
{
	const dim3 grid = request->grid, block = request->block;
	char dynamic[32] = "";
	if (request->dynamic_shared_bytes > 0)
		snprintf(dynamic, sizeof dynamic, ", %zu", request->dynamic_shared_bytes);
	const int used = snprintf(
		refusals.last, sizeof refusals.last,
		"%.100s<<<(%u,%u,%u), (%u,%u,%u)%s>>> was refused: ", request->name, grid.x, grid.y, grid.z, block.x,
		block.y, block.z, dynamic);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(refusals.last + used, sizeof refusals.last - (size_t)used, format, arguments);
	va_end(arguments);
	if (refusals.unseen++ == 0)
		memcpy(refusals.first, refusals.last, sizeof refusals.first);
}

void set_refusal(const char *format, ...)
{
	refusals.last[0] = '\0';
	if (!format)
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(refusals.last, sizeof refusals.last, format, arguments);
	va_end(arguments);
}

const char *sim_refusal(void)
{
	return refusals.last[0] != '\0' ? refusals.last : NULL;
}

void refusals_seen(void)
{
	refusals.unseen = 0;
}

void report_refusals(void)
{
	if (refusals.unseen == 0)
		return;
	fflush(NULL);
	fprintf(stderr, "========= %s. The program never asked for the error", refusals.first);
	if (refusals.unseen > 1)
		fprintf(stderr, ", nor for %" PRIu64 " more", refusals.unseen - 1);
	fprintf(stderr, " (cudaGetLastError)\n");
}
