/*
 * Every number and word that a report gives of a kernel: what it is called in --tsv and --json, its unit, where it comes
 * from. One table feeds all reports, and the tables of the chapters (columns.h).
 */
#ifndef REPORT_METRICS_H
#define REPORT_METRICS_H

#include "result.h"

/* How it is written for people: 17,301,504 · 8.39 MB · 1.23 ms · 0.0625 or, from 0.1 on, 1.48 · 33.9 (four figures) ·
 * a word. The first two are whole numbers. */
enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_MILLISECONDS, UNIT_RATIO, UNIT_FIGURES, UNIT_TEXT };

static inline bool unit_is_whole(enum unit unit)
{
	return unit == UNIT_COUNT || unit == UNIT_BYTES;
}

/* Counts are those of all launches of the kernel together. */
enum metric_name {
	METRIC_NONE, /* ends a list */

	/* Columns of --tsv, in their order. */
	METRIC_NAME,
	METRIC_VERIFIED,
	METRIC_MAX_ABS, /* of the output that is worst, relative to its tolerance */
	METRIC_TOLERANCE,
	METRIC_MEDIAN_MS,
	METRIC_P10_MS,
	METRIC_P90_MS,
	METRIC_RUNS,
	METRIC_TIME_KIND,
	METRIC_FLOOR_MS,
	METRIC_BOUND_BY,
	METRIC_FLOP,
	METRIC_REQUESTED_READ_BYTES, /* by all threads */
	METRIC_REQUESTED_WRITE_BYTES,
	METRIC_ATOMIC_BYTES,
	METRIC_READ_SECTORS,
	METRIC_WRITE_SECTORS,
	METRIC_FOOTPRINT_READ_BYTES, /* with a perfect cache */
	METRIC_FOOTPRINT_WRITE_BYTES,
	METRIC_PREDICTED_COUNTS,
	METRIC_PREDICTED_ELEMENTS,
	METRIC_PEAK_BYTES, /* on the device at most */
	METRIC_COUNTED_ELEMENTS,
	METRIC_PREDICTED_REQUESTED_ELEMENTS,
	METRIC_PREDICTED_FOOTPRINT_ELEMENTS,
	METRIC_BLOCKS,       /* of the launch that has most */
	METRIC_SHARED_BYTES, /* of a block */
	METRIC_EXPONENTIALS, /* counted */
	METRIC_HBM_REQUESTS,
	METRIC_SHARED_REQUESTS,
	METRIC_SHARED_WAVEFRONTS,
	METRIC_IDEAL_WAVEFRONTS, /* of shared memory, if no two lanes met in a bank */
	METRIC_SHARED_CONFLICTS, /* wavefronts that meetings in a bank cost */
	METRIC_ERROR_TENSOR,
	METRIC_SKIPPED, /* the last column, after the errors of each output */

	/* For people only. */
	METRIC_REQUESTED_BYTES, /* read and written */
	METRIC_FOOTPRINT_BYTES,
	METRIC_STATISTICS,   /* elements of l, m, LSE, D requested */
	METRIC_SQUARE_BYTES, /* of METRIC_PEAK_BYTES, tensors of N x N */
	METRIC_SECTORS_PER_REQUEST,
	METRIC_WAVEFRONTS_PER_LOAD, /* of shared memory, in the mean */
	METRIC_WAVEFRONTS_PER_STORE,
	METRIC_IDEAL_PER_REQUEST,  /* of loads and stores together */
	METRIC_SHARED_LOADS,       /* warp-level requests; not known where there are none */
	METRIC_BUSY_SMS,           /* SMs that have a block */
	METRIC_FMA_PER_LOAD,       /* the kernel's own FMA for each shared load, both of a whole warp */
	METRIC_WAVEFRONTS_PER_FMA, /* of shared loads and stores */
	METRIC_SHARED_FLOATS_PER_FMA,
	METRIC_TERAFLOPS, /* FLOP of the formula over the measured time */
	METRICS
};

/* Of one kernel of a run; NAN: not known. */
typedef double value_function(const struct kernel_result *kernel);
typedef const char *text_function(const struct kernel_result *kernel); /* NULL: not known */

/* When a number of a kernel is known. */
enum known { ALWAYS, WHEN_CHECKED, WHEN_TIMED, WHEN_BOUNDED, WHEN_COUNTED, WHEN_COMPARED };

/* A number is a field of struct kernel_result, or worked out by `value`; a word is what `text` says. */
struct metric {
	const char *tsv, *json; /* the column; the key, in the object where report_json.c puts it. NULL: in neither */
	enum unit unit;
	enum known known;
	size_t offset; /* of a double; of a uint64_t or size_t where the unit is a whole number */
	value_function *value;
	text_function *text;
};

extern const struct metric metrics[METRICS];

double metric_value(const struct kernel_result *kernel, enum metric_name name);

enum { METRIC_TEXT_SIZE = 64 };

/* For people; "" where it is not known. Returns text. */
const char *metric_format(double value, enum unit unit, char text[METRIC_TEXT_SIZE]);

#endif
