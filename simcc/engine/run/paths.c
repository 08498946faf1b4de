/*
 * Which calls led to where a thread is. A call site is keyed with them, so one helper called from two branches is two
 * sites, whether or not a compiler inlines it.
 */
#include <stdlib.h>
#include <string.h>

#include "run/worker.h"

static uint32_t hash(uint32_t parent, uint32_t call)
{
	return (uint32_t)(call * UINT64_C(0x9e3779b97f4a7c15) >> 32) ^ parent * 0x85ebca6bu;
}

void paths_open(struct paths *paths)
{
	need_room(&paths->nodes, &paths->capacity, 1024, sizeof *paths->nodes);
	paths->count = 1;
	paths->index_size = 4096;
	paths->index = need(calloc(paths->index_size, sizeof *paths->index));
}

static void grow_index(struct paths *paths)
{
	free(paths->index);
	paths->index_size *= 2;
	paths->index = need(calloc(paths->index_size, sizeof *paths->index));
	const uint32_t mask = paths->index_size - 1;
	for (uint32_t i = 1; i < paths->count; i++) {
		uint32_t place = hash(paths->nodes[i].parent, paths->nodes[i].call) & mask;
		while (paths->index[place] != 0)
			place = (place + 1) & mask;
		paths->index[place] = i;
	}
}

static __attribute__((cold, noinline)) uint32_t add(struct paths *paths, uint32_t parent, uint32_t call, uint32_t at)
{
	const uint32_t id = (uint32_t)paths->count++;
	need_room(&paths->nodes, &paths->capacity, paths->count, sizeof *paths->nodes);
	paths->nodes[id] = (struct path_node){parent, call};
	paths->index[at] = id;
	if (paths->count > paths->index_size / 2)
		grow_index(paths);
	return id;
}

uint32_t path_of_call(struct paths *paths, uint32_t parent, uint32_t call)
{
	const uint32_t mask = paths->index_size - 1;
	uint32_t at = hash(parent, call) & mask;
	for (uint32_t id; (id = paths->index[at]) != 0; at = (at + 1) & mask)
		if (paths->nodes[id].call == call && paths->nodes[id].parent == parent)
			return id;
	return add(paths, parent, call, at);
}

/* The first room is part of one for all lanes and stays. */
void add_frames(struct local_memory *local)
{
	const size_t count = (size_t)(local->frames_end - local->frames);
	struct frame *frames = need(malloc(2 * count * sizeof *frames));
	memcpy(frames, local->frames, count * sizeof *frames);
	if (count > FIRST_FRAMES)
		free(local->frames);
	local->frames = frames;
	local->frame = frames + count;
	local->frames_end = frames + 2 * count;
}
