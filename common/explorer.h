/*
 * The door to explorer/: Python that starts this program again, from outside, and reads what it writes. Nothing of it is
 * linked in; a program whose course is gone does without.
 */
#ifndef EXPLORER_H
#define EXPLORER_H

#include "result.h"

/*
 * --explain: becomes explorer/explain, which runs this command line again, with explorer_room set, and writes the page.
 * Returns only where that cannot be started: EXIT_ENVIRONMENT.
 */
int explorer_explain(const char *page, char **argv, struct error *error);

/* In that other run, the directory for its details; else NULL. */
const char *explorer_room(void);

/*
 * Has explorer/small_case try `failed` on cases small enough to follow by hand, and print the first in which it is wrong,
 * too. False where none is wrong, or where that kernel cannot be tried again: what the device found in it is told already,
 * and fewer threads may not show it.
 */
bool explorer_small_case(const struct run_result *result, const struct kernel_result *failed);

#endif
