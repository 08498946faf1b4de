/*
 * The dimensions of a problem: one table of their options, letters, names, fields and limits. The command line, .npy files
 * and the reports take them from here.
 */
#ifndef PROBLEM_DIMENSIONS_H
#define PROBLEM_DIMENSIONS_H

#include "problem/option_set.h"
#include "problem/problem.h"
#include "support/error.h"

struct dimension {
	enum option_name option; /* OPTIONS: none, other dimensions decide it */
	const char *letter;      /* the papers' own: "N", "Br" */
	const char *name;        /* of the option: "tile-q" */
	const char *key;         /* in JSON and TSV: "tile_q" */
	size_t offset;           /* of a size_t in struct problem */
	size_t least, most;
	bool shape; /* of the tensors; the others are how a kernel works on them, 0 where it chooses itself */
	const char *help;
};

/* In the order in which reports give them. */
enum { DIMENSIONS = 20 };
extern const struct dimension dimensions[DIMENSIONS];

/* The dimension of a letter in a shape, of an option; NULL where there is none. */
const struct dimension *dimension_of_letter(char letter);
const struct dimension *dimension_of_option(enum option_name option);

size_t dimension_value(const struct dimension *dimension, const struct problem *problem);

/*
 * Sets a dimension from an input, or refuses with EXIT_USAGE one that is out of range or differs from what fixed it
 * before: *fixed has the OPTION_BIT of each dimension that an option or an earlier input has set. `source` names the input
 * in the message: "x.npy: shape (3, 4)", "--values: 6 numbers".
 */
int dimension_fix(
	const char *source, char letter, size_t extent, struct problem *problem, uint64_t *fixed,
	struct error *error);

#endif
