/*
 * What the fillings of the host keep: their model, and buffers that go all at once.
 */
#ifndef MODEL_HOST_BUFFERS_H
#define MODEL_HOST_BUFFERS_H

#include "model/language_model.h"

#include <stdatomic.h>

struct host_buffers {
	const struct language_model *model;
	size_t number_bytes;
	void **list;
	size_t count;
	atomic_bool out_of_memory;
};

/* The state of a filling whose buffers hold numbers of that size; NULL without memory. host_buffers_end frees all. */
struct host_buffers *host_buffers_begin(const struct language_model *model, size_t number_bytes);
void host_buffers_end(void *state);

/* As struct operations (forward.h) wants them, with a struct host_buffers for a state. */
void *host_buffers_allocate(void *state, const char *name, size_t numbers);
int host_buffers_status(void *state, struct error *error);

#endif
