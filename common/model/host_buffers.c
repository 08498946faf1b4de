#include "model/host_buffers.h"

#include <stdlib.h>

struct host_buffers *host_buffers_begin(const struct language_model *model, size_t number_bytes)
{
	struct host_buffers *buffers = calloc(1, sizeof *buffers);
	if (buffers) {
		buffers->model = model;
		buffers->number_bytes = number_bytes;
	}
	return buffers;
}

void host_buffers_end(void *state)
{
	struct host_buffers *buffers = state;
	if (!buffers)
		return;
	for (size_t i = 0; i < buffers->count; i++)
		free(buffers->list[i]);
	free(buffers->list);
	free(buffers);
}

void *host_buffers_allocate(void *state, const char *name, size_t numbers)
{
	(void)name;
	struct host_buffers *buffers = state;
	void **list = realloc(buffers->list, (buffers->count + 1) * sizeof *list);
	if (!list)
		return NULL;
	buffers->list = list;
	void *buffer = calloc(numbers, buffers->number_bytes);
	if (buffer)
		list[buffers->count++] = buffer;
	return buffer;
}

int host_buffers_status(void *state, struct error *error)
{
	if (((struct host_buffers *)state)->out_of_memory)
		return error_set(error, EXIT_ENVIRONMENT, "out of memory for the forward pass");
	return 0;
}
