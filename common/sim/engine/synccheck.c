/*
 * synccheck: threads that wait for threads which cannot come. Nothing ever hangs: the scheduler knows when nobody
 * can go on, and launch.c's clock knows when a kernel only spins.
 */
#include <stdio.h>

#include "run.h"

static const char *describe_place(const struct lane *lane, char *text, size_t length)
{
	const struct sim_site *site = lane->site;

	if (lane->state == LANE_EXITED)
		snprintf(text, length, "has left the kernel");
	else if (site == NULL)
		snprintf(text, length, "waits elsewhere");
	else
		snprintf(text, length, "waits %s %s:%u", lane->state == LANE_AT_BARRIER ? "at the barrier in" : "in",
		         site->file, site->line);
	return text;
}

static void set_other(struct hazard *hazard, const struct lane *other, const char *operation)
{
	const struct sim_site *site = other->state == LANE_EXITED ? NULL : other->site;

	hazard->has_other = true;
	hazard->other_thread = other->thread;
	hazard->other_line = site ? site->line : 0;
	hazard->other_column = site ? site->column : 0;
	snprintf(hazard->other_op, sizeof hazard->other_op, "%s", operation);
	snprintf(hazard->other_file, sizeof hazard->other_file, "%s", site ? site->file : "");
}

static const char *operation_of(const struct lane *lane)
{
	return lane->state == LANE_EXITED ? "exit" : lane->state == LANE_AT_BARRIER ? "barrier" : "warp";
}

void report_divergent_barrier(struct worker *worker, struct lane *waiting, struct lane *other)
{
	const bool same_warp = waiting->warp == other->warp;
	struct hazard hazard = hazard_at(waiting, waiting->site, SIM_SYNCCHECK,
	                                 other->state == LANE_EXITED ? "exited_threads" : "divergent_barrier");
	uint32_t waiting_count = 0, exited_count = 0;
	char place[200];

	for (uint32_t t = 0; t < worker->thread_count; t++) {
		const struct lane *lane = &worker->lanes[t];

		exited_count += lane->state == LANE_EXITED;
		waiting_count += lane->state == LANE_AT_BARRIER && lane->site == waiting->site &&
		                 lane->site_path == waiting->site_path;
	}
	snprintf(hazard.headline, sizeof hazard.headline, "Barrier error detected. Divergent thread(s) in %s",
	         same_warp ? "warp" : "block");
	snprintf(hazard.detail[0], sizeof hazard.detail[0], "%u of %u threads wait here; %u have left the kernel",
	         waiting_count, worker->thread_count, exited_count);
	snprintf(hazard.detail[1], sizeof hazard.detail[1], "thread (%u,%u,%u) %s", other->thread.x, other->thread.y,
	         other->thread.z, describe_place(other, place, sizeof place));
	snprintf(hazard.detail[2], sizeof hazard.detail[2],
	         "every thread of the block must reach the same __syncthreads()");
	set_other(&hazard, other, operation_of(other));
	hazard.count = worker->thread_count - waiting_count;
	fail_launch(worker, &hazard, cudaErrorLaunchFailure);
}

void report_stuck_warp(struct worker *worker, struct warp *warp)
{
	struct lane *waiting = NULL, *missing = NULL;
	char place[200];

	for (uint32_t i = 0; i < warp->lane_count && waiting == NULL; i++)
		if (warp->lanes[i].state == LANE_AT_WARP_OP)
			waiting = &warp->lanes[i];
	if (waiting == NULL)
		waiting = &warp->lanes[0];
	for (uint32_t i = 0; i < warp->lane_count && missing == NULL; i++) {
		struct lane *lane = &warp->lanes[i];

		if ((waiting->mask >> i & 1) && lane->state != LANE_EXITED &&
		    !(lane->state == LANE_AT_WARP_OP && lane->op == waiting->op && lane->mask == waiting->mask))
			missing = lane;
	}
	struct hazard hazard = hazard_at(waiting, waiting->site, SIM_SYNCCHECK, "missing_lane");
	snprintf(hazard.headline, sizeof hazard.headline, "Barrier error detected. Divergent thread(s) in warp");
	snprintf(hazard.detail[0], sizeof hazard.detail[0], "the mask 0x%08x names lanes that never arrive here",
	         waiting->mask);
	if (missing != NULL) {
		snprintf(hazard.detail[1], sizeof hazard.detail[1], "thread (%u,%u,%u) %s", missing->thread.x,
		         missing->thread.y, missing->thread.z, describe_place(missing, place, sizeof place));
		set_other(&hazard, missing, operation_of(missing));
	}
	fail_launch(worker, &hazard, cudaErrorLaunchFailure);
}

void report_bad_mask(struct lane *lane, const char *reason)
{
	struct hazard hazard = hazard_at(lane, lane->site, SIM_SYNCCHECK, "invalid_mask");

	snprintf(hazard.headline, sizeof hazard.headline, "Barrier error detected. Invalid arguments");
	snprintf(hazard.detail[0], sizeof hazard.detail[0], "%s (lane %u, mask 0x%08x)", reason, lane->index,
	         lane->mask);
	fail_launch(lane->worker, &hazard, cudaErrorLaunchFailure);
}

void report_spinning(struct worker *worker, struct lane *lane)
{
	struct hazard hazard = hazard_at(lane, NULL, SIM_SYNCCHECK, "endless_loop");

	const bool at_barrier = lane->state == LANE_AT_BARRIER;

	snprintf(hazard.headline, sizeof hazard.headline, "No progress: an endless loop");
	snprintf(hazard.detail[0], sizeof hazard.detail[0], "for too long no thread has ended%s (SIM_TIMEOUT=%g)",
	         at_barrier ? "; they go through this barrier again and again" : " or passed a barrier",
	         sim_options()->timeout_s);
	hazard_set_location(&hazard, at_barrier ? lane->site : site_at(key_site(lane->keys[0])));
	fail_launch(worker, &hazard, cudaErrorLaunchTimeout);
}
