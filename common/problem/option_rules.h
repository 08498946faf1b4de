/*
 * What the command line knows of each option: how its value is read, where it goes, and what --help says.
 */
#ifndef PROBLEM_OPTION_RULES_H
#define PROBLEM_OPTION_RULES_H

#include "problem/option_set.h"
#include "support/error.h"

enum option_type {
	TYPE_FLAG,
	TYPE_COUNT,
	TYPE_SEED,
	TYPE_NUMBER,
	TYPE_ABOVE_ZERO,
	TYPE_BELOW_ONE, /* and not below 0 */
	TYPE_CHOICE,
	TYPE_TEXT,
	TYPE_LENGTHS /* a struct packing, whose first member is the text */
};

struct option_rule {
	const char *name;
	enum option_type type;
	size_t offset;                       /* of the field in struct options */
	uint64_t least, most;                /* TYPE_COUNT */
	const char *(*choice)(size_t index); /* the words it takes, NULL after the last; NULL: any */
	const char *value;                   /* what the value is called, "N"; NULL: a flag */
	const char *help;                    /* --help adds the words or the limits, and the default */
};

/* The rule of a dimension is made from the table of dimensions. */
struct option_rule rule_of(enum option_name option);

/* What --help says of an option in a chapter that takes the `applicable` ones: beside another it may mean something else. */
const char *option_help(enum option_name option, uint64_t applicable);

/* "auto, always, never": the words that an option takes, "" where it takes any. Returns text. */
enum { OPTION_CHOICES_SIZE = 200 };
const char *option_choices(enum option_name option, char text[OPTION_CHOICES_SIZE]);

/* EXIT_USAGE: `source` ("--gpu") got `text`, which is none of an option's words. Lists them, and names one that is near. */
int option_choice_unknown(enum option_name option, const char *source, const char *text, struct error *error);

#endif
