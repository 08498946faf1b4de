/*
 * Asynchronous copies from global to shared memory: cp.async and the functions that stand for it.
 *
 * A thread issues copies, makes groups of them, and waits until all but its latest groups have arrived. A copy is a read of
 * global and a write of shared memory, counted where it is issued. Its bytes arrive at any time from then until its thread
 * has waited for it: SIM_ORDER=reverse has them there at once, forward at the last moment, a shuffle one or the other. Until
 * then nobody may touch its destination, not even its own thread; racecheck says who does. What has arrived is a write by
 * that thread, which a barrier makes known to others.
 */
#include <stdlib.h>
#include <string.h>

#include "check/findings.h"
#include "run/worker.h"

enum { MOST_BYTES = 16, GRANULE = 4 };

struct copy {
	uintptr_t to;
	uint32_t bytes, group, site;
	bool is_late;    /* its bytes are kept in `data` until it arrives */
	bool is_exposed; /* an access has met it: the map is as it was */
	struct stored data;
	uint16_t map[MOST_BYTES / GRANULE]; /* of shared memory, before */
};

static uint16_t *map_at(const struct lane *lane, uintptr_t address)
{
	return &lane->shared.map[(address - lane->shared.first) / GRANULE];
}

/* The map leads each access of it to copies_met(). */
static void hide(const struct lane *lane, struct copy *copy)
{
	uint16_t *map = map_at(lane, copy->to);
	for (uint32_t i = 0; i < copy->bytes / GRANULE; i++) {
		copy->map[i] = map[i];
		map[i] = SHARED_MAP_AWAITED;
	}
}

static void expose(const struct lane *lane, struct copy *copy)
{
	if (!copy->is_exposed)
		memcpy(map_at(lane, copy->to), copy->map, copy->bytes / GRANULE * sizeof copy->map[0]);
	copy->is_exposed = true;
}

static bool arrives_late(struct lane *lane)
{
	const struct worker *worker = lane->worker;
	const uint64_t which = worker->block_order << 32 ^ (uint64_t)lane->number << 20 ^ lane->copies_of.issued++;
	if (worker->order != SIM_ORDER_SHUFFLE)
		return worker->order == SIM_ORDER_FORWARD;
	return (sim_options()->order_seed ^ which) * 0x9e3779b97f4a7c15u >> 63;
}

static _Noreturn void refuse(const char *what, uint32_t site)
{
	sim_device_abort(cudaErrorIllegalAddress, site, NULL, 0, "An asynchronous copy (cp.async) %s", what);
}

static void issue(void *to, const void *from, size_t bytes, size_t source_bytes, uint32_t site)
{
	struct lane *lane = sim_lane;
	struct copy copy = {.to = (uintptr_t)to, .bytes = (uint32_t)bytes, .site = site};
	const unsigned width = (unsigned)__builtin_ctzl(bytes | 32);
	if (bytes != 4 && bytes != 8 && bytes != 16)
		refuse("of a length that is not 4, 8 or 16 bytes", site);
	if (source_bytes > bytes)
		refuse("that reads more bytes than it writes", site);
	if (!lane->worker->instrumented) {
		memcpy(to, from, source_bytes);
		memset((char *)to + source_bytes, 0, bytes - source_bytes);
		return;
	}
	if (copy.to - lane->shared.first >= lane->shared.span)
		refuse("to memory that is not shared", site);
	if (source_bytes > 0 && !sim_memory_is_device((uintptr_t)from))
		refuse("from memory that is not global", site);
	if (source_bytes == bytes)
		sim_access(from, width, SIM_OP_LOAD, site);
	else
		sim_access_range(from, source_bytes, SIM_OP_LOAD, site);
	memcpy(&copy.data, from, source_bytes);
	sim_store_known(to, width, &copy.data, site);
	copy.is_late = arrives_late(lane);
	memcpy(to, &copy.data, bytes);
	if (copy.is_late)
		memset(to, 0xff, bytes); /* NaN */
	copy.group = lane->copies_of.group;
	hide(lane, &copy);
	struct copies *copies = &lane->copies_of;
	need_room(&copies->list, &copies->capacity, copies->count + 1, sizeof *copies->list);
	copies->list[copies->count++] = copy;
	lane->worker->copies_under_way++;
}

static void arrive(struct lane *lane, struct copy *copy)
{
	expose(lane, copy);
	if (copy->is_late)
		memcpy((void *)copy->to, &copy->data, copy->bytes);
	lane->worker->copies_under_way--;
}

/* Those of groups before `group`, in the order in which they were issued. */
static void arrive_before(struct lane *lane, uint32_t group)
{
	struct copies *copies = &lane->copies_of;
	size_t arrived = 0;
	while (arrived < copies->count && (int32_t)(copies->list[arrived].group - group) < 0) {
		const struct copy copy = copies->list[arrived];
		arrive(lane, &copies->list[arrived++]);
		sim_arrival((void *)copy.to, (unsigned)__builtin_ctz(copy.bytes), &copy.data, copy.site);
	}
	copies->count -= arrived;
	memmove(copies->list, copies->list + arrived, copies->count * sizeof *copies->list);
}

/* ---- what device code calls ---- */

void sim_copy_async(void *to, const void *from, size_t bytes, size_t zero_bytes);
void sim_cp_async(uint32_t to, const void *from, uint32_t bytes);
void sim_cp_async_zero(uint32_t to, const void *from, uint32_t bytes, uint32_t source_bytes);
size_t sim_shared_address_of(const void *pointer);
void sim_copies_commit(void);
void sim_copies_wait(unsigned most);
void sim_copies_wait_all(void);

void sim_copy_async(void *to, const void *from, size_t bytes, size_t zero_bytes)
{
	issue(to, from, bytes, zero_bytes > bytes ? SIZE_MAX : bytes - zero_bytes, CALL_SITE());
}

/* PTX has 32-bit addresses of shared memory: here from the thread pointer. */
void sim_cp_async_zero(uint32_t to, const void *from, uint32_t bytes, uint32_t source_bytes)
{
	issue((char *)sim_thread_pointer() + (int32_t)to, from, bytes, source_bytes, CALL_SITE());
}

void sim_cp_async(uint32_t to, const void *from, uint32_t bytes)
{
	sim_cp_async_zero(to, from, bytes, bytes);
}

size_t sim_shared_address_of(const void *pointer)
{
	return (uint32_t)((uintptr_t)pointer - sim_thread_pointer());
}

void sim_copies_commit(void)
{
	sim_lane->copies_of.group++;
}

void sim_copies_wait(unsigned most)
{
	struct copies *copies = &sim_lane->copies_of;
	copies->waited_at = CALL_SITE();
	copies->waited_for_all_but = most;
	arrive_before(sim_lane, copies->group - most);
}

void sim_copies_wait_all(void)
{
	sim_copies_commit();
	sim_copies_wait(0);
}

/* ---- what the engine calls ---- */

static struct finding finding_of(const struct lane *issuer, const struct copy *copy)
{
	return (struct finding){
		.severity = FINDING_ERROR,
		.space = SIM_SHARED,
		.before = {.site = copy->site, .op = SIM_OP_STORE, .thread = issuer->number},
		.address = copy->to,
		.bytes = copy->bytes,
		.count = copy->bytes,
		.copy = issuer->copies_of.waited_at == NO_SITE   ? COPY_NEVER_AWAITED
	                : copy->group == issuer->copies_of.group ? COPY_IN_NO_GROUP
	                                                         : COPY_AWAITED_TOO_LITTLE,
		.waited_at = issuer->copies_of.waited_at,
		.waited_for_all_but = issuer->copies_of.waited_for_all_but};
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
			expose(issuer, copy);
			struct finding found = finding_of(issuer, copy);
			found.kind = op == SIM_OP_LOAD ? FINDING_READ_AFTER_WRITE : FINDING_WRITE_AFTER_WRITE;
			found.now = (struct party){.site = site, .op = op, .thread = lane->number};
			found.address = address;
			found.bytes = (unsigned)size;
			found.count = size;
			if (worker->audience.race)
				findings_add(&worker->findings, &found);
		}
	}
}

void copies_end(struct lane *lane)
{
	struct copies *copies = &lane->copies_of;
	for (size_t i = 0; i < copies->count; i++) {
		struct finding found = finding_of(lane, &copies->list[i]);
		found.kind = FINDING_LOST_COPY;
		found.severity = FINDING_WARNING;
		found.now = found.before;
		if (lane->worker->audience.race && !copies->list[i].is_exposed &&
		    !findings_of_copy(&lane->worker->findings, copies->list[i].site))
			findings_add(&lane->worker->findings, &found);
		arrive(lane, &copies->list[i]);
	}
	copies->count = 0;
}

void copies_forget(struct lane *lane)
{
	struct copies *copies = &lane->copies_of;
	for (size_t i = 0; i < copies->count; i++)
		arrive(lane, &copies->list[i]);
	copies->count = 0;
	copies->group = copies->issued = 0;
	copies->waited_at = NO_SITE;
}
