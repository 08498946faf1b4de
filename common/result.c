#include "result.h"

#include <stdlib.h>
#include <string.h>

const struct kernel_result *result_counted(const struct run_result *result, const char *name)
{
	for (size_t i = 0; i < result->kernel_count; i++) {
		const struct kernel_result *kernel = &result->kernels[i];
		if (strcmp(kernel->kernel->name, name) == 0 && !*kernel->skipped && kernel->counts.counted)
			return kernel;
	}
	return NULL;
}

const struct kernel_result *result_failed(const struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++)
		if (!result->kernels[i].verified && !*result->kernels[i].skipped)
			return &result->kernels[i];
	return NULL;
}

bool result_tells(const struct run_result *result, enum option_name option)
{
	uint64_t bit = OPTION_BIT(option), told = result->options->given;
	return result->chapter->options & bit & (told | ~OPTIONS_MODIFIERS);
}

void run_result_free(struct run_result *result)
{
	for (size_t i = 0; i < result->kernel_count; i++) {
		counts_free(&result->kernels[i].prepared);
		counts_free(&result->kernels[i].counts);
	}
	result->kernel_count = 0;
	free(result->findings);
	result->findings = NULL;
}
