/*
 * One problem through the kernels of a chapter: inputs, reference, launch, comparison, counts, time.
 */
#ifndef RUN_RUN_H
#define RUN_RUN_H

#include "result.h"
#include "support/progress.h"

/*
 * Runs `kernels` (a part of the chapter's table) on the problem in result->problem. The caller fills in chapter,
 * options, problem and device. With `named` a kernel that cannot run the problem is EXIT_ENVIRONMENT; otherwise it is
 * skipped, with a reason. Worst elements of failed outputs are printed on `diagnostics`. With options->save the
 * outputs of the last kernel run are written.
 *
 * Returns EXIT_ALL_VERIFIED, EXIT_VERIFICATION (result is complete, nothing in *error), or another code and *error.
 * run_result_free frees what result holds, in every case.
 */
int run_problem(
	struct run_result *result, const struct kernel *kernels, size_t kernel_count, bool named,
	struct progress *progress, FILE *diagnostics, struct error *error);

#endif
