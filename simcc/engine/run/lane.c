/* What a lane waits for, and how it ends its block. */
#include <stdlib.h>

#include "run/worker.h"

struct waiter waiter_of(const struct lane *lane)
{
	return (struct waiter){
		.state = lane->warp->exited >> lane->index & 1 ? HAS_LEFT
	                 : lane->state == LANE_AT_BARRIER      ? WAITS_AT_BARRIER
	                 : lane->state == LANE_AT_WARP_OP      ? WAITS_AT_WARP_OP
	                                                       : RUNS,
		.thread = lane->thread,
		.number = lane->number,
		.site = lane->site,
		.intrinsic = lane->meeting.intrinsic,
		.mask = lane->meeting.mask,
	};
}

uint32_t ended_lanes(const struct warp *warp)
{
	const uint32_t present = lanes_of(warp->lane_count);
	uint32_t ended = warp->at_barrier | warp->exited;
	for (uint32_t i = 0; i < warp->lane_count; i++) {
		const struct lane *lane = &warp->lanes[i];
		/* A meeting of the whole warp, unless somebody has left, who will be missing from it. */
		if (lane->state == LANE_AT_WARP_OP && (lane->meeting.mask & present) == present && warp->exited == 0)
			ended |= 1u << i;
	}
	return ended;
}

void abandon_block(struct worker *worker)
{
	struct sim_fiber nowhere;
	sim_lane = NULL;
	sim_fiber_switch(&nowhere, &worker->main);
	abort();
}

void fail_launch(struct worker *worker, const struct hazard *hazard)
{
	struct launch *launch = worker->launch;
	/* Several blocks may fail at once. The first in order is the one reported, so the report is reproducible. */
	pthread_mutex_lock(&launch->lock);
	if (worker->block_order < launch->failed_order) {
		launch->failed_order = worker->block_order;
		if (!launch->fault)
			launch->fault = need(malloc(sizeof *launch->fault));
		*launch->fault = *hazard;
	}
	pthread_mutex_unlock(&launch->lock);
	abandon_block(worker);
}
