/*
 * What a run found out: of each output, of each kernel, of all. run.c fills it in, report/ tells it.
 */
#ifndef RESULT_H
#define RESULT_H

#include "chapter.h"
#include "measure/counts.h"
#include "measure/floors.h"
#include "measure/time_summary.h"
#include "verify/expectations.h"

/* What the comparison said of one output of a kernel. */
struct output_result {
	struct check check;
	size_t shape[MAX_RANK], rank, row_length;
	size_t at[MAX_RANK]; /* coordinates of its worst element */
	bool prepared;       /* by `prepare`, for the kernel */
	char unwritten[200]; /* "2 of 140 rows of O were never written: ..."; "" where all of it was */
};

struct kernel_result {
	const struct kernel *kernel;
	const struct problem *problem; /* the run's */
	char skipped[200];             /* why it was not run; "" when it was */
	bool verified;
	char failure[1000]; /* why it is not verified, when no element of an output shows it */
	bool right_by_luck; /* the simulated device reported a hazard, and every output is within its tolerance */
	struct output_result outputs[MAX_EXPECTATIONS]; /* each output, in the order of `tensors` */
	size_t output_count;                            /* 0: nothing was compared */
	size_t worst;                                   /* of outputs: largest error relative to its tolerance */
	struct time_summary time;                       /* runs == 0: no time */
	bool has_floor;
	struct floor floor;
	struct floor filled; /* the same problem with so many heads, B x H, that each SM has one: from closed forms */
	size_t filled_heads; /* 0: the chapter has no batch, or the run has as many heads */
	struct counts prepared, counts; /* of `prepare`, of `launch` */
	struct closed_forms forms;
	bool compared; /* it ran to its end, and compare_forms saw it; on a GPU there are no counts */
	struct traffic compared_traffic[PREDICTIONS]; /* the count each prediction is compared with, in bytes */
	uint64_t compared_atomic_bytes;
	uint64_t statistic_bytes; /* requested, as counted */
	size_t peak_bytes;
};

/* One problem, all kernels that were asked for. The caller frees with run_result_free. */
struct run_result {
	const struct chapter *chapter;
	const struct options *options;
	const char *program;          /* as it was begun in this directory, without "./"; else its name */
	const char *const *arguments; /* of the command line, NULL at its end */
	bool traced;                  /* what its kernels access is written to a trace of --details */
	struct problem problem;       /* of a sweep: this step's */
	const struct device *device;
	const char *generated; /* the tensor that --load left out; NULL: none */
	size_t rows_checked, rows;
	void *findings; /* of the chapter's own `examine`; freed with free() */
	size_t kernel_count;
	struct kernel_result kernels[MAX_KERNELS];
};

/* The kernel of that name, if it was run and counted; NULL if not. */
const struct kernel_result *result_counted(const struct run_result *result, const char *name);

/* The first kernel that was run and is not verified; NULL: all is well. */
const struct kernel_result *result_failed(const struct run_result *result);

/* Whether reports tell of this option: the chapter has it, and if it modifies scores, it was given. */
bool result_tells(const struct run_result *result, enum option_name option);

/* Frees what *result holds, and leaves it without kernels. */
void run_result_free(struct run_result *result);

#endif
