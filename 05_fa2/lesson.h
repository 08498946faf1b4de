/* What modified.c and chapter.c share. */
#ifndef LESSON_H
#define LESSON_H

#include "fa2.h"

#include "harness.h"

/* In chapter.c: what launchers are given, and struct kernel's `runs`. */
struct attention fa2_attention(const struct problem *problem, const struct device_memory *memory);
bool fa2_grid_fits(const struct problem *problem, char *reason, size_t size);

/* In modified.c, as struct chapter's `modified`. Weak: a hand-out has no such file, and then its address is NULL. */
extern const struct kernel fa2_modified __attribute__((weak));

#endif
