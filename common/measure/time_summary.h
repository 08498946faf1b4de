/*
 * A kernel's times in three numbers: median, 10th and 90th percentile; never a mean.
 */
#ifndef MEASURE_TIME_SUMMARY_H
#define MEASURE_TIME_SUMMARY_H

#include <stdbool.h>
#include <stddef.h>

struct time_summary {
	double median_ms, p10_ms, p90_ms;
	size_t runs;      /* 0: nothing was measured */
	const char *kind; /* "measured-gpu" or "measured-cpu" */
};

/* Sorts `ms` and summarizes it, the kind left to the caller; percentiles by linear interpolation. */
struct time_summary time_summarise(double *ms, size_t count);

/* Standard error of the mean below 1 % of the mean; never with fewer than 5 samples. */
bool time_is_settled(const double *ms, size_t count);

#endif
