/*
 * A kernel run once more, on another problem than the run's: is it wrong there, too? Nothing is counted, recorded or
 * reported of it.
 */
#ifndef EXPLAIN_RUN_AGAIN_H
#define EXPLAIN_RUN_AGAIN_H

#include "result.h"

struct rerun_output {
	const char *tensor;
	bool wrong;
	size_t at[MAX_RANK], rank; /* its first wrong element, else its worst */
	double got, expected;
};

struct rerun {
	bool wrong;
	struct rerun_output outputs[MAX_EXPECTATIONS];
	size_t output_count;
};

/*
 * Ends every recording, the user's SIM_TRACE and SIM_REPORT too, which keep what they have. False where the kernel does
 * not run the problem, where there is no memory, or where the device found something.
 */
bool run_again(
	const struct chapter *chapter, const struct kernel *kernel, const struct problem *problem,
	const struct named_values *inputs, struct rerun *rerun, struct error *error);

#endif
