/* Shuffles, votes, __syncwarp and __activemask, where device code calls them. */
#include "run/worker.h"

static _Noreturn COLD void stop_bad_mask(struct lane *lane, const char *reason)
{
	const struct actor actor = actor_of(lane);
	const struct waiter here = waiter_of(lane);
	const struct hazard hazard = bad_mask(&actor, &here, reason);
	fail_launch(lane->worker, &hazard);
}

static uint64_t meet(int op, const char *intrinsic, unsigned mask, uint32_t site)
{
	struct lane *lane = sim_lane;
	struct warp *warp = lane->warp;
	lane->meeting.op = op;
	lane->meeting.intrinsic = intrinsic;
	lane->meeting.mask = mask;
	lane->site = site;
	lane->site_path = lane->path;
	lane->state = LANE_AT_WARP_OP;
	if (!(mask >> lane->index & 1))
		stop_bad_mask(lane, "the mask does not name the calling lane");
	if (!all_have_come(warp, lane)) {
		lane_wait(lane, LANE_AT_WARP_OP);
		return lane->meeting.result;
	}
	complete_meeting(lane->worker, warp, lane);
	warp->ready &= ~(1u << lane->index); /* the last to come simply goes on */
	return lane->meeting.result;
}

void sim_warp_sync(unsigned mask, uint32_t site)
{
	static const char intrinsic[] = "__syncwarp";
	meet(WARP_OP_SYNC, intrinsic, mask, site);
}

uint64_t sim_warp_shuffle(
	const char *intrinsic, enum sim_shuffle kind, unsigned mask, uint64_t bits, int operand, int width,
	uint32_t site)
{
	struct lane *lane = sim_lane;
	lane->meeting.shuffle = kind;
	lane->meeting.value = bits;
	lane->meeting.operand = operand;
	lane->meeting.width = width;
	lane->meeting.mask = mask; /* what the message names */
	lane->site = site;
	if (width < 1 || width > WARP_SIZE || (width & (width - 1)) != 0)
		stop_bad_mask(lane, "the width of a shuffle must be 1, 2, 4, 8, 16 or 32");
	return meet(WARP_OP_SHUFFLE, intrinsic, mask, site);
}

unsigned sim_warp_ballot(const char *intrinsic, unsigned mask, int predicate, uint32_t site)
{
	sim_lane->meeting.predicate = predicate;
	return (unsigned)meet(WARP_OP_BALLOT, intrinsic, mask, site);
}

/* Which lanes are "active" is a question of how the hardware runs a branch. Here: those that come to the same
 * place before any of them must wait for anything else. */
static unsigned active_mask(uint32_t site, uint64_t path)
{
	struct lane *lane = sim_lane;
	lane->site = site;
	lane->site_path = path;
	lane_wait(lane, LANE_AT_ACTIVE_MASK);
	return (unsigned)lane->meeting.result;
}

unsigned sim_warp_active_mask(uint32_t site)
{
	return active_mask(site, sim_lane->path);
}

static uint64_t place_within(uint64_t outer, uint64_t place)
{
	return outer * 1000003 + place;
}

unsigned sim_warp_active_mask_at(uint64_t place)
{
	return active_mask(NO_SITE, place_within(sim_lane->place, place));
}

uint64_t sim_place_enter(uint64_t place)
{
	const uint64_t before = sim_lane ? sim_lane->place : 0;
	if (sim_lane)
		sim_lane->place = place_within(before, place);
	return before;
}

void sim_place_leave(uint64_t before)
{
	if (sim_lane)
		sim_lane->place = before;
}
