/* What modified.c uses of chapter.c. */
#ifndef STEP_H
#define STEP_H

#include "decode.h"
#include "harness.h"

/* Of splits, and with all that a modifier may need. */
extern const struct tensor modified_split_tensors[];

/* What launchers are given; and the second launch, if the first one went well. */
struct decode decode_of(const struct problem *problem, const struct device_memory *memory);
struct partials partials_of(const struct problem *problem, const struct device_memory *memory);
cudaError_t merge(cudaError_t status, struct decode decode, struct partials partials);

/* Are there at most as many heads on one as a block has warps? Else a reason. */
bool group_fits(const struct problem *problem, char *reason, size_t size);

/* The keys that the query sees, without a window all; of packed sequences, the sum. */
size_t keys_seen(const struct problem *problem);

/* As struct chapter's `modified`. Weak: a hand-out has no such file, and then its address is NULL. */
extern const struct kernel decode_modified __attribute__((weak));

#endif
