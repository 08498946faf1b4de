/*
 * Chapter 07: its kernels as fillings of the forward pass (model/forward.h), one that runs all of them and one that runs
 * attention only, beside plain C.
 */
#ifndef DEVICE_PASS_H
#define DEVICE_PASS_H

#include "model/forward.h"

/* How attention gets its heads: where they lie, or from copies. */
enum heads { HEADS_STRIDED, HEADS_PERMUTED };

struct device_pass;

/* The tile that attention takes for so many rows: whole warps, no more than there are rows for, at most 128. */
struct tile {
	int Br, Bc;
};
struct tile attention_tile(const struct language_model *model, size_t rows);

/*
 * Kernels for everything. The model's file is copied to the device as it is: weights stay quantized there. A call has at most
 * `most_rows` rows, a pass at most `capacity` tokens. operations->end frees all, after an error too.
 */
int device_operations(
	const struct language_model *model, enum heads heads, size_t capacity, size_t most_rows,
	struct operations *operations, struct error *error);

/* Plain C, but attention by the kernel: Q and the new rows of K and V are copied to the device, O is copied back.
 * operations->status does not see what the device says, device_pass_status does. The caller frees *device with
 * device_pass_free after operations->end. */
int device_attention(
	const struct language_model *model, enum heads heads, size_t capacity, size_t most_rows,
	struct operations *operations, struct device_pass **device, struct error *error);
int device_pass_status(struct device_pass *device, struct error *error); /* 0, or the kernel that failed first */
void device_pass_free(struct device_pass *device);

#endif
