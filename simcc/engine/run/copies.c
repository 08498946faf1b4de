/* Asynchronous copies that are under way: how the map of shared memory leads to them, and what becomes of them in the end.
 * (How they begin and arrive: copies_entry.c.) */
#include <string.h>

#include "run/worker.h"

static uint16_t *map_at(const struct lane *lane, uintptr_t address)
{
	return &lane->shared.map[(address - lane->shared.first) / MAP_GRANULE];
}

/* The map leads each access of it to copies_met(). */
static void hide(const struct lane *lane, struct copy *copy)
{
	uint16_t *map = map_at(lane, copy->to);
	for (uint32_t i = 0; i < copy->bytes / MAP_GRANULE; i++) {
		copy->map[i] = map[i];
		map[i] = SHARED_MAP_AWAITED;
	}
}

static void expose(const struct lane *lane, struct copy *copy)
{
	if (!copy->is_exposed)
		memcpy(map_at(lane, copy->to), copy->map, copy->bytes / MAP_GRANULE * sizeof copy->map[0]);
	copy->is_exposed = true;
}

void copies_add(struct lane *lane, const struct copy *copy)
{
	struct copies *copies = &lane->copies_of;
	need_room(&copies->list, &copies->capacity, copies->count + 1, sizeof *copies->list);
	copies->list[copies->count] = *copy;
	hide(lane, &copies->list[copies->count++]);
	lane->worker->copies_under_way++;
}

void copies_arrive(struct lane *lane, struct copy *copy)
{
	expose(lane, copy);
	if (copy->is_late)
		memcpy((void *)copy->to, &copy->data, copy->bytes);
	lane->worker->copies_under_way--;
}

static struct copy_told told_of(const struct lane *issuer, const struct copy *copy)
{
	const struct copies *copies = &issuer->copies_of;
	return (struct copy_told){
		.site = copy->site,
		.thread = issuer->number,
		.is_later = (int32_t)(copy->number - copies->waited_after) >= 0,
		.in_no_group = (int32_t)(copy->group - copies->waited_in) >= 0,
		.waited_at = copies->waited_at,
		.waited_for_all_but = copies->waited_for_all_but};
}

void copies_met(struct lane *lane, uintptr_t address, size_t size, enum sim_op op, uint32_t site)
{
	struct worker *worker = lane->worker;
	for (uint32_t t = 0; t < worker->thread_count; t++) {
		struct lane *issuer = &worker->lanes[t];
		for (size_t i = 0; i < issuer->copies_of.count; i++) {
			struct copy *copy = &issuer->copies_of.list[i];
			if (copy->is_exposed || address >= copy->to + copy->bytes || copy->to >= address + size)
				continue;
			const struct copy_told told = told_of(issuer, copy);
			expose(issuer, copy);
			if (worker->audience.race)
				copy_met(&worker->findings, &told, lane->number, address, size, op, site);
		}
	}
}

void copies_end(struct lane *lane)
{
	struct copies *copies = &lane->copies_of;
	for (size_t i = 0; i < copies->count; i++) {
		const struct copy_told told = told_of(lane, &copies->list[i]);
		if (lane->worker->audience.race && !copies->list[i].is_exposed)
			copy_lost(&lane->worker->findings, &told, copies->list[i].to, copies->list[i].bytes);
	}
	copies_forget(lane);
}

void copies_forget(struct lane *lane)
{
	struct copies *copies = &lane->copies_of;
	for (size_t i = 0; i < copies->count; i++)
		copies_arrive(lane, &copies->list[i]);
	copies->count = 0;
	copies->group = copies->issued = 0;
	copies->waited_at = NO_SITE;
}
