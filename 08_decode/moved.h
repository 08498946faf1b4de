/* Chapter 08: what the tables say of a kernel's run. */
#ifndef MOVED_H
#define MOVED_H

#include "harness.h"

/* Bytes asked of keys and values, or else of the table. */
uint64_t asked_of(const struct kernel_result *kernel, bool keys_and_values);

/* Bytes asked of global memory, all launches together. */
uint64_t requested(const struct kernel_result *kernel);

/* Of the launch that reads the keys, for each head of keys as many as there are splits of them. */
uint64_t blocks_of(const struct kernel_result *kernel, const struct problem *problem);

/* The same without those whose split has no key, and which have nothing to do. */
uint64_t blocks_with_keys(const struct kernel_result *kernel, const struct problem *problem);

#endif
