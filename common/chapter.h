/*
 * What a chapter tells the harness about itself. The harness does the rest: chapter_main runs every kernel, verifies
 * it, compares what it counted with the closed form, times it and reports.
 *
 * A chapter's chapter.c is one `struct chapter` and its launch functions. The harness includes nothing of a
 * chapter; what it knows of algorithms (closed_forms.h, report/) it knows by their names.
 */
#ifndef CHAPTER_H
#define CHAPTER_H

#include "closed_forms.h"
#include "measure/counts.h"
#include "measure/device.h"
#include "measure/floors.h"
#include "measure/timing.h"
#include "problem/attention.h"
#include "problem/inputs.h"
#include "problem/options.h"
#include "problem/problem.h"
#include "problem/sweep.h"
#include "problem/tensor.h"
#include "report/json.h"
#include "report/table.h"
#include "verify/attention.h"
#include "verify/check.h"
#include "verify/error_map.h"
#include "verify/matmul.h"
#include "verify/softmax.h"

#define HARNESS_VERSION "1.0"

enum { MAX_KERNELS = 16 };

struct kernel {
	const char *name;             /* kernels[].name in JSON */
	const char *summary;          /* one line */
	const struct tensor *tensors; /* all it works on, the last one followed by a NULL name */

	/* Launches on tensors the harness allocated: device_find(memory, "Q"). Allocates and copies nothing. */
	cudaError_t (*launch)(const struct problem *problem, const struct device_memory *memory);

	/* Launched once before `launch`, to make what that takes as given (a backward's O and LSE). What it writes is
	 * verified too, but it is in no sum of counts, no model, no floor and no time. NULL: nothing is given. */
	cudaError_t (*prepare)(const struct problem *problem, const struct device_memory *memory);

	struct closed_forms (*forms)(const struct problem *problem);

	/* False, and a reason, for a problem it cannot run anywhere. Memory, blocks and shared memory are looked at by the
	 * harness. NULL: it runs any. */
	bool (*runs)(const struct problem *problem, char *reason, size_t size);
};

/* What the comparison said of one output of a kernel. */
struct output_result {
	struct check check;
	size_t at[MAX_RANK], rank; /* coordinates of its worst element */
};

struct kernel_result {
	const struct kernel *kernel;
	const struct problem *problem; /* the run's */
	char skipped[200];             /* why it was not run; "" when it was */
	bool verified;
	char failure[200]; /* why it is not verified, when no element of an output shows it */
	struct output_result outputs[MAX_EXPECTATIONS]; /* each output, in the order of `tensors` */
	size_t output_count;                            /* 0: nothing was compared */
	size_t worst;                                   /* of outputs: largest error relative to its tolerance */
	struct error_map *maps;                         /* with --explain: of each of outputs[]; else NULL */
	struct time_summary time;                       /* runs == 0: no time */
	bool has_floor;
	struct floor floor;
	struct counts prepared, counts; /* of `prepare`, of `launch` */
	struct closed_forms forms;
	bool compared;                   /* it was run; on a GPU there are no counts to compare */
	struct traffic measured[MODELS]; /* the count each model is compared with, in bytes */
	uint64_t measured_atomic_bytes;
	uint64_t statistic_bytes; /* requested, as counted */
	size_t peak_bytes;
};

struct chapter;

/* One problem, all kernels that were asked for. */
struct run_result {
	const struct chapter *chapter;
	const struct options *options;
	const char *const *arguments; /* of the command line, NULL at its end */
	struct problem problem;       /* of a sweep: this step's */
	const struct device *device;
	const char *generated; /* the tensor that --load left out; NULL: none */
	size_t rows_checked, rows;
	void *findings; /* of the chapter's own `examine`; freed with free() */
	size_t kernel_count;
	struct kernel_result kernels[MAX_KERNELS];
};

struct chapter {
	const char *name;    /* "01_naive" */
	const char *program; /* "naive" */
	const char *title;
	const char *next;             /* what to try next: the last line of a run in which all is well */
	const char *next_after_trace; /* the same after --trace; NULL: `next` */
	const char *small; /* options of a case small enough to follow by hand: the last line of a run that failed */
	uint64_t options;  /* OPTION_BIT of every option that applies */
	struct problem defaults;
	const struct kernel *kernels; /* in teaching order */
	size_t kernel_count;
	const char *may_be_minus_infinity; /* the input in whose file -Inf means something; NULL: none */

	/*
	 * An input that comes neither from `fill` nor from NAME.npy: sets *values (malloc) and the dimensions it
	 * decides, with dimension_fix. Leaves *values NULL for any other input. May be NULL.
	 */
	int (*provide)(
		const struct options *options, const char *tensor, struct problem *problem, unsigned *fixed,
		float **values, struct error *error);

	/* Fills one input on the host, shape as the kernels declare it. */
	void (*fill)(const struct problem *problem, const char *tensor, float *values);

	/* What the outputs should be, from the host values of all inputs (ends with a NULL name). */
	int (*expect)(
		const struct problem *problem, const struct named_values *inputs, struct expectations *expectations,
		struct error *error);

	/* Sets the problem of a step of --sweep; false when there is no such step. */
	bool (*sweep)(size_t step, bool simulated, struct problem *problem);

	/*
	 * What the chapter finds out besides, after its kernels have run, right or wrong: a trace, the time of a
	 * library. Leaves it in result->findings; `explain` and `add_json` tell it. May be NULL.
	 */
	int (*examine)(struct run_result *result, const struct named_values *inputs, struct error *error);

	/* Keys of its own at the top level of the JSON object; may be NULL. */
	void (*add_json)(struct json *json, const struct run_result *result);

	/* What the chapter wants to say below the tables; may be NULL. */
	void (*explain)(const struct terminal *terminal, const struct run_result *result);
};

/* The whole program: main() returns what this returns. */
int chapter_main(const struct chapter *chapter, int argc, char **argv);

#endif
