/* What modified.c and chapter.c share. */
#ifndef LESSON_H
#define LESSON_H

#include "backward.h"

#include "harness.h"

/* In chapter.c, for modified.c too: the side of the square tiles, what launchers are given, and struct kernel's `runs`. */
uint64_t backward_tile(const struct problem *problem);
struct backward backward_of(const struct problem *problem, const struct device_memory *memory);
bool backward_runs(const struct problem *problem, char *reason, size_t size);

/* In modified.c, as struct chapter's `modified`. Weak: a hand-out has no such file, and then its address is NULL. */
extern const struct kernel backward_modified __attribute__((weak));

#endif
