/*
 * Is what a kernel did right? Its outputs against the reference, its counts against its closed forms.
 */
#ifndef RUN_COMPARE_H
#define RUN_COMPARE_H

#include "result.h"

/*
 * Copies each output of the kernel back, compares it and fills in kernel->outputs, `worst`, `verified` and `failure`.
 * Worst elements of wrong outputs are printed on `diagnostics`. Returns 0, also where an output is wrong, or
 * EXIT_ENVIRONMENT.
 */
int compare_outputs(
	const struct run_result *result, struct kernel_result *kernel, const struct expectations *expectations,
	const struct device_memory *memory, FILE *diagnostics, struct error *error);

/* Memory that a launcher allocates is scratch, and scratch is a tensor of its description: more than those held makes the
 * kernel not verified. */
void compare_memory(struct kernel_result *kernel, size_t declared_bytes);

/* Fills in what was measured. A count that is not its closed form makes the kernel not verified. */
void compare_forms(struct kernel_result *kernel);

#endif
