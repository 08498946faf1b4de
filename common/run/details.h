/*
 * What explorer/ reads of a run, from outside: the arrays that --details DIR writes, raw and in the machine's byte order.
 * report/report_details.c writes run.json beside them.
 *
 *     q.npy ...         each input, as --load reads it
 *     K.C.actual        float[elements], of output C (of outputs[] in run.json) of kernel K
 *     K.C.expected      double[row_count, row_length]
 *     K.C.ratio         double, the same shape: error / tolerance, check_element
 *     K.C.rows          uint64_t[row_count], flat indices of the rows that were checked, where that is not all of them
 *     trace, report     what SIM_TRACE and SIM_REPORT would hold, with --explain
 */
#ifndef RUN_DETAILS_H
#define RUN_DETAILS_H

#include "result.h"
#include "run/tensors.h"

/* From here on the simulated device writes down what it does. A file that the user's SIM_TRACE or SIM_REPORT names stays the
 * only one. EXIT_ENVIRONMENT where it cannot be written. */
int details_record(const char *directory, bool with_trace, struct error *error);

/* EXIT_ENVIRONMENT where a file cannot be written. */
int details_inputs(
	const char *directory, const struct kernel *kernels, size_t kernel_count, const struct problem *problem,
	const struct inputs *inputs, struct error *error);

/* Of output `number` of the kernel `kernel`, counted from 0. EXIT_ENVIRONMENT where a file cannot be written. */
int details_output(
	const char *directory, size_t kernel, size_t number, const struct expectation *expectation,
	const float *actual, size_t elements, struct error *error);

#endif
