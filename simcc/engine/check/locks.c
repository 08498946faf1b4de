/*
 * racecheck: locks. A thread that finds a word free and changes it (atomicCAS, atomicExch) holds it until it changes
 * it back. Of two such turns of one lock either could have come first, so what one order shows to be right must be
 * right in the other, too. Seen in any order:
 *   - a lock that is taken without a fence after it: what the thread does before its next fence is not ordered behind
 *     another thread's turn before;
 *   - a lock that is left without a fence before it: what it did since its last fence is not ordered before another
 *     thread's turn after.
 * Where nothing but the locks that both hold orders two accesses, and one of them stands outside such a fence, they are
 * a race, unless the later turn has read, before, what another thread wrote: it may be there only because of the order
 * that was run. Locks whose word does not go back (tickets), or is changed by others while it is held, are none here:
 * of them only the order that was run is checked.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

enum { MOST_SUSPECTS = 64 };
#define SEVERAL UINTPTR_MAX

/* One turn of a lock, as other threads look it up. */
struct section {
	uintptr_t address;
	uint64_t from;        /* the word's value where it is free */
	uint32_t outer;       /* of the lock that was held when this one was taken: its number, + 1; 0: none */
	uint8_t outer_fenced; /* its `fenced` then */
	bool left, dropped;
};

/* One that a thread holds. */
struct held {
	uint32_t section; /* its number, + 1 */
	uintptr_t address;
	uint64_t from, to;
	uint8_t fenced;     /* since it was taken: the scope of the widest fence, + 1 */
	uintptr_t informed; /* since then it has read there what another thread wrote; 0: nowhere, SEVERAL */
};

struct suspect {
	uint32_t thread, section;
	enum scope scope;
	struct finding finding;
};

struct block_locks {
	bool is_used;
	uint32_t suspect_count;
	struct suspect suspects[MOST_SUSPECTS];
	struct {
		uint32_t count;
		bool dropped;                /* it has held more than these at once */
		struct held held[MOST_HELD]; /* the last one taken last */
	} threads[MAX_THREADS];
};

struct block_locks *locks_open_worker(void)
{
	return need(calloc(1, sizeof(struct block_locks)));
}

void locks_open_block(struct race *race)
{
	if (race->locks->is_used)
		memset(race->locks, 0, sizeof *race->locks);
}

void locks_pass_barrier(struct race *race)
{
	struct block_locks *locks = race->locks;
	for (uint32_t t = 0; locks->is_used && t < race->thread_count; t++)
		for (uint32_t i = 0; i < locks->threads[t].count; i++)
			locks->threads[t].held[i].fenced = SCOPE_DEVICE + 1;
}

/* Forgets the thread's: those of that section, or (0) those that a fence of that scope clears. */
static void drop_suspects(struct block_locks *locks, uint32_t thread, uint32_t section, enum scope scope)
{
	uint32_t kept = 0;
	for (uint32_t i = 0; i < locks->suspect_count; i++) {
		const struct suspect *suspect = &locks->suspects[i];
		const bool drops = section != 0 ? suspect->section == section : suspect->scope <= scope;
		if (suspect->thread != thread || !drops)
			locks->suspects[kept++] = *suspect;
	}
	locks->suspect_count = kept;
}

void locks_fence(struct race *race, uint32_t thread, enum scope scope)
{
	struct block_locks *locks = race->locks;
	for (uint32_t i = 0; i < locks->threads[thread].count; i++)
		if (locks->threads[thread].held[i].fenced < scope + 1)
			locks->threads[thread].held[i].fenced = (uint8_t)(scope + 1);
	drop_suspects(locks, thread, 0, scope);
}

uint32_t locks_held(const struct race *race, uint32_t thread, uint8_t *fenced)
{
	const uint32_t count = race->locks->threads[thread].count;
	const struct held *last = &race->locks->threads[thread].held[count - (count > 0)];
	*fenced = count > 0 ? last->fenced : 0;
	return count > 0 ? last->section : 0;
}

/* The thread's hold of the lock; NULL: it has none. */
static struct held *find_held(const struct race *race, uint32_t thread, uintptr_t address)
{
	struct block_locks *locks = race->locks;
	for (uint32_t i = 0; i < locks->threads[thread].count; i++)
		if (locks->threads[thread].held[i].address == address)
			return &locks->threads[thread].held[i];
	return NULL;
}

/* `restored`: its word is free again. */
static void leave(struct race *race, uint32_t thread, struct held *held, bool restored)
{
	struct block_locks *locks = race->locks;
	const uint32_t section = held->section;
	const struct held *end = &locks->threads[thread].held[--locks->threads[thread].count];
	memmove(held, held + 1, (size_t)((const char *)(end + 1) - (const char *)(held + 1)));
	pthread_mutex_lock(&race->launch->lock);
	race->launch->sections[section - 1].left |= restored;
	pthread_mutex_unlock(&race->launch->lock);
	for (uint32_t i = 0; restored && i < locks->suspect_count; i++)
		if (locks->suspects[i].thread == thread && locks->suspects[i].section == section) {
			if (held < end)
				locks->suspects[i].section = held->section; /* one taken later is still held */
			else
				race_found(race, locks->suspects[i].finding);
		}
	drop_suspects(locks, thread, section, SCOPE_BLOCK);
}

static void take(struct race *race, uint32_t thread, uintptr_t address, uint64_t from, uint64_t to)
{
	struct race_launch *launch = race->launch;
	struct block_locks *locks = race->locks;
	locks->is_used = true;
	if (locks->threads[thread].count == MOST_HELD) {
		struct held *first = &locks->threads[thread].held[0];
		locks->threads[thread].dropped = true;
		pthread_mutex_lock(&launch->lock);
		launch->sections[first->section - 1].dropped = true;
		pthread_mutex_unlock(&launch->lock);
		leave(race, thread, first, false);
	}
	for (uint32_t i = 0; i < locks->threads[thread].count; i++)
		if (locks->threads[thread].held[i].informed == address)
			locks->threads[thread].held[i].informed = 0; /* it has waited for a lock */
	struct section opened = {.address = address, .from = from};
	opened.outer = locks_held(race, thread, &opened.outer_fenced);
	pthread_mutex_lock(&launch->lock);
	need_room(&launch->sections, &launch->section_capacity, launch->section_count + 1, sizeof *launch->sections);
	launch->sections[launch->section_count] = opened;
	const uint32_t section = (uint32_t)++launch->section_count;
	pthread_mutex_unlock(&launch->lock);
	locks->threads[thread].held[locks->threads[thread].count++] =
		(struct held){.section = section, .address = address, .from = from, .to = to};
}

void locks_changed(struct race *race, uint32_t thread, uintptr_t address, uint64_t from, uint64_t to)
{
	struct held *held = find_held(race, thread, address);
	if (!held)
		take(race, thread, address, from, to);
	else if (from != held->to || to == held->from)
		leave(race, thread, held, from == held->to);
	else
		held->to = to;
}

void locks_stored(struct race *race, uint32_t thread, uintptr_t address, uint64_t value)
{
	const struct held *held = find_held(race, thread, address);
	if (held && value != held->to)
		locks_changed(race, thread, address, held->to, value);
}

bool locks_holds_any(const struct race *race, uint32_t thread)
{
	return race->locks->threads[thread].count > 0;
}

bool locks_holds(const struct race *race, uint32_t thread, uintptr_t address)
{
	return find_held(race, thread, address);
}

void locks_may_leave(struct race *race, uint32_t thread, uintptr_t address)
{
	const struct held *held = find_held(race, thread, address);
	pthread_mutex_lock(&race->launch->lock);
	race->launch->sections[held->section - 1].left = true;
	pthread_mutex_unlock(&race->launch->lock);
}

void locks_inform(struct race *race, uint32_t thread, uintptr_t address)
{
	struct block_locks *locks = race->locks;
	for (uint32_t i = 0; i < locks->threads[thread].count; i++) {
		uintptr_t *informed = &locks->threads[thread].held[i].informed;
		*informed = *informed == 0 || *informed == address ? address : SEVERAL;
	}
}

bool locks_share(struct race *race, uint32_t section, uint8_t fenced, uint32_t thread, struct shared_locks *shared)
{
	const struct block_locks *locks = race->locks;
	const struct held *outermost = NULL;
	struct race_launch *launch = race->launch;
	if (section == 0 || locks->threads[thread].count == 0)
		return false;
	shared->count = 0;
	pthread_mutex_lock(&launch->lock);
	for (uint32_t steps = 0; section != 0 && steps <= MOST_HELD; steps++) {
		const struct section *before = &launch->sections[section - 1];
		const struct held *held = find_held(race, thread, before->address);
		if (held ? before->dropped : (before->dropped || before->left) && locks->threads[thread].dropped)
			launch->incomplete = true;
		if (before->left && held && held->from == before->from && shared->count < MOST_HELD) {
			shared->address[shared->count++] = before->address;
			shared->fenced = fenced;
			outermost = held;
		}
		section = before->outer;
		fenced = before->outer_fenced > fenced ? before->outer_fenced : fenced;
	}
	pthread_mutex_unlock(&launch->lock);
	return outermost && outermost->informed == 0;
}

void locks_suspect(
	struct race *race, uint32_t thread, uintptr_t lock, enum scope scope, const struct finding *finding)
{
	struct block_locks *locks = race->locks;
	const struct held *held = find_held(race, thread, lock);
	for (uint32_t i = 0; i < locks->suspect_count; i++)
		if (locks->suspects[i].section == held->section &&
		    locks->suspects[i].finding.now.site == finding->now.site &&
		    locks->suspects[i].finding.before.site == finding->before.site)
			return;
	if (locks->suspect_count == MOST_SUSPECTS)
		race->launch->incomplete = true;
	else
		locks->suspects[locks->suspect_count++] = (struct suspect){thread, held->section, scope, *finding};
}
