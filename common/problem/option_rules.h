/*
 * What the command line knows of each option: how its value is read, where it goes, and what --help says.
 */
#ifndef PROBLEM_OPTION_RULES_H
#define PROBLEM_OPTION_RULES_H

#include "problem/option_set.h"

enum option_type { TYPE_FLAG, TYPE_COUNT, TYPE_SEED, TYPE_NUMBER, TYPE_CHOICE, TYPE_TEXT };

struct option_rule {
	const char *name;
	enum option_type type;
	size_t offset;                  /* of the field in struct options */
	unsigned long long least, most; /* TYPE_COUNT */
	const char *const *choices;     /* TYPE_CHOICE: NULL-terminated or INPUT_KINDS long */
	const char *value, *help;
};

/* The rule of a dimension is made from the table of dimensions. */
struct option_rule rule_of(enum option_name option);

#endif
