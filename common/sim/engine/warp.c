/* Shuffles, votes and __syncwarp: lanes named in a mask meet, exchange what they brought and go on. */
#include <stdio.h>

#include "run.h"

static bool waits_with(const struct lane *lane, const struct lane *other)
{
	return lane->state == LANE_AT_WARP_OP && lane->intrinsic == other->intrinsic && lane->mask == other->mask;
}

/* Lanes of the mask that can still come: CUDA excepts those that have left the kernel, and lanes past the end of
 * the block do not exist. */
static uint32_t expected_lanes(const struct warp *warp, uint32_t mask)
{
	return mask & ~warp->exited & warp_lanes(warp);
}

static bool all_have_come(const struct warp *warp, const struct lane *last)
{
	uint32_t missing = expected_lanes(warp, last->mask);

	for (; missing != 0; missing &= missing - 1)
		if (!waits_with(&warp->lanes[__builtin_ctz(missing)], last))
			return false;
	return true;
}

/* The lane a shuffle reads from; the calling lane itself where CUDA says the value stays as it is. */
static uint32_t shuffle_source(const struct lane *lane)
{
	const uint32_t index = lane->index, width = (uint32_t)lane->width, operand = (uint32_t)lane->operand;
	const uint32_t first = index & ~(width - 1), last = first + width - 1;

	switch (lane->shuffle) {
	case SIM_SHUFFLE_INDEX: return first | (operand & (width - 1));
	case SIM_SHUFFLE_UP: return operand > index - first ? index : index - operand;
	case SIM_SHUFFLE_DOWN: return operand > last - index ? index : index + operand;
	default: return (index ^ operand) > last ? index : index ^ operand;
	}
}

/* A place that has given a lane what it asked for: see note_undefined_value. */
static void note_delivery(const struct lane *lane, uint32_t source)
{
	struct sim_site *place = (struct sim_site *)lane->site;

	if (place != NULL && place->scratch != SITE_DELIVERS &&
	    (source != lane->index || lane->shuffle == SIM_SHUFFLE_INDEX)) /* else it only keeps its own */
		__atomic_store_n(&place->scratch, SITE_DELIVERS, __ATOMIC_RELAXED);
}

static void exchange(struct worker *worker, struct warp *warp, uint32_t group, enum warp_op op)
{
	uint32_t votes = 0;

	for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
		struct lane *lane = &warp->lanes[__builtin_ctz(rest)];

		if (op == WARP_OP_BALLOT && lane->predicate)
			votes |= 1u << lane->index;
	}
	for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
		struct lane *lane = &warp->lanes[__builtin_ctz(rest)];

		if (op == WARP_OP_BALLOT) {
			lane->result = votes;
		} else if (op == WARP_OP_SHUFFLE) {
			uint32_t source = shuffle_source(lane);

			if (group >> source & 1) {
				lane->result = warp->lanes[source].value;
				note_delivery(lane, source);
			} else {
				lane->result = ~(uint64_t)0; /* undefined: all ones, NaN as a float */
				if (sim_options()->check[SIM_SYNCCHECK])
					note_undefined_value(worker, lane, group, source);
			}
		}
	}
}

/* All who can come have come: they exchange what they brought, and may go on. */
static void complete_meeting(struct worker *worker, struct warp *warp, const struct lane *one)
{
	const uint32_t group = expected_lanes(warp, one->mask);

	if (one->op != WARP_OP_SYNC && (one->mask & warp->exited) != 0 && sim_options()->check[SIM_SYNCCHECK])
		note_exchange_without_exited(worker, warp, group, one->mask);
	if (worker->instrumented)
		account_meeting(worker, warp, group);
	if (worker->race_cells != NULL)
		racecheck_synchronise(worker, warp, group);
	exchange(worker, warp, group, one->op);
	for (uint32_t rest = group; rest != 0; rest &= rest - 1)
		warp->lanes[__builtin_ctz(rest)].state = LANE_READY;
	warp->ready |= group;
}

/* Lanes may have waited for one that has now left the kernel. */
bool settle_meetings(struct worker *worker, struct warp *warp)
{
	for (uint32_t i = 0; i < warp->lane_count; i++)
		if (warp->lanes[i].state == LANE_AT_WARP_OP && all_have_come(warp, &warp->lanes[i])) {
			complete_meeting(worker, warp, &warp->lanes[i]);
			return true;
		}
	return false;
}

static uint64_t meet(enum warp_op op, const char *intrinsic, unsigned mask, const void *site)
{
	struct lane *lane = sim_lane;
	struct warp *warp = lane->warp;

	lane->op = op;
	lane->intrinsic = intrinsic;
	lane->mask = mask;
	lane->site = site;
	lane->site_path = lane->path;
	lane->state = LANE_AT_WARP_OP;
	if (!(mask >> lane->index & 1))
		report_bad_mask(lane, "the mask does not name the calling lane");
	if (!all_have_come(warp, lane)) {
		lane_wait(lane, LANE_AT_WARP_OP);
		return lane->result;
	}
	complete_meeting(lane->worker, warp, lane);
	warp->ready &= ~(1u << lane->index); /* the last to come simply goes on */
	return lane->result;
}

void sim_warp_sync(unsigned mask, const void *site)
{
	static const char intrinsic[] = "__syncwarp";

	meet(WARP_OP_SYNC, intrinsic, mask, site);
}

uint64_t sim_warp_shuffle(const char *intrinsic, enum sim_shuffle kind, unsigned mask, uint64_t bits, int operand,
                          int width, const void *site)
{
	struct lane *lane = sim_lane;

	lane->shuffle = kind;
	lane->value = bits;
	lane->operand = operand;
	lane->width = width;
	lane->site = site;
	if (width < 1 || width > WARP_SIZE || (width & (width - 1)) != 0)
		report_bad_mask(lane, "the width of a shuffle must be 1, 2, 4, 8, 16 or 32");
	return meet(WARP_OP_SHUFFLE, intrinsic, mask, site);
}

unsigned sim_warp_ballot(const char *intrinsic, unsigned mask, int predicate, const void *site)
{
	sim_lane->predicate = predicate;
	return (unsigned)meet(WARP_OP_BALLOT, intrinsic, mask, site);
}

/* Which lanes are "active" is a question of how the hardware runs a branch. Here: those that come to the same
 * place before any of them must wait for anything else. */
static unsigned active_mask(const void *site, uint64_t path)
{
	struct lane *lane = sim_lane;

	lane->site = site;
	lane->site_path = path;
	lane_wait(lane, LANE_AT_ACTIVE_MASK);
	return (unsigned)lane->result;
}

unsigned sim_warp_active_mask(const void *site)
{
	return active_mask(site, sim_lane->path);
}

static uint64_t place_within(uint64_t outer, uint64_t place)
{
	return outer * 1000003 + place;
}

unsigned sim_warp_active_mask_at(uint64_t place)
{
	return active_mask(NULL, place_within(sim_lane->place, place));
}

uint64_t sim_place_enter(uint64_t place)
{
	const uint64_t before = sim_lane != NULL ? sim_lane->place : 0;

	if (sim_lane != NULL)
		sim_lane->place = place_within(before, place);
	return before;
}

void sim_place_leave(uint64_t before)
{
	if (sim_lane != NULL)
		sim_lane->place = before;
}

bool settle_active_mask(struct warp *warp)
{
	for (uint32_t i = 0; i < warp->lane_count; i++) {
		struct lane *first = &warp->lanes[i];
		uint32_t group = 0;

		if (first->state != LANE_AT_ACTIVE_MASK)
			continue;
		for (uint32_t j = i; j < warp->lane_count; j++) {
			struct lane *lane = &warp->lanes[j];

			if (lane->state == LANE_AT_ACTIVE_MASK && lane->site == first->site &&
			    lane->site_path == first->site_path)
				group |= 1u << j;
		}
		for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
			warp->lanes[__builtin_ctz(rest)].result = group;
			warp->lanes[__builtin_ctz(rest)].state = LANE_READY;
		}
		warp->ready |= group;
		return true;
	}
	return false;
}
