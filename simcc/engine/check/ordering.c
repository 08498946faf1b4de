/*
 * racecheck: what orders two threads besides barriers and __syncwarp(). One has passed a fence and then done an
 * atomic or a volatile store (a release); the other has done an atomic or a volatile load of the same address and
 * then passed a fence, or a barrier of its block (an acquire). The rules stand at the top of racecheck.c.
 *
 * Time in a block is counted by its barriers (the interval) and, in each warp, by a clock that every fence and every
 * meeting of lanes moves on. So an access is (block, thread, interval, clock), and what a fence covers is "all of the
 * block before that interval, and of each lane of the warp what came before that clock".
 *
 * A synchronization variable is an address, seen by the device or by one block only, and a position that each release
 * there moves on. What a thread knows of other threads is a position for each variable: it has acquired all that was
 * released there up to it. A release hands on what its thread knew.
 *
 * Accesses are checked when a window is worked off, but those before a fence at the fence: so whatever a release
 * publishes has been checked before anybody can acquire it, and no check needs to look into the past.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

enum {
	MOST_PUBLICATIONS =
		1 << 17, /* then, and then, everything passes for ordered: rather a miss than a false alarm */
	MOST_KNOWN = 1 << 16,
	MOST_STEPS = 1 << 10, /* back in what a block has published in one place */
};

/* Positions by variable, sorted by variable. */
struct known {
	uint32_t variable, position;
};
struct knowledge {
	struct known *entries;
	size_t count, capacity;
};

/* What the fences of one thread cover since the last barrier, and what it knows besides what its block knows. */
struct thread_order {
	uint32_t interval; /* of the worker: of another one, all of this is worth nothing */
	bool fenced[SCOPES];
	bool publishing; /* no plain store since the last fence */
	uint32_t covered_interval[SCOPES];
	uint32_t bound[SCOPES][WARP_SIZE]; /* by lane of the warp: its accesses before this clock */
	uintptr_t released_address;
	uint32_t released_clock;
	bool released_in_block; /* only there */
	struct knowledge known;
	struct knowledge seen[SCOPES]; /* what a fence will acquire: it has looked, or a lane that it has met */
	uintptr_t looking;   /* at what the hook of its last look, which came before the look itself; 0: nothing */
	bool looks_in_block; /* by an atomic of block scope */
};

/* What the threads of a block had covered and knew at its last barrier. */
struct block_order {
	uint32_t first_interval; /* says which block */
	uint32_t interval;       /* the barriers up to this one have been taken note of */
	bool fenced_now;         /* since that barrier */
	bool fenced[SCOPES], publishing;
	uint32_t covered_interval[SCOPES];
	uint32_t bound[SCOPES][MAX_THREADS];
	struct bounds *copy[SCOPES]; /* of `bound`, for publications; NULL: none yet */
	struct knowledge known;
	struct thread_order threads[MAX_THREADS];
};

struct bounds {
	struct bounds *next;
	uint32_t bound[MAX_THREADS];
};

struct publication {
	uint32_t position, interval, clock; /* when it was made: the variable itself is ordered up to here */
	uint16_t warp, lane;
	uint32_t covered_interval;
	const struct bounds *bounds; /* of all threads, at the last barrier; NULL: none */
	uint32_t bound[WARP_SIZE];
};

/* What one block has published with one variable, in order, and up to where one of its threads has acquired it. */
struct trail {
	uint64_t block;
	uint32_t variable, acquired;
	struct publication *publications;
	size_t count, capacity;
};

struct variable {
	uintptr_t address;
	uint64_t block; /* + 1; 0: the whole device */
	uint32_t position;
	struct knowledge known;
};

/* ---- what threads know ---- */

static bool know(struct knowledge *into, uint32_t variable, uint32_t position)
{
	size_t low = 0, high = into->count;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (into->entries[middle].variable < variable)
			low = middle + 1;
		else
			high = middle;
	}
	if (low < into->count && into->entries[low].variable == variable) {
		if (into->entries[low].position < position)
			into->entries[low].position = position;
		return true;
	}
	if (into->count == MOST_KNOWN)
		return false;
	need_room(&into->entries, &into->capacity, into->count + 1, sizeof *into->entries);
	memmove(into->entries + low + 1, into->entries + low, (into->count - low) * sizeof *into->entries);
	into->entries[low] = (struct known){variable, position};
	into->count++;
	return true;
}

static bool know_all(struct knowledge *into, const struct knowledge *from)
{
	size_t fresh = 0;
	for (size_t i = 0, at = 0; i < from->count; i++) {
		const struct known *one = &from->entries[i];
		while (at < into->count && into->entries[at].variable < one->variable)
			at++;
		if (at == into->count || into->entries[at].variable != one->variable)
			fresh++;
		else if (into->entries[at].position < one->position)
			into->entries[at].position = one->position;
	}
	if (fresh == 0)
		return true;
	if (into->count + fresh > MOST_KNOWN)
		return false;
	need_room(&into->entries, &into->capacity, into->count + fresh, sizeof *into->entries);
	/* From the back, so that nothing is overwritten that is still to be moved. */
	size_t mine = into->count, theirs = from->count;
	for (size_t at = into->count += fresh; mine < at;) {
		const uint32_t next = from->entries[theirs - 1].variable;
		if (mine > 0 && into->entries[mine - 1].variable > next)
			into->entries[--at] = into->entries[--mine];
		else if (mine > 0 && into->entries[mine - 1].variable == next)
			theirs--; /* it moves as one that is larger than the next */
		else
			into->entries[--at] = from->entries[--theirs];
	}
	return true;
}

/* ---- variables and trails, under the lock ---- */

static uint32_t hash(uint64_t one, uint64_t other)
{
	return (uint32_t)((one * 0x9e3779b97f4a7c15u ^ other) * 0xd6e8feb86659fd93u >> 32);
}

static void filter_add(struct race_launch *order, uintptr_t address)
{
	const uint32_t bit = hash(address, 0) % RELEASE_FILTER_BITS;
	atomic_fetch_or(&order->filter[bit / 64], UINT64_C(1) << bit % 64);
}

static bool may_have_variable(const struct race_launch *order, uintptr_t address)
{
	const uint32_t bit = hash(address, 0) % RELEASE_FILTER_BITS;
	return atomic_load_explicit(&order->filter[bit / 64], memory_order_relaxed) >> bit % 64 & 1;
}

static void grow_table(struct table *table)
{
	const uint32_t size = table->size ? 2 * table->size : 256;
	free(table->slots);
	*table = (struct table){need(calloc(size, sizeof *table->slots)), size};
}

static uint32_t *variable_slot(const struct race_launch *order, uintptr_t address, uint64_t block)
{
	const struct table *table = &order->variable_table;
	uint32_t at = hash(address, block) & (table->size - 1);
	while (table->slots[at] != 0 && (order->variables[table->slots[at] - 1].address != address ||
	                                 order->variables[table->slots[at] - 1].block != block))
		at = (at + 1) & (table->size - 1);
	return &table->slots[at];
}

static uint32_t *trail_slot(const struct race_launch *order, uint32_t variable, uint64_t block)
{
	const struct table *table = &order->trail_table;
	uint32_t at = hash(block, variable) & (table->size - 1);
	while (table->slots[at] != 0 && (order->trails[table->slots[at] - 1].variable != variable ||
	                                 order->trails[table->slots[at] - 1].block != block))
		at = (at + 1) & (table->size - 1);
	return &table->slots[at];
}

static struct variable *find_variable(const struct race_launch *order, uintptr_t address, uint64_t block)
{
	const uint32_t found = order->variable_table.size ? *variable_slot(order, address, block) : 0;
	return found ? &order->variables[found - 1] : NULL;
}

static struct trail *find_trail(const struct race_launch *order, uint32_t variable, uint64_t block)
{
	const uint32_t found = order->trail_table.size ? *trail_slot(order, variable, block) : 0;
	return found ? &order->trails[found - 1] : NULL;
}

static struct variable *open_variable(struct race_launch *order, uintptr_t address, uint64_t block)
{
	struct variable *variable = find_variable(order, address, block);
	if (variable)
		return variable;
	const uint32_t count = (uint32_t)order->variable_count;
	need_room(&order->variables, &order->variable_capacity, count + 1, sizeof *order->variables);
	if (2 * count >= order->variable_table.size) {
		grow_table(&order->variable_table);
		for (uint32_t i = 0; i < count; i++)
			*variable_slot(order, order->variables[i].address, order->variables[i].block) = i + 1;
	}
	order->variables[count] = (struct variable){.address = address, .block = block};
	*variable_slot(order, address, block) = count + 1;
	order->variable_count = count + 1;
	filter_add(order, address);
	return &order->variables[count];
}

static struct trail *open_trail(struct race_launch *order, uint32_t variable, uint64_t block)
{
	struct trail *trail = find_trail(order, variable, block);
	if (trail)
		return trail;
	const uint32_t count = (uint32_t)order->trail_count;
	need_room(&order->trails, &order->trail_capacity, count + 1, sizeof *order->trails);
	if (2 * count >= order->trail_table.size) {
		grow_table(&order->trail_table);
		for (uint32_t i = 0; i < count; i++)
			*trail_slot(order, order->trails[i].variable, order->trails[i].block) = i + 1;
	}
	order->trails[count] = (struct trail){.variable = variable, .block = block};
	*trail_slot(order, variable, block) = count + 1;
	order->trail_count = count + 1;
	return &order->trails[count];
}

/* ---- launches and workers ---- */

struct race_launch *race_open_launch(uint32_t number, uint64_t blocks)
{
	struct race_launch *order = need(calloc(1, sizeof *order));
	race_forget_explanations();
	order->number = number;
	order->block_count = blocks;
	pthread_mutex_init(&order->lock, NULL);
	for (int i = 0; i < WORD_LOCKS; i++)
		pthread_mutex_init(&order->words[i], NULL);
	return order;
}

void race_describe(const struct race_launch *order, struct sim_launch *record)
{
	record->races_of_this_order = order->has_acquired;
	record->races_incomplete = order->lost || order->incomplete;
}

void race_close_launch(struct race_launch *order)
{
	for (size_t i = 0; i < order->variable_count; i++)
		free(order->variables[i].known.entries);
	for (size_t i = 0; i < order->trail_count; i++)
		free(order->trails[i].publications);
	for (struct bounds *next, *bounds = order->bounds; bounds; bounds = next) {
		next = bounds->next;
		free(bounds);
	}
	free(order->variables);
	free(order->trails);
	free(order->variable_table.slots);
	free(order->trail_table.slots);
	pthread_mutex_destroy(&order->lock);
	for (int i = 0; i < WORD_LOCKS; i++) {
		pthread_mutex_destroy(&order->words[i]);
		arena_empty(&order->arena[i]);
	}
	free(order->sections);
	free(order);
}

struct block_order *ordering_open_worker(void)
{
	return need(calloc(1, sizeof(struct block_order)));
}

static uint32_t relative_clock(const struct race_warp *warp, uint32_t clock)
{
	return clock - warp->first_clock;
}

static void raise(uint32_t *value, uint32_t to)
{
	if (*value < to)
		*value = to;
}

/* Adds to `into` what was released with one variable until now. */
static void see_variable(struct race_launch *order, struct knowledge *into, uintptr_t address, uint64_t block)
{
	const struct variable *variable = find_variable(order, address, block);
	if (variable && (!know_all(into, &variable->known) ||
	                 !know(into, (uint32_t)(variable - order->variables), variable->position)))
		order->lost = true;
}

/* The thread has looked there: a fence, or a barrier, makes an acquire of it. */
static void see(struct race *race, struct thread_order *thread, uintptr_t address, bool block_only)
{
	struct race_launch *order = race->launch;
	if (address == 0 || !has_releases(race) || !may_have_variable(order, address))
		return;
	pthread_mutex_lock(&order->lock);
	for (int scope = 0; scope < SCOPES; scope++)
		see_variable(order, &thread->seen[scope], address, race->block_order + 1);
	if (!block_only)
		see_variable(order, &thread->seen[SCOPE_DEVICE], address, 0);
	pthread_mutex_unlock(&order->lock);
}

/* A look is announced before it happens. What a block on another CPU thread has released in between may have been
 * seen: rather a miss than a false alarm. */
static void settle_look(struct race *race, struct thread_order *thread)
{
	if (race->launch->block_count > 1 && sim_options()->threads > 1)
		see(race, thread, thread->looking, thread->looks_in_block);
	thread->looking = 0;
}

/* What was seen is known from now on. */
static void acquire(struct race *race, struct knowledge *into, const struct knowledge *seen)
{
	struct race_launch *order = race->launch;
	if (seen->count == 0)
		return;
	order->has_acquired = true;
	if (!know_all(into, seen))
		order->lost = true;
	pthread_mutex_lock(&order->lock);
	for (size_t i = 0; i < seen->count; i++)
		raise(&open_trail(order, seen->entries[i].variable, race->block_order)->acquired,
		      seen->entries[i].position);
	pthread_mutex_unlock(&order->lock);
}

/* The block has passed a barrier: all its threads know, and have covered, what each of them had. */
static void pass_barrier(struct race *race, struct block_order *block)
{
	if (!block->fenced_now && !has_releases(race))
		return;
	for (uint32_t t = 0; t < race->thread_count; t++) {
		struct thread_order *thread = &block->threads[t];
		if (thread->interval != block->interval)
			continue;
		settle_look(race, thread);
		acquire(race, &block->known, &thread->seen[SCOPE_DEVICE]);
		if (!know_all(&block->known, &thread->known))
			race->launch->lost = true;
		block->publishing |= thread->publishing;
		for (int scope = 0; scope < SCOPES; scope++) {
			if (!thread->fenced[scope])
				continue;
			block->fenced[scope] = true;
			block->copy[scope] = NULL;
			raise(&block->covered_interval[scope], thread->covered_interval[scope]);
			for (uint32_t i = 0; i < WARP_SIZE; i++)
				raise(&block->bound[scope][t / WARP_SIZE * WARP_SIZE + i], thread->bound[scope][i]);
		}
	}
	block->fenced_now = false;
}

/* The state of the worker's block, as of now. */
static struct block_order *block_of(struct race *race)
{
	struct block_order *block = race->order;
	if (block->first_interval != race->first_interval) {
		block->first_interval = race->first_interval;
		block->fenced_now = block->publishing = false;
		memset(block->fenced, 0, sizeof block->fenced);
		memset(block->covered_interval, 0, sizeof block->covered_interval);
		memset(block->bound, 0, sizeof block->bound);
		memset(block->copy, 0, sizeof block->copy);
		block->known.count = 0;
	} else if (block->interval != race->interval) {
		pass_barrier(race, block);
	}
	block->interval = race->interval;
	return block;
}

/* The state of a thread of it, emptied where it is of an earlier interval. */
static struct thread_order *thread_of(struct block_order *block, uint32_t number)
{
	struct thread_order *thread = &block->threads[number];
	if (thread->interval != block->interval) {
		thread->interval = block->interval;
		memset(thread->fenced, 0, sizeof thread->fenced);
		memset(thread->covered_interval, 0, sizeof thread->covered_interval);
		memset(thread->bound, 0, sizeof thread->bound);
		thread->publishing = block->publishing;
		thread->known.count = 0;
		for (int scope = 0; scope < SCOPES; scope++)
			thread->seen[scope].count = 0;
		thread->released_address = thread->looking = 0;
	}
	return thread;
}

/* ---- what threads do ---- */

void ordering_fence(struct race *race, uint32_t number, bool block_only)
{
	struct race_warp *warp = &race->warps[number / WARP_SIZE];
	const uint32_t lane = number % WARP_SIZE;
	struct block_order *block = block_of(race);
	struct thread_order *thread = thread_of(block, number);
	const enum scope widest = block_only ? SCOPE_BLOCK : SCOPE_DEVICE;
	settle_look(race, thread);
	acquire(race, &thread->known, &thread->seen[widest]);
	for (int scope = 0; scope <= (int)widest; scope++)
		thread->seen[scope].count = 0;
	warp->clock++;
	for (int scope = 0; scope <= (int)widest; scope++) {
		thread->fenced[scope] = true;
		raise(&thread->covered_interval[scope], race->interval - race->first_interval);
		for (uint32_t i = 0; i < warp->lane_count; i++) {
			const uint32_t known = warp->known[lane][i];
			const uint32_t last = known > warp->full_sync ? known : warp->full_sync;
			if (last > warp->first_clock)
				raise(&thread->bound[scope][i], relative_clock(warp, last));
		}
		thread->bound[scope][lane] = relative_clock(warp, warp->clock);
	}
	warp->lane_clock[lane] = warp->clock;
	thread->publishing = true;
	block->fenced_now = warp->has_fenced = race->has_fenced = true;
}

static const struct bounds *copy_bounds(struct race_launch *order, struct block_order *block, enum scope scope)
{
	struct bounds *copy = block->copy[scope];
	if (copy || !block->fenced[scope])
		return copy;
	copy = need(malloc(sizeof *copy));
	memcpy(copy->bound, block->bound[scope], sizeof copy->bound);
	copy->next = order->bounds;
	order->bounds = block->copy[scope] = copy;
	return copy;
}

/* The last that the same warp had published, to be added to what it publishes now. */
static const struct publication *last_of_warp(const struct trail *trail, uint32_t warp)
{
	for (size_t i = trail->count; i-- > 0 && trail->count - i < MOST_STEPS;)
		if (trail->publications[i].warp == warp)
			return &trail->publications[i];
	return NULL;
}

static void publish(
	struct race *race, struct block_order *block, uint32_t number, uintptr_t address, enum scope scope)
{
	const struct thread_order *thread = thread_of(block, number);
	struct race_launch *order = race->launch;
	if (!thread->fenced[scope] && !block->fenced[scope])
		return;
	struct variable *variable = open_variable(order, address, scope == SCOPE_DEVICE ? 0 : race->block_order + 1);
	struct trail *trail = open_trail(order, (uint32_t)(variable - order->variables), race->block_order);
	if (order->publication_count == MOST_PUBLICATIONS || !know_all(&variable->known, &block->known) ||
	    !know_all(&variable->known, &thread->known)) {
		order->lost = true;
		return;
	}
	order->has_releases = true;
	struct publication made = {
		.position = ++variable->position,
		.warp = (uint16_t)(number / WARP_SIZE),
		.lane = (uint16_t)(number % WARP_SIZE),
		.interval = race->interval - race->first_interval,
		.clock = relative_clock(&race->warps[number / WARP_SIZE], lane_clock(race, number)),
		.covered_interval = block->covered_interval[scope],
		.bounds = copy_bounds(order, block, scope),
	};
	raise(&made.covered_interval, thread->covered_interval[scope]);
	memcpy(made.bound, thread->bound[scope], sizeof made.bound);
	const struct publication *last = last_of_warp(trail, made.warp);
	for (uint32_t i = 0; last && i < WARP_SIZE; i++)
		raise(&made.bound[i], last->bound[i]);
	if (trail->count > 0)
		raise(&made.covered_interval, trail->publications[trail->count - 1].covered_interval);
	need_room(&trail->publications, &trail->capacity, trail->count + 1, sizeof *trail->publications);
	trail->publications[trail->count++] = made;
	order->publication_count++;
}

bool race_release(struct race *race, uint32_t number, uintptr_t address, bool block_only)
{
	struct race_launch *order = race->launch;
	if (!race->has_fenced)
		return false; /* always so where the program has no fences */
	struct block_order *block = block_of(race);
	struct thread_order *thread = thread_of(block, number);
	if (order->lost || (!thread->fenced[SCOPE_BLOCK] && !block->fenced[SCOPE_BLOCK]))
		return false;
	/* A loop that tries again has nothing new to say. */
	const uint32_t clock = lane_clock(race, number);
	if (thread->released_address == address && thread->released_clock == clock &&
	    (block_only || !thread->released_in_block))
		return false;
	thread->released_address = address;
	thread->released_clock = clock;
	thread->released_in_block = block_only;
	pthread_mutex_lock(&order->lock);
	publish(race, block, number, address, SCOPE_BLOCK);
	if (!block_only && address - race->shared->first >= race->shared->span)
		publish(race, block, number, address, SCOPE_DEVICE);
	pthread_mutex_unlock(&order->lock);
	/* The device's own store comes after it, for all CPU threads: what has_releases() and the filter say is read without
	 * the lock, behind a fence of the reader's (settle_look). ARM64 wants to be told. */
	atomic_thread_fence(memory_order_release);
	return true;
}

void race_look(struct race *race, uint32_t number, uintptr_t address, bool block_only)
{
	if (!race->has_fences)
		return;
	struct thread_order *thread = thread_of(block_of(race), number);
	race->warps[number / WARP_SIZE].has_looked = true;
	settle_look(race, thread);
	see(race, thread, address, block_only);
	thread->looking = address;
	thread->looks_in_block = block_only;
}

void ordering_meet(struct race *race, uint32_t number, uint32_t group)
{
	struct race_warp *warp = &race->warps[number];
	if (!warp->has_fenced && !(warp->has_looked && has_releases(race)))
		return;
	struct block_order *block = block_of(race);
	for (uint32_t rest = group; rest != 0; rest &= rest - 1)
		settle_look(race, thread_of(block, number * WARP_SIZE + (uint32_t)__builtin_ctz(rest)));
	struct thread_order *first = thread_of(block, number * WARP_SIZE + (uint32_t)__builtin_ctz(group));
	/* The first lane gathers from the others, and they then take it all from the first. */
	for (int round = 0; round < 2; round++)
		for (uint32_t rest = group & (group - 1); rest != 0; rest &= rest - 1) {
			struct thread_order *thread =
				thread_of(block, number * WARP_SIZE + (uint32_t)__builtin_ctz(rest));
			struct thread_order *into = round == 0 ? first : thread;
			struct thread_order *from = round == 0 ? thread : first;
			into->publishing |= from->publishing;
			if (!know_all(&into->known, &from->known))
				race->launch->lost = true;
			for (int scope = 0; scope < SCOPES; scope++) {
				if (!know_all(&into->seen[scope], &from->seen[scope]))
					race->launch->lost = true;
				into->fenced[scope] |= from->fenced[scope];
				raise(&into->covered_interval[scope], from->covered_interval[scope]);
				for (uint32_t i = 0; from->fenced[scope] && i < WARP_SIZE; i++)
					raise(&into->bound[scope][i], from->bound[scope][i]);
			}
		}
	if (group == lanes_of(warp->lane_count))
		warp->has_fenced = warp->has_looked = false; /* until the next fence or look all have the same */
}

bool ordering_is_publishing(struct race *race, uint32_t thread)
{
	return race->has_fenced && thread_of(block_of(race), thread)->publishing;
}

void ordering_note_plain_store(struct race *race, uint32_t thread)
{
	thread_of(block_of(race), thread)->publishing = false;
}

/* ---- questions ---- */

/* Does knowing this much of a variable mean knowing of `before`? `address`: where it was, if it was a release. */
static bool covers(
	struct race_launch *order, const struct known *known, const struct moment *before, uintptr_t address)
{
	const struct trail *trail = find_trail(order, known->variable, before->block);
	const bool is_itself = address != 0 && order->variables[known->variable].address == address;
	const uint32_t warp = before->thread / WARP_SIZE, lane = before->thread % WARP_SIZE;
	size_t low = 0, high = trail ? trail->count : 0;
	while (low < high) {
		const size_t middle = (low + high) / 2;
		if (trail->publications[middle].position <= known->position)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return false;
	if (trail->publications[low - 1].covered_interval > before->interval ||
	    (trail->publications[low - 1].bounds &&
	     trail->publications[low - 1].bounds->bound[before->thread] > before->clock))
		return true;
	for (uint32_t steps = 0; low-- > 0; steps++) {
		const struct publication *made = &trail->publications[low];
		if (steps == MOST_STEPS) {
			order->incomplete = true;
			return true;
		}
		if (made->warp != warp)
			continue;
		if (made->bound[lane] > before->clock ||
		    (is_itself && made->lane == lane && made->interval >= before->interval &&
		     made->clock >= before->clock))
			return true;
		if (!is_itself)
			return false; /* earlier ones of this warp cover no more */
	}
	return false;
}

static bool is_shared(const struct shared_locks *locks, uintptr_t address)
{
	for (uint32_t i = 0; i < locks->count; i++)
		if (locks->address[i] == address)
			return true;
	return false;
}

/* `but_for`: what was released there does not count; NULL: all does. */
static bool covers_any(
	struct race_launch *order, const struct knowledge *known, const struct moment *before, uintptr_t address,
	const struct shared_locks *but_for)
{
	for (size_t i = 0; i < known->count; i++)
		if (!(but_for && is_shared(but_for, order->variables[known->entries[i].variable].address)) &&
		    covers(order, &known->entries[i], before, address))
			return true;
	return false;
}

static bool has_warp_fenced(const struct block_order *block, uint32_t thread)
{
	const struct thread_order *lanes = &block->threads[thread / WARP_SIZE * WARP_SIZE];
	for (uint32_t i = 0; i < WARP_SIZE; i++)
		if (lanes[i].interval == block->interval && lanes[i].fenced[SCOPE_BLOCK])
			return true;
	return false;
}

static bool knows(
	struct race *race, uint32_t thread, const struct moment *before, uintptr_t address,
	const struct shared_locks *but_for, bool after_fence)
{
	struct race_launch *order = race->launch;
	struct block_order *block = block_of(race);
	if (order->lost)
		return before->block != race->block_order || has_warp_fenced(block, before->thread);
	const struct thread_order *mine = thread_of(block, thread);
	const struct knowledge *seen = &mine->seen[SCOPE_DEVICE];
	if (block->known.count == 0 && mine->known.count == 0 && !(after_fence && seen->count > 0))
		return false;
	pthread_mutex_lock(&order->lock);
	const bool found = covers_any(order, &mine->known, before, address, but_for) ||
	                   covers_any(order, &block->known, before, address, but_for) ||
	                   (after_fence && covers_any(order, seen, before, address, but_for));
	pthread_mutex_unlock(&order->lock);
	return found;
}

bool ordering_knows(struct race *race, uint32_t thread, const struct moment *before, uintptr_t address)
{
	return knows(race, thread, before, address, NULL, false);
}

bool ordering_knows_without(
	struct race *race, uint32_t thread, const struct moment *before, const struct shared_locks *locks)
{
	return knows(race, thread, before, 0, locks, false);
}

bool ordering_would_know(struct race *race, uint32_t thread, const struct moment *before)
{
	return knows(race, thread, before, 0, NULL, true);
}

static bool was_acquired(
	struct race_launch *order, const struct moment *now, uint64_t by_block, uintptr_t address, uint64_t scope)
{
	const struct variable *variable = find_variable(order, address, scope);
	const struct trail *trail =
		variable ? find_trail(order, (uint32_t)(variable - order->variables), by_block) : NULL;
	if (!trail)
		return false;
	return covers(order, &(struct known){trail->variable, trail->acquired}, now, address);
}

/* A volatile store is checked only when it has happened, so others may have been checked that have seen it. */
bool ordering_was_seen(struct race *race, const struct moment *now, uint64_t by_block, uintptr_t address)
{
	struct race_launch *order = race->launch;
	pthread_mutex_lock(&order->lock);
	const bool seen = was_acquired(order, now, by_block, address, 0) ||
	                  (by_block == now->block && was_acquired(order, now, by_block, address, by_block + 1));
	pthread_mutex_unlock(&order->lock);
	return seen;
}
