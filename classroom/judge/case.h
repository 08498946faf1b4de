/*
 * The inputs of a case: the same in the runner, which runs a kernel on them, and in the judge, which makes them anew. Beyond
 * the harness's options a case knows two:
 *
 *     --masked     -INFINITY in the input for which the chapter says that it means something, every third element, and
 *                  all of the first row
 *     --in-place   a kernel whose output may be one of its inputs (runner.c) gets the same array for both. The
 *                  inputs are the same, and so is what is expected
 */
#ifndef CASE_H
#define CASE_H

#include "run/tensors.h"

#include <math.h>
#include <string.h>

static inline int complain(const char *program, const struct error *error)
{
	fprintf(stderr, "%s: %s\n", program, error->message);
	return error->exit_code;
}

/* Takes such an option out of the arguments. */
static inline bool take_option(int *argc, char **argv, const char *option)
{
	int kept = 0;
	for (int i = 0; i < *argc; i++)
		if (strcmp(argv[i], option) != 0)
			argv[kept++] = argv[i];
	bool taken = kept < *argc;
	argv[ *argc = kept] = NULL;
	return taken;
}

/* As inputs_make, of one kernel. */
static inline int make_inputs(
	const struct chapter *chapter, const struct kernel *kernel, const struct options *options, bool masked,
	struct problem *problem, struct inputs *inputs, struct error *error)
{
	if (inputs_make(chapter, kernel, 1, options, problem, inputs, error) != 0)
		return error->exit_code;
	const struct tensor *tensor = masked && chapter->may_be_minus_infinity
	                                      ? tensor_find(kernel->tensors, chapter->may_be_minus_infinity)
	                                      : NULL;
	for (size_t i = 0; tensor && i < inputs->count; i++) {
		size_t shape[MAX_RANK], elements = shape_elements(shape, tensor_shape(problem, tensor, shape));
		for (size_t j = 0; strcmp(inputs->list[i].name, tensor->name) == 0 && j < elements; j++)
			if (j < elements / shape[0] || j % 3 == 0)
				inputs->owned[i][j] = -INFINITY;
	}
	return 0;
}

#endif
