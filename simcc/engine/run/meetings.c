/* Lanes of a warp that wait for one another: when a meeting is complete, and what they exchange. */
#include "run/worker.h"

static bool waits_with(const struct lane *lane, const struct lane *other)
{
	return lane->state == LANE_AT_WARP_OP && lane->meeting.intrinsic == other->meeting.intrinsic &&
	       lane->meeting.mask == other->meeting.mask;
}

/* Lanes of the mask that can still come: CUDA excepts those that have left the kernel, and lanes past the end of
 * the block do not exist. */
static uint32_t expected_lanes(const struct warp *warp, uint32_t mask)
{
	return mask & ~warp->exited & lanes_of(warp->lane_count);
}

bool all_have_come(const struct warp *warp, const struct lane *last)
{
	uint32_t missing = expected_lanes(warp, last->meeting.mask);
	for (; missing != 0; missing &= missing - 1)
		if (!waits_with(&warp->lanes[__builtin_ctz(missing)], last))
			return false;
	return true;
}

/* The lane a shuffle reads from; the calling lane itself where CUDA says the value stays as it is. */
static uint32_t shuffle_source(const struct lane *lane)
{
	const uint32_t index = lane->index, width = (uint32_t)lane->meeting.width,
		       operand = (uint32_t)lane->meeting.operand & 31; /* of which PTX takes five bits */
	const uint32_t first = index & ~(width - 1), last = first + width - 1;
	switch (lane->meeting.shuffle) {
	case SIM_SHUFFLE_INDEX: return first | (operand & (width - 1));
	case SIM_SHUFFLE_UP: return operand > index - first ? index : index - operand;
	case SIM_SHUFFLE_DOWN: return operand > last - index ? index : index + operand;
	default: return (index ^ operand) > last ? index : index ^ operand;
	}
}

/* A place that has given a lane what it asked for: see note_undefined_value. */
static void note_delivery(const struct lane *lane, uint32_t source)
{
	if (source != lane->index || lane->meeting.shuffle == SIM_SHUFFLE_INDEX) /* else it only keeps its own */
		note_at_site(lane->site, SITE_DELIVERS);
}

static void note_undefined(struct worker *worker, const struct lane *lane, uint32_t group, uint32_t source)
{
	const bool is_alone = (group & (group - 1)) == 0;
	const struct waiter here = waiter_of(lane), there = waiter_of(&lane->warp->lanes[source]);
	note_undefined_value(
		&worker->findings, &here, &there, is_alone && lane->meeting.shuffle != SIM_SHUFFLE_INDEX);
}

static void exchange(struct worker *worker, struct warp *warp, uint32_t group, int op)
{
	uint32_t votes = 0;
	for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
		struct lane *lane = &warp->lanes[__builtin_ctz(rest)];
		if (op == WARP_OP_BALLOT && lane->meeting.predicate)
			votes |= 1u << lane->index;
	}
	for (uint32_t rest = group; rest != 0; rest &= rest - 1) {
		struct lane *lane = &warp->lanes[__builtin_ctz(rest)];
		if (op == WARP_OP_BALLOT) {
			lane->meeting.result = votes;
		} else if (op == WARP_OP_SHUFFLE) {
			uint32_t source = shuffle_source(lane);
			if (group >> source & 1) {
				lane->meeting.result = warp->lanes[source].meeting.value;
				note_delivery(lane, source);
			} else {
				lane->meeting.result = ~(uint64_t)0; /* undefined: all ones, NaN as a float */
				if (sim_options()->check[SIM_SYNCCHECK])
					note_undefined(worker, lane, group, source);
			}
		}
	}
}

void complete_meeting(struct worker *worker, struct warp *warp, const struct lane *one)
{
	const uint32_t group = expected_lanes(warp, one->meeting.mask);
	const uint32_t exited = one->meeting.mask & warp->exited;
	if (one->meeting.op != WARP_OP_SYNC && exited != 0 && sim_options()->check[SIM_SYNCCHECK]) {
		const struct waiter here = waiter_of(&warp->lanes[__builtin_ctz(group)]);
		const struct waiter missing = waiter_of(&warp->lanes[__builtin_ctz(exited)]);
		note_exchange_without(&worker->findings, &here, &missing, (uint32_t)__builtin_popcount(exited));
	}
	if (worker->instrumented)
		match_meeting(&warp->matcher, &worker->audience, ended_lanes(warp), group);
	if (worker->audience.race) {
		race_synchronise(worker->audience.race, (uint32_t)(warp - worker->warps), group);
		findings_pass(&worker->findings, (uint32_t)(warp - worker->warps), one->site, one->site_path);
	}
	exchange(worker, warp, group, one->meeting.op);
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
			warp->lanes[__builtin_ctz(rest)].meeting.result = group;
			warp->lanes[__builtin_ctz(rest)].state = LANE_READY;
		}
		warp->ready |= group;
		return true;
	}
	return false;
}
void stop_stuck_warp(const struct warp *warp)
{
	const struct lane *waiting = &warp->lanes[0], *missing = NULL;
	for (uint32_t i = warp->lane_count; i-- > 0;)
		if (warp->lanes[i].state == LANE_AT_WARP_OP)
			waiting = &warp->lanes[i];
	for (uint32_t i = warp->lane_count; i-- > 0;) {
		const struct lane *lane = &warp->lanes[i];
		if ((waiting->meeting.mask >> i & 1) && lane->state != LANE_EXITED && !waits_with(lane, waiting))
			missing = lane;
	}
	const struct actor actor = actor_of(waiting);
	const struct waiter here = waiter_of(waiting), there = waiter_of(missing ? missing : waiting);
	const struct hazard hazard = missing_lane(&actor, &here, missing ? &there : NULL);
	fail_launch(waiting->worker, &hazard);
}
