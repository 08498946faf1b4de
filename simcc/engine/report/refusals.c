/*
 * Launches a GPU would not accept, and what is said about one. A program that never looks at the error would go on as
 * if the kernel had run; at its end it is told.
 */
#include <inttypes.h>
#include <stdarg.h>
#include <string.h>

#include "report/output.h"

static struct {
	char last[800];  /* why, and where; "" if the last launch was none */
	bool told;       /* the program has read it */
	char first[400]; /* of those whose error nobody has looked at yet, and its kernel */
	char name[100];
	cudaError_t error;
	struct callers callers; /* of the first */
	uint64_t unseen;
} refusals;

void report_refusal(const struct request *request, cudaError_t error, const char *format, ...)
{
	const dim3 grid = request->grid, block = request->block;
	char dynamic[32] = "";
	if (request->dynamic_shared_bytes > 0)
		snprintf(dynamic, sizeof dynamic, ", %zu", request->dynamic_shared_bytes);
	refusals.told = false;
	const int used = snprintf(
		refusals.last, sizeof refusals.first,
		"%.100s<<<(%u,%u,%u), (%u,%u,%u)%s>>> was refused: ", request->name, grid.x, grid.y, grid.z, block.x,
		block.y, block.z, dynamic);
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(refusals.last + used, sizeof refusals.first - (size_t)used, format, arguments);
	va_end(arguments);
	if (refusals.unseen++ == 0) {
		memcpy(refusals.first, refusals.last, sizeof refusals.first);
		snprintf(refusals.name, sizeof refusals.name, "%s", request->name);
		refusals.error = error;
		refusals.callers = callers_of_this();
	}
	const size_t said = strlen(refusals.last);
	snprintf(
		refusals.last + said, sizeof refusals.last - said, " (launched at %.300s:%u)", request->file,
		request->line);
}

void set_refusal(const char *format, ...)
{
	refusals.last[0] = '\0';
	refusals.told = false;
	if (!format)
		return;
	va_list arguments;
	va_start(arguments, format);
	vsnprintf(refusals.last, sizeof refusals.last, format, arguments);
	va_end(arguments);
}

const char *sim_refusal(void)
{
	refusals.told = true;
	return refusals.last[0] != '\0' ? refusals.last : NULL;
}

void refusals_seen(void)
{
	refusals.unseen = 0;
}

void report_refusals(int status)
{
	if (refusals.unseen == 0) {
		if (status != 0 && refusals.last[0] != '\0' && !refusals.told) {
			fflush(stdout);
			fprintf(stderr, "========= Note: %s\n", refusals.last); /* the error's name tells no limit */
		}
		return;
	}
	struct hazard hazard = {
		.tool = SIM_MEMCHECK,
		.kind = "launch_refused",
		.severity = "error",
		.kernel = refusals.name,
		.index = INT64_MIN,
		.count = refusals.unseen};
	char more[40] = "";
	if (refusals.unseen > 1)
		snprintf(more, sizeof more, ", nor for %" PRIu64 " more", refusals.unseen - 1);
	snprintf(hazard.headline, sizeof hazard.headline, "%s", refusals.first);
	snprintf(
		hazard.detail[0], sizeof hazard.detail[0],
		"The program never asked for the error%s (cudaGetLastError: %s)", more,
		cudaGetErrorName(refusals.error));
	hazard_locate_call(&hazard, &refusals.callers);
	tell_hazard(&hazard, refusals.unseen, true);
}
