/*
 * The map of shared memory: which bytes of a pthread's thread-local storage are arrays of the kernel that runs. An
 * entry is a number of the array, so that a hook sees with one comparison that an access stays inside.
 */
#include <stdlib.h>
#include <string.h>

#include "memory/memory.h"

size_t shared_memory_of_the_program(void)
{
	size_t bytes = 2 * (size_t)DYNAMIC_SHARED_MAX;
	for (size_t i = 0; i < sim_shared_count_all(); i++)
		bytes += sim_shared_at(i)->size + sim_shared_at(i)->align + SIM_REDZONE;
	return bytes;
}

void shared_open(struct shared_memory *shared)
{
	uintptr_t first = (uintptr_t)sim_dynamic_shared, end = first + DYNAMIC_SHARED_MAX;
	for (size_t i = 0; i < sim_shared_count_all(); i++) {
		const uintptr_t start = sim_shared_address(sim_shared_at(i));
		const uintptr_t after = start + sim_shared_at(i)->size + SIM_REDZONE;
		first = start < first ? start : first;
		end = after > end ? after : end;
	}
	first = (first - SIM_REDZONE) & ~(uintptr_t)15; /* an index below 0 of the first array */
	shared->view.first = first;
	shared->view.span = (end - first) & ~(uintptr_t)15;
	shared->view.map = need(calloc((end - first) / 4 + 8, sizeof *shared->view.map));
	if (sim_options()->check[SIM_INITCHECK])
		shared->view.written = need(calloc(shared->view.span + 16, 1));
}

static bool uses(const struct sim_function *function, const struct sim_shared *array)
{
	for (uint32_t i = 0; i < function->shared_count; i++)
		if (function->shared[i] == array)
			return true;
	return false;
}

bool shared_is_of_kernels(const struct sim_shared *array)
{
	for (size_t f = 0; f < sim_function_count(); f++)
		if (!sim_function_number(f)->is_kernel && uses(sim_function_number(f), array))
			return false;
	return true;
}

/* Is the array one that only kernels other than this one use? Then an address in it is a stray one. (An array that no
 * kernel's own object uses may be reached through another object.) */
static bool is_anothers(const struct sim_shared *array, const struct sim_function *function)
{
	if (uses(function, array))
		return false;
	for (size_t f = 0; f < sim_function_count(); f++)
		if (sim_function_number(f)->is_kernel && uses(sim_function_number(f), array))
			return true;
	return false;
}

static void empty(const struct shared_view *view, uintptr_t first, size_t bytes)
{
	memset((void *)first, 0xff, bytes);
	if (view->written)
		memset(view->written + (first - view->first), 0, bytes);
}

/* What a kernel left in its arrays is gone for the next one, which may have kept a pointer to it. */
static void map_arrays(struct shared_memory *shared, const struct sim_function *function)
{
	if (shared->mapped && shared->function == function)
		return;
	shared->mapped = true;
	shared->function = function;
	for (size_t i = 0; i < sim_shared_count_all(); i++) {
		const struct sim_shared *array = sim_shared_at(i);
		const bool hidden = function && is_anothers(array, function);
		uint16_t *granule = &shared->view.map[(sim_shared_address(array) - shared->view.first) / 4];
		for (size_t g = 0; g < array->size / 4; g++)
			granule[g] = hidden ? 0 : (uint16_t)(2 + i % 60000); /* 1 is dynamic shared memory */
		if (array->size % 4 != 0)
			granule[array->size / 4] = hidden ? 0 : SHARED_MAP_RAGGED;
		if (hidden)
			empty(&shared->view, sim_shared_address(array), array->size);
	}
}

static void map_dynamic(struct shared_memory *shared, size_t bytes)
{
	if (bytes == shared->dynamic_bytes)
		return;
	uint16_t *granule = &shared->view.map[((uintptr_t)sim_dynamic_shared - shared->view.first) / 4];
	memset(granule, 0, (shared->dynamic_bytes / 4 + 1) * sizeof *granule);
	for (size_t g = 0; g < bytes / 4; g++)
		granule[g] = 1;
	if (bytes % 4 != 0)
		granule[bytes / 4] = SHARED_MAP_RAGGED;
	shared->dynamic_bytes = bytes;
}

void shared_set_kernel(struct shared_memory *shared, const struct sim_function *function, size_t dynamic_bytes)
{
	map_arrays(shared, function);
	map_dynamic(shared, dynamic_bytes);
}

void shared_empty(const struct shared_memory *shared)
{
	const struct sim_function *function = shared->function;
	empty(&shared->view, (uintptr_t)sim_dynamic_shared, shared->dynamic_bytes);
	for (uint32_t i = 0; function && i < function->shared_count; i++)
		empty(&shared->view, sim_shared_address(function->shared[i]), function->shared[i]->size);
}
