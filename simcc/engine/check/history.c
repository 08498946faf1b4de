/*
 * racecheck of programs with fences: any access may turn out to be ordered before a later one by a release and an
 * acquire, and the access beside it may not. So a word keeps every access that some later one could race with. One is
 * dropped when another takes its place: of the same thread, or ordered behind it, that races with whatever it would
 * race with. Which order the threads ran in makes no difference, as long as they do the same accesses and the same
 * releases reach the same acquires; locks.c looks at the other order of locks.
 *
 * Words of global memory belong to all workers: one lock for some of them.
 */
#include <stdlib.h>
#include <string.h>

#include "check/race.h"

/* An access of lanes of one warp to a word, or to some of its bytes. */
struct event {
	uint64_t block;           /* in the order of execution */
	uint32_t interval, clock; /* barriers passed, and the warp's clock, since the block began */
	uint32_t lanes, site;
	uint32_t value;   /* of a store */
	uint32_t section; /* the turn of a lock it was in; 0: none */
	uint8_t warp;
	uint8_t touch : 4, bytes : 4;
	int8_t offset;  /* of the word in what was accessed: a flag of 8 bytes is two words */
	uint8_t fenced; /* since that lock was taken: scope of the widest fence, + 1 */
};

struct events {
	struct event *first;
	uint32_t count, capacity;
};

/* By how they are scanned: loads do not meet loads, and atomics seldom atomics. */
enum { STORES, LOADS, STRONG, KINDS };

struct history {
	uint32_t stamp; /* the launch, or of shared memory the interval, that all this is of */
	bool has_block_atomics;
	struct events kinds[KINDS];
};

/* What is being checked. */
struct check {
	struct race *race;
	struct event now;
	enum sim_space space;
	uintptr_t word;
	struct arena *arena;
	unsigned bytes; /* of the access, at most 4 */
	unsigned others
		[2]; /* bytes of which, beside a store, something else is kept whose place it takes: of this interval
	                       between barriers, and of an earlier one, which only other blocks race with */
};

/* ---- which access takes the place of which ---- */

/* [a][b]: does a race with whatever b races with? */
static bool outdoes[TOUCHES][TOUCHES];

static void fill_outdoes(void)
{
	for (enum touch a = 0; a < TOUCHES; a++)
		for (enum touch b = 0; b < TOUCHES; b++) {
			outdoes[a][b] = true;
			for (enum touch other = 0; other < TOUCHES; other++)
				for (int same_block = 0; same_block < 2; same_block++)
					outdoes[a][b] &= race_may_meet(b, other, same_block) ||
					                 !race_may_meet(a, other, same_block);
		}
}

struct history *history_open_worker(const struct shared_view *shared)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	pthread_once(&once, fill_outdoes);
	return need(reserve_pages((shared->span / 4 + 1) * sizeof(struct history)));
}

static bool takes_place(const struct event *now, const struct event *old)
{
	return (old->bytes & ~now->bytes) == 0 && outdoes[now->touch][old->touch];
}

static bool is_same_place(const struct event *a, const struct event *b)
{
	return a->block == b->block && a->warp == b->warp && a->touch == b->touch && a->bytes == b->bytes &&
	       a->offset == b->offset;
}

/* Drops what the same lanes have done again since, and what their warp has after a later barrier. */
static void compact(struct events *events)
{
	uint32_t size = 16, kept = 0;
	while (size < 2 * events->count)
		size *= 2;
	uint32_t *newest = need(calloc(size, sizeof *newest)); /* hash table: place + 1 */
	uint32_t *lanes =
		need(calloc(events->count, sizeof *lanes)); /* and what lanes of that interval have been met */
	for (uint32_t i = events->count; i-- > 0;) {
		struct event *event = &events->first[i];
		uint32_t at =
			(uint32_t)((event->block * 32 + event->warp) * 0x9e3779b97f4a7c15u >> 32) + event->touch;
		while (newest[at &= size - 1] != 0 && !is_same_place(&events->first[newest[at] - 1], event))
			at++;
		if (newest[at] == 0)
			newest[at] = i + 1;
		const uint32_t first = newest[at] - 1;
		if (events->first[first].interval == event->interval) {
			const uint32_t fresh = event->lanes & ~lanes[first];
			lanes[first] |= event->lanes;
			if (first != i)
				event->lanes = fresh;
		} else {
			event->lanes = 0;
		}
	}
	free(newest);
	free(lanes);
	for (uint32_t i = 0; i < events->count; i++)
		if (events->first[i].lanes != 0)
			events->first[kept++] = events->first[i];
	events->count = kept;
}

static void grow(struct events *events, struct arena *arena)
{
	const uint32_t capacity = events->capacity ? 2 * events->capacity : 1;
	struct event *grown = arena_take(arena, capacity * sizeof *grown);
	if (events->count > 0)
		memcpy(grown, events->first, events->count * sizeof *grown);
	events->first = grown;
	events->capacity = capacity;
}

static void append(struct events *events, const struct event *now, struct arena *arena)
{
	enum { RECENT = 4 };
	/* Lanes that read the same one after the other, and a thread that waits, need one entry. */
	for (uint32_t i = events->count; i-- > 0 && events->count - i <= RECENT;) {
		struct event *event = &events->first[i];
		if (!is_same_place(event, now) || event->interval != now->interval || event->site != now->site ||
		    event->section != now->section || event->fenced != now->fenced || event->value != now->value ||
		    (event->clock != now->clock && event->lanes != now->lanes))
			continue;
		struct event same = *event;
		same.lanes |= now->lanes;
		same.clock = now->clock;
		memmove(event, event + 1, (events->count - 1 - i) * sizeof *event);
		events->first[events->count - 1] = same; /* the last of the atomics counts */
		return;
	}
	if (events->count == events->capacity) {
		if (events->count >= 16)
			compact(events);
		if (2 * events->count >= events->capacity)
			grow(events, arena);
	}
	events->first[events->count++] = *now;
}

/* ---- what orders two accesses ---- */

/* Two threads between which nothing stands, and why not. */
struct pair {
	uint32_t before, now; /* in their blocks */
	enum apart apart;     /* ORDERED: there is none, and this is how far apart they would be without a release */
	bool by_release;
};

static struct moment moment_of(const struct event *event, uint32_t thread)
{
	return (struct moment){event->block, thread, event->interval, event->clock};
}

/* Can others wait for what was written here? */
static bool is_signal(enum touch touch)
{
	return touch >= RELEASING_STORE;
}

/* Has a release, met by an acquire, ordered them? */
static bool is_handed_over(const struct check *c, const struct event *before, uint32_t thread, uint32_t mine)
{
	const struct moment then = moment_of(before, thread), now = moment_of(&c->now, mine);
	return has_releases(c->race) &&
	       (ordering_knows(c->race, mine, &then, is_signal(before->touch) ? c->word - before->offset : 0) ||
	        (is_signal(c->now.touch) &&
	         ordering_was_seen(c->race, &now, before->block, c->word - c->now.offset)));
}

/* Lanes of `before` that are in `theirs` against those of the access. */
static struct pair compare(const struct check *c, const struct event *before, uint32_t theirs)
{
	const struct event *now = &c->now;
	const struct race_warp *warp = &c->race->warps[now->warp];
	const bool same_block = before->block == now->block, same_warp = same_block && before->warp == now->warp;
	struct pair pair = {.apart = same_warp ? LANES : same_block ? WARPS : BLOCKS};
	if (same_block && before->interval != now->interval)
		return (struct pair){.apart = ORDERED};
	for (uint32_t rest = theirs; rest != 0; rest &= rest - 1) {
		const uint32_t lane = (uint32_t)__builtin_ctz(rest);
		/* Where several lanes do one access, they know the same of other warps. */
		for (uint32_t mine = same_warp ? now->lanes : now->lanes & -now->lanes; mine != 0; mine &= mine - 1) {
			const uint32_t my_lane = (uint32_t)__builtin_ctz(mine);
			pair.before = before->warp * WARP_SIZE + lane;
			pair.now = now->warp * WARP_SIZE + my_lane;
			if (same_warp &&
			    (lane == my_lane || are_ordered(warp, lane, warp->first_clock + before->clock, my_lane)))
				continue;
			if (!is_handed_over(c, before, pair.before, pair.now))
				return pair;
			pair.by_release = true;
		}
	}
	if (!pair.by_release)
		pair.apart = ORDERED;
	return pair;
}

/* ---- what is found ---- */

static enum sim_op op_of(enum touch touch)
{
	return touch <= VOLATILE_LOAD ? SIM_OP_LOAD : touch <= RELEASING_STORE ? SIM_OP_STORE : SIM_OP_ATOMIC;
}

static bool is_same_value(const struct event *before, const struct event *now)
{
	uint32_t mask = 0;
	for (int byte = 0; byte < 4; byte++)
		if (before->bytes & now->bytes & 1 << byte)
			mask |= UINT32_C(0xff) << 8 * byte;
	return op_of(before->touch) == SIM_OP_STORE && op_of(now->touch) == SIM_OP_STORE &&
	       ((before->value ^ now->value) & mask) == 0;
}

static struct finding finding_of(const struct check *c, const struct event *before, const struct pair *pair)
{
	const struct event *now = &c->now;
	const unsigned overlap = before->bytes & now->bytes;
	const enum sim_op was = op_of(before->touch), is = op_of(now->touch);
	const bool same_place =
		c->space == SIM_GLOBAL && before->site == now->site && is != SIM_OP_LOAD && was != SIM_OP_LOAD;
	return (struct finding){
		.kind = is == SIM_OP_LOAD    ? FINDING_READ_AFTER_WRITE
	                : was == SIM_OP_LOAD ? FINDING_WRITE_AFTER_READ
	                                     : FINDING_WRITE_AFTER_WRITE,
		.severity = is_same_value(before, now)            ? FINDING_INFO
	                    : pair->apart == LANES && !same_place ? FINDING_WARNING
	                                                          : FINDING_ERROR,
		.space = c->space,
		.now = {.site = now->site, .op = is, .thread = pair->now},
		.before = {.site = before->site, .op = was, .thread = pair->before, .block_order = before->block},
		.between_blocks = pair->apart == BLOCKS,
		.address = c->word + (unsigned)__builtin_ctz(overlap),
		.bytes = c->bytes,
		.count = (unsigned)__builtin_popcount(overlap),
	};
}

/* SPARED: they are not ordered, but that is no error, as where both write the same. */
enum outcome { NO_RACE, TOLD, SPARED };

/* They are ordered by a release. If that was of a lock, the other order is as good, and must be right, too. (Who is in
 * a turn of a lock has an event for each lane: so there is one pair.) */
static enum outcome judge_other_order(const struct check *c, const struct event *before, const struct pair *pair)
{
	const struct moment then = moment_of(before, pair->before);
	const enum scope scope = pair->apart == BLOCKS ? SCOPE_DEVICE : SCOPE_BLOCK;
	struct shared_locks shared;
	if (!locks_share(c->race, before->section, before->fenced, pair->now, &shared) ||
	    ordering_knows_without(c->race, pair->now, &then, &shared))
		return NO_RACE;
	struct finding finding = finding_of(c, before, pair);
	if (shared.fenced < scope + 1) {
		finding.cure = CURE_FENCE_AFTER_LOCK;
		race_found(c->race, finding);
		return TOLD;
	}
	finding.cure = CURE_FENCE_BEFORE_UNLOCK;
	locks_suspect(c->race, pair->now, shared.address[shared.count - 1], scope, &finding);
	return NO_RACE;
}

static enum outcome judge(const struct check *c, const struct event *before, uint32_t theirs)
{
	const struct pair pair = compare(c, before, theirs);
	if (pair.apart == ORDERED)
		return NO_RACE;
	if (pair.by_release)
		return judge_other_order(c, before, &pair);
	struct finding finding = finding_of(c, before, &pair);
	const struct moment then = moment_of(before, pair.before);
	if (finding.severity == FINDING_INFO && pair.apart == LANES && c->space == SIM_GLOBAL)
		return SPARED;
	if (pair.apart > LANES && has_releases(c->race) && ordering_would_know(c->race, pair.now, &then))
		finding.cure = CURE_FENCE_AFTER_LOOK;
	race_found(c->race, finding);
	return finding.severity == FINDING_ERROR ? TOLD : SPARED;
}

/* ---- one access ---- */

static bool is_atomic(const struct event *event)
{
	return event->touch >= ATOMIC;
}

/*
 * One that has raced is told: another of the same place of the source, by another block, is enough beside `now` to meet
 * whatever comes. One that was spared has to be met yet. It can go if one like it and `now` are of two blocks, or if
 * all three are of one block, and those two of two of its warps, if it is of another one than `now`.
 */
static bool is_spare(
	const struct events *events, uint32_t count, const struct event *event, const struct event *now,
	enum outcome outcome)
{
	for (uint32_t i = 0; outcome != NO_RACE && i < count; i++) {
		const struct event *twin = &events->first[i];
		if (twin->site != event->site || twin->touch != event->touch || twin->bytes != event->bytes)
			continue;
		if (outcome == TOLD ? twin->block != event->block
		                    : twin->value == event->value &&
		                              (twin->block != event->block
		                                       ? twin->block != now->block
		                                       : twin->block == now->block && (twin->warp != now->warp ||
		                                                                       event->warp == now->warp)))
			return true;
	}
	return false;
}

/* A store is spared by one of the same value, and what it takes the place of may not be. So of each byte one other is kept
 * that is no store of this value: the first such, which differs from all that have stood for it. */
static bool is_kept_beside(struct check *c, const struct event *event)
{
	const bool is_old = event->block == c->now.block && event->interval < c->now.interval;
	unsigned *others = &c->others[is_old];
	if (op_of(c->now.touch) != SIM_OP_STORE || (event->bytes & ~*others) == 0 || is_same_value(event, &c->now))
		return false;
	*others |= event->bytes;
	return true;
}

/* Holds the access against those of one kind; keeps those whose place it does not take. A store is held against the
 * last atomic alone: `if (atomicInc(&count, n) == n - 1) count = 0` is right because of what the atomic has told it. */
static void scan(struct check *c, struct events *events)
{
	const struct event *now = &c->now;
	const bool is_store = op_of(now->touch) == SIM_OP_STORE;
	uint32_t last_atomic = events->count, kept = 0;
	while (is_store && last_atomic > 0 && !is_atomic(&events->first[last_atomic - 1]))
		last_atomic--;
	for (uint32_t i = 0; i < events->count; i++) {
		struct event *event = &events->first[i];
		const bool same_block = event->block == now->block;
		const uint32_t mine = same_block && event->warp == now->warp ? now->lanes : 0;
		const uint32_t theirs = event->lanes & ~mine;
		/* Of lanes that read as one, each may have written. */
		const uint32_t others = now->lanes & (now->lanes - 1) ? event->lanes : theirs;
		const bool meets = race_may_meet(event->touch, now->touch, same_block);
		enum outcome outcome = NO_RACE;
		bool gone = false;
		if (event->touch == PLAIN_LOAD && is_atomic(now) && (event->lanes & mine) &&
		    event->interval == now->interval)
			race_explain_read(c->race, now->warp, event->site, now->site);
		if (others != 0 && (event->bytes & now->bytes) && !meets &&
		    (!is_store || !is_atomic(event) || i + 1 == last_atomic))
			outcome = judge(c, event, others);
		if (takes_place(now, event) && !(outcome != TOLD && is_kept_beside(c, event))) {
			event->lanes = theirs;
			gone = theirs == 0 || (is_store && !meets && outcome != SPARED) ||
			       (same_block && event->interval < now->interval);
		}
		if (!gone && !is_spare(events, kept, event, now, outcome))
			events->first[kept++] = *event;
	}
	events->count = kept;
}

/* Takes note if the access, in a turn of a lock, reads what another thread wrote, with no barrier since. Not if the word
 * is a lock that it holds: that says nothing of others. */
static void note_informed(const struct check *c, const struct history *history)
{
	const struct event *now = &c->now;
	if (op_of(now->touch) == SIM_OP_STORE || now->section == 0)
		return;
	const uint32_t thread = now->warp * WARP_SIZE + (uint32_t)__builtin_ctz(now->lanes);
	const uintptr_t address = c->word - now->offset;
	if (locks_holds(c->race, thread, address))
		return;
	for (int kind = 0; kind < KINDS; kind++)
		for (uint32_t i = 0; i < history->kinds[kind].count; i++) {
			const struct event *event = &history->kinds[kind].first[i];
			const bool same_block = event->block == now->block;
			if (op_of(event->touch) != SIM_OP_LOAD && (event->bytes & now->bytes) &&
			    !(same_block && event->interval != now->interval) &&
			    !(same_block && event->warp == now->warp && event->lanes == now->lanes)) {
				locks_inform(c->race, thread, address);
				return;
			}
		}
}

static void check_word(struct check *c, struct history *history, uint32_t stamp)
{
	const enum touch touch = c->now.touch;
	const int kind = touch == PLAIN_LOAD ? LOADS : op_of(touch) == SIM_OP_STORE ? STORES : STRONG;
	const bool is_plain_store = touch == PLAIN_STORE || touch == VOLATILE_STORE;
	if (history->stamp != stamp)
		*history = (struct history){.stamp = stamp};
	c->others[0] = c->others[1] = 0;
	scan(c, &history->kinds[STORES]);
	if (op_of(touch) != SIM_OP_LOAD)
		scan(c, &history->kinds[LOADS]);
	if (touch == PLAIN_LOAD || is_plain_store || touch == BLOCK_ATOMIC || history->has_block_atomics)
		scan(c, &history->kinds[STRONG]);
	history->has_block_atomics |= touch == BLOCK_ATOMIC;
	note_informed(c, history);
	append(&history->kinds[kind], &c->now, c->arena);
}

static void check_shared_word(struct check *c)
{
	struct race *race = c->race;
	c->arena = &race->arena;
	check_word(c, &race->words[(c->word - race->shared->first) / 4], race->interval);
}

static void check_global_word(struct check *c, struct sim_allocation *allocation)
{
	struct race_launch *launch = c->race->launch;
	struct history *words = shadow_if_open(&allocation->race);
	if (!words)
		words = shadow_open(&allocation->race, (allocation->size / 4 + 2) * sizeof *words);
	if (!words) {
		launch->incomplete = true; /* no memory for it: the counters and the other checks go on */
		return;
	}
	const size_t place = (c->word - allocation->first) / 4;
	c->arena = &launch->arena[place % WORD_LOCKS];
	pthread_mutex_lock(&launch->words[place % WORD_LOCKS]);
	check_word(c, &words[place], launch->number);
	pthread_mutex_unlock(&launch->words[place % WORD_LOCKS]);
}

static void check_access(struct check *c, uintptr_t address, unsigned size, const struct stored *stored)
{
	struct sim_allocation *allocation = c->space == SIM_GLOBAL ? sim_memory_find(address) : NULL;
	const unsigned shift = address & 3;
	if (c->space == SIM_GLOBAL && !allocation)
		return;
	c->bytes = size < 4 ? size : 4;
	c->now.bytes = (uint8_t)(((1u << c->bytes) - 1) << shift);
	for (unsigned done = 0; done < size; done += 4) {
		c->word = address - shift + done;
		c->now.offset = (int8_t)(done - shift);
		c->now.value = stored ? stored->word[done / 4] << 8 * shift : 0;
		if (allocation)
			check_global_word(c, allocation);
		else
			check_shared_word(c);
	}
}

/* ---- one instruction ---- */

/* A store's depends on its thread. */
static enum touch touch_of(struct race *race, uint32_t thread, uint64_t key)
{
	switch (key_op(key)) {
	case SIM_OP_LOAD: return key_is_volatile(key) ? VOLATILE_LOAD : PLAIN_LOAD;
	case SIM_OP_ATOMIC: return key_is_volatile(key) ? BLOCK_ATOMIC : ATOMIC;
	default: break;
	}
	if (key_is_volatile(key))
		return ordering_is_publishing(race, thread) ? RELEASING_STORE : VOLATILE_STORE;
	if (race->has_fenced)
		ordering_note_plain_store(race, thread);
	return PLAIN_STORE;
}

/* Do the lanes read one address, and know the same? Then they are one reader. */
static bool is_one_reader(const struct race *race, uint32_t number, uint32_t lanes, const uint64_t *address)
{
	const struct race_warp *warp = &race->warps[number];
	const uint32_t first = number * WARP_SIZE + (uint32_t)__builtin_ctz(lanes);
	bool same = !warp->has_fenced && !warp->has_looked;
	for (uint32_t rest = lanes, i = 0; same && rest != 0; rest &= rest - 1, i++) {
		const uint32_t thread = number * WARP_SIZE + (uint32_t)__builtin_ctz(rest);
		same = address[i] == address[0] && !locks_holds_any(race, thread) &&
		       lane_clock(race, first) == lane_clock(race, thread);
	}
	return same;
}

void history_instruction(
	struct race *race, uint32_t number, uint64_t key, uint32_t lanes, const uint64_t *address,
	const struct stored *value)
{
	const struct race_warp *warp = &race->warps[number];
	const bool is_store = key_op(key) == SIM_OP_STORE;
	const bool as_one = key_op(key) == SIM_OP_LOAD && is_one_reader(race, number, lanes, address);
	struct check c = {.race = race, .space = key_space(key)};
	for (uint32_t rest = lanes, i = 0; rest != 0; rest &= rest - 1, i++) {
		const uint32_t thread = number * WARP_SIZE + (uint32_t)__builtin_ctz(rest);
		c.now = (struct event){
			.block = race->block_order,
			.interval = race->interval - race->first_interval,
			.clock = lane_clock(race, thread) - warp->first_clock,
			.lanes = as_one ? lanes : rest & -rest,
			.site = key_site(key),
			.warp = (uint8_t)number,
			.touch = (uint8_t)touch_of(race, thread, key)};
		if (!as_one)
			c.now.section = locks_held(race, thread, &c.now.fenced);
		check_access(&c, address[i], key_size(key), is_store ? &value[i] : NULL);
		if (is_store && key_is_volatile(key) && locks_holds_any(race, thread)) {
			uint64_t stored = 0;
			memcpy(&stored, &value[i], key_size(key) < sizeof stored ? key_size(key) : sizeof stored);
			locks_stored(race, thread, address[i], stored);
		}
		if (as_one)
			return;
	}
}
