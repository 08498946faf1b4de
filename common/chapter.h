/*
 * What a chapter tells the harness about itself. The harness does the rest: chapter_main (harness.h) runs every kernel,
 * verifies it, compares what it counted with the closed form, times it and reports.
 *
 * A chapter's chapter.c is one `struct chapter`, the closed forms of its kernels and what it says of them. The harness
 * includes nothing of a chapter; what it knows of algorithms (closed_forms.h, report/) it knows by their names.
 */
#ifndef CHAPTER_H
#define CHAPTER_H

#include "closed_forms.h"
#include "measure/device.h"
#include "problem/options.h"
#include "problem/tensor.h"

/* What the functions of a chapter are given, from above this header. */
struct attention;    /* attention.h */
struct expectations; /* verify/expectations.h */
struct run_result;   /* result.h */
struct json;         /* report/json.h */
struct terminal;     /* report/table.h */

struct kernel {
	const char *name;             /* kernels[].name in JSON */
	const char *summary;          /* one line */
	const struct tensor *tensors; /* all it works on, the last one followed by a NULL name */

	/* Launches on tensors the harness allocated: device_find(memory, "Q"). Allocates and copies nothing. */
	cudaError_t (*launch)(const struct problem *problem, const struct device_memory *memory);
	cudaError_t (*launch_attention)(struct attention attention); /* or this one: the harness fills its argument */

	/* Launched once before `launch`, to make what that takes as given (a backward's O and LSE). What it writes is
	 * verified too, but it is in no sum of counts, no model, no floor and no time. NULL: nothing is given. */
	cudaError_t (*prepare)(const struct problem *problem, const struct device_memory *memory);

	struct closed_forms (*forms)(const struct problem *problem);

	/* False, and a reason, for a problem it cannot run anywhere. Memory, blocks and shared memory are looked at by the
	 * harness. NULL: it runs any. */
	bool (*runs)(const struct problem *problem, char *reason, size_t size);
};

/*
 * What to try next. A list of them is in the order in which a reader comes to them; a run's last line is the one after the
 * last that the run was. The list ends with one without options, which no run of this program can be.
 */
struct suggestion {
	const char *why;     /* "predict what a causal mask saves, then", or NULL; of the last one the whole line */
	const char *options; /* "--causal"; words are separated by blanks, and no word has one in it */
};

struct chapter {
	const char *name;    /* "01_naive" */
	const char *program; /* "naive" */
	const char *title;
	const struct suggestion *next; /* what to try next, the last line of a run in which all is well */
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
		const struct options *options, const char *tensor, struct problem *problem, uint64_t *fixed,
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
	 * library. Leaves it in result->findings; `print_lesson` and `add_json` tell it. May be NULL.
	 */
	int (*examine)(struct run_result *result, const struct named_values *inputs, struct error *error);

	/*
	 * What the program does with --prompt, in the place of the kernels on their inputs: runs, reports to `terminal` or as
	 * the options say, and returns the exit status. NULL in a chapter without that option.
	 */
	int (*generate)(
		const struct chapter *chapter, const struct options *options, const struct device *device,
		const struct terminal *terminal, struct error *error);

	/* Keys of its own at the top level of the JSON object; may be NULL. */
	void (*add_json)(struct json *json, const struct run_result *result);

	/* What the chapter wants to say below the tables; may be NULL. */
	void (*print_lesson)(const struct terminal *terminal, const struct run_result *result);
};

/* The chapter as a run of this problem has it: the tensors of its kernels are those that the problem has. The lists are kept in
 * *lists. */
enum { MAX_KERNELS = 16 };
struct chapter_lists {
	struct kernel kernels[MAX_KERNELS];
	struct tensor tensors[MAX_KERNELS][MAX_TENSORS + 1];
};
struct chapter chapter_of_problem(
	const struct chapter *chapter, const struct problem *problem, struct chapter_lists *lists);

/* Launches it, not `prepare`. `forms` are its own for this problem: a launch that is timed does not compute them again. */
cudaError_t kernel_launch(
	const struct kernel *kernel, const struct closed_forms *forms, const struct problem *problem,
	const struct device_memory *memory);

/* The kernel of that name; NULL if there is none, and for NULL. */
const struct kernel *chapter_kernel(const struct chapter *chapter, const char *name);

#endif
