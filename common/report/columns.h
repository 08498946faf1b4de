/*
 * Tables of a lesson: a row a kernel, a column a number. A chapter names its columns; a number is a function here, or one
 * of the chapter's own.
 */
#ifndef REPORT_COLUMNS_H
#define REPORT_COLUMNS_H

#include "chapter.h"

/* How a number is written: 17,301,504 · 8.39 MB · 1.23 ms · 0.0625 or, from 0.1 on, 1.48 · 33.9 (four figures) */
enum unit { UNIT_COUNT, UNIT_BYTES, UNIT_MILLISECONDS, UNIT_RATIO, UNIT_FIGURES };

/* Of one kernel of a run; NAN: not known, and the cell stays empty. */
typedef double value_function(const struct kernel_result *kernel);

struct column {
	const char *head; /* lines of the heading, '\n' between them */
	enum unit unit;
	value_function *value;
};

/*
 * Prints `title`, in bold, and the table of all kernels that were run; with `counted` only those that were counted.
 * The first column, `names`, has the kernels' names; if it ends with '_', without that prefix. At most
 * TABLE_MAX_COLUMNS - 1 columns follow. A row without any number is left out; without any kernel nothing is printed.
 */
void columns_print(
	const struct terminal *terminal, const struct run_result *result, const char *title, bool counted,
	const char *names, const struct column *columns, size_t count);

/* ---- numbers, of all launches of a kernel together ---- */

value_function value_blocks;                /* of the launch that has most */
value_function value_block_bytes;           /* shared memory of a block */
value_function value_requested_bytes;       /* read and written by all threads */
value_function value_footprint_bytes;       /* read and written with a perfect cache */
value_function value_statistics;            /* elements of l, m, LSE, D requested */
value_function value_exponentials;          /* counted */
value_function value_memory_bytes;          /* on the device at most */
value_function value_square_bytes;          /* of that, tensors of N x N */
value_function value_sectors_per_request;   /* of global memory */
value_function value_wavefronts;            /* of shared memory, for each request */
value_function value_ideal_wavefronts;      /* if no two lanes met in a bank */
value_function value_shared_loads;          /* warp-level requests; NAN where there are none */
value_function value_shared_stores;         /* as above */
value_function value_store_wavefronts;      /* of all those stores */
value_function value_conflicts;             /* wavefronts of shared memory that meetings in a bank cost */
value_function value_fma_per_load;          /* the kernel's own FMA for each shared load, both of a whole warp */
value_function value_wavefronts_per_fma;    /* of loads and stores */
value_function value_shared_floats_per_fma; /* that its threads ask shared memory for */
value_function value_floor_ms;
value_function value_time_ms;
value_function value_teraflops; /* FLOP of the formula over the measured time */

#endif
