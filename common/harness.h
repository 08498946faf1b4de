/*
 * Everything a chapter's chapter.c needs; README.md beside this file says what each room is for.
 */
#ifndef HARNESS_H
#define HARNESS_H

#include "chapter.h"
#include "problem/attention.h"
#include "problem/inputs.h"
#include "problem/sweep.h"
#include "report/columns.h"
#include "report/json.h"
#include "report/traffic.h"
#include "result.h"
#include "support/number.h"
#include "verify/attention.h"

/* The whole program: main() returns what this returns. */
int chapter_main(const struct chapter *chapter, int argc, char **argv);

#endif
