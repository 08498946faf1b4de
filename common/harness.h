/*
 * Everything a chapter's chapter.c needs. Each part includes only parts above it:
 *
 *   support/     errors and files that are never half-written
 *   problem/     options, shapes, reproducible inputs, .npy files
 *   verify/      the double-precision reference, the tolerance, the comparison
 *   measure/     the device and its memory, counts, times, floors
 *   chapter.h    what a chapter declares
 *   result.h     what a run of it found out
 *   report/      tables, JSON, TSV, progress
 *   run.h        one problem through the kernels of a chapter
 *   main.c       chapter_main: the command line, the run, the reports
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
