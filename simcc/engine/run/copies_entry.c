/*
 * Asynchronous copies from global to shared memory: cp.async and the functions that stand for it.
 *
 * A thread issues copies, makes groups of them, and waits until all but its latest groups have arrived. A copy is a read of
 * global and a write of shared memory, counted where it is issued. Its bytes arrive at any time from then until its thread
 * has waited for it: SIM_ORDER=reverse has them there at once, forward at the last moment, a shuffle one or the other. Until
 * then nobody may touch its destination, not even its own thread; racecheck says who does. What has arrived is a write by
 * that thread, which a barrier makes known to others.
 */
#include <string.h>

#include "run/worker.h"

static bool arrives_late(struct lane *lane)
{
	const struct worker *worker = lane->worker;
	const uint64_t which = worker->block_order << 32 ^ (uint64_t)lane->number << 20 ^ lane->copies_of.issued;
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
	const struct sim_allocation *source = sim_memory_find((uintptr_t)from);
	if (source_bytes > 0 && (!sim_memory_is_device((uintptr_t)from) || (source && source->is_constant)))
		refuse("from memory that is not global", site);
	sim_copy_read(from, width, source_bytes, site);
	memcpy(&copy.data, from, source_bytes);
	sim_store_known(to, width, &copy.data, site);
	copy.is_late = arrives_late(lane);
	memcpy(to, &copy.data, bytes);
	if (copy.is_late)
		memset(to, 0xff, bytes); /* NaN */
	copy.group = lane->copies_of.group;
	copy.number = lane->copies_of.issued++;
	copies_add(lane, &copy);
}

/* Those of groups before `group`, in the order in which they were issued. */
static void arrive_before(struct lane *lane, uint32_t group)
{
	struct copies *copies = &lane->copies_of;
	while (copies->count > 0 && (int32_t)(copies->list[0].group - group) < 0) {
		struct copy copy = copies->list[0];
		memmove(copies->list, copies->list + 1, --copies->count * sizeof *copies->list);
		copies_arrive(lane, &copy);
		/* Others may have a turn in it, and end the block. */
		sim_arrival((void *)copy.to, (unsigned)__builtin_ctz(copy.bytes), &copy.data, copy.site);
	}
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
	copies->waited_in = copies->group;
	copies->waited_after = copies->issued;
	arrive_before(sim_lane, copies->group - most);
}

void sim_copies_wait_all(void)
{
	sim_copies_commit();
	sim_copies_wait(0);
}
