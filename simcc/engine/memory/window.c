#include <string.h>

#include "memory/memory.h"

/* racecheck tells equal values apart. The pending stores are several where one copy is recorded in pieces. */
void window_capture(struct window *window)
{
	for (uint32_t at = window->pending - 1u; at < window->count; at++) {
		if (key_op(window->keys[at]) != SIM_OP_STORE)
			continue;
		window->values[at] = (struct stored){{0}};
		memcpy(&window->values[at], (const void *)window->addresses[at], key_size(window->keys[at]));
	}
	window->pending = 0;
}
