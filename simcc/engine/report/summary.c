/* The end of the program: what is said only then, the summary, and the exit status. */
#include <inttypes.h>
#include <stdlib.h>
#include <unistd.h>

#include "report/output.h"

static void report_leaks(void)
{
	if (sim_allocated_bytes() == 0)
		return;
	for (size_t i = 0; i < sim_allocation_count(); i++) {
		const struct sim_allocation *a = sim_allocation_at(i);
		if (a->freed || a->is_variable)
			continue;
		struct hazard hazard = {
			.tool = SIM_LEAKCHECK,
			.kind = "leak",
			.severity = "error",
			.kernel = "",
			.signature = "",
			.space = "global",
			.index = INT64_MIN,
			.count = a->size};
		snprintf(
			hazard.headline, sizeof hazard.headline, "Leaked %zu bytes at %p", a->size, (void *)a->first);
		snprintf(hazard.detail[0], sizeof hazard.detail[0], "'%s' was never freed", a->name);
		snprintf(hazard.array, sizeof hazard.array, "%s", a->name);
		report_hazard(&hazard);
	}
}

static void summarize(int status, void *unused)
{
	(void)unused;
	if (sim_options()->check[SIM_LEAKCHECK])
		report_leaks();
	report_refusals(status);
	print_repeated();
	const uint64_t errors = sim_error_count();
	if (errors > 0) {
		fflush(NULL);
		fprintf(stderr, "========= ERROR SUMMARY: %" PRIu64 " error%s\n", errors, errors == 1 ? "" : "s");
		if (status == 0)
			_exit(1); /* right numbers do not excuse a wrong program */
	}
	if (status == 0 && (trace_has_failed() || report_has_failed())) {
		fflush(NULL);
		_exit(3);
	}
}

/* Registered before anything of the program's own, so that it is the last to run. */
__attribute__((constructor)) static void summarise_at_exit(void)
{
	on_exit(summarize, NULL);
}
