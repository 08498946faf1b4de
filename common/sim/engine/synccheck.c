/*
 * synccheck: threads that wait for threads which cannot come, and lanes that read from lanes which did not. Nothing
 * ever hangs: the scheduler knows when nobody can go on, and launch.c's clock knows when a kernel only spins.
 */
#include <stdio.h>
#include <string.h>

#include "run.h"

static const char *describe_place(const struct lane *lane, char *text, size_t length)
{
	const struct sim_site *site = lane->site;

	if (lane->state == LANE_AT_BARRIER)
		snprintf(text, length, "waits at the barrier");
	else if (lane->state == LANE_AT_WARP_OP)
		snprintf(text, length, "waits at %s with mask 0x%08x", lane->intrinsic, lane->mask);
	else
		snprintf(text, length, "waits");
	if (site == NULL)
		snprintf(text + strlen(text), length - strlen(text), " elsewhere");
	else
		snprintf(text + strlen(text), length - strlen(text), " in %.100s:%u", site->file, site->line);
	return text;
}

static void set_other(struct hazard *hazard, const struct lane *other, const char *operation)
{
	const struct sim_site *site = other->site;

	hazard->has_other = true;
	hazard->other_thread = other->thread;
	hazard->other_line = site ? site->line : 0;
	hazard->other_column = site ? site->column : 0;
	snprintf(hazard->other_op, sizeof hazard->other_op, "%s", operation);
	snprintf(hazard->other_file, sizeof hazard->other_file, "%s", site ? site->file : "");
}

static const char *operation_of(const struct lane *lane)
{
	return lane->state == LANE_AT_BARRIER ? "barrier" : "warp";
}

void report_divergent_barrier(struct worker *worker, struct lane *waiting, struct lane *other)
{
	const bool same_warp = waiting->warp == other->warp;
	struct hazard hazard = hazard_at(waiting, waiting->site, SIM_SYNCCHECK, "divergent_barrier");
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
		    !(lane->state == LANE_AT_WARP_OP && lane->intrinsic == waiting->intrinsic &&
		      lane->mask == waiting->mask))
			missing = lane;
	}
	struct hazard hazard = hazard_at(waiting, waiting->site, SIM_SYNCCHECK, "missing_lane");
	snprintf(hazard.headline, sizeof hazard.headline, "Barrier error detected. Divergent thread(s) in warp");
	snprintf(hazard.detail[0], sizeof hazard.detail[0], "%s: the mask 0x%08x names lanes that never arrive here",
	         waiting->intrinsic, waiting->mask);
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

/* ---- what the launch goes on after ---- */

static uint32_t number_of(const struct worker *worker, const struct lane *lane)
{
	return (uint32_t)(lane - worker->lanes);
}

static void add_finding(struct worker *worker, struct finding finding, const struct lane *lane,
                        const struct lane *missing)
{
	finding.now = (struct party){.site = site_index(lane->site), .thread = number_of(worker, lane)};
	finding.before = (struct party){.site = site_index(NULL), .thread = number_of(worker, missing)};
	finding.count = 1;
	findings_add(worker, &finding);
}

/* A warp that is divided is the better example: both threads are named from it. */
void note_barrier_without_exited(struct worker *worker)
{
	struct finding finding = {.kind = FINDING_EXITED_THREADS,
	                          .severity = FINDING_WARNING,
	                          .waiting = worker->arrivals.count,
	                          .total = worker->thread_count,
	                          .exited = worker->thread_count - worker->arrivals.count};
	const struct lane *waiting = worker->arrivals.first, *missing = NULL;

	for (uint32_t w = 0; w < worker->warp_count && !finding.in_warp; w++) {
		const struct warp *warp = &worker->warps[w];

		if (warp->exited == 0)
			continue;
		if (missing == NULL || warp->at_barrier != 0)
			missing = &warp->lanes[__builtin_ctz(warp->exited)];
		if (warp->at_barrier != 0) {
			finding.in_warp = true;
			waiting = &warp->lanes[__builtin_ctz(warp->at_barrier)];
		}
	}
	add_finding(worker, finding, waiting, missing);
}

void note_exchange_without_exited(struct worker *worker, const struct warp *warp, uint32_t group, uint32_t mask)
{
	const struct lane *lane = &warp->lanes[__builtin_ctz(group)];
	const struct finding finding = {.kind = FINDING_EXITED_THREADS,
	                                .severity = FINDING_WARNING,
	                                .intrinsic = lane->intrinsic,
	                                .mask = mask,
	                                .exited = (uint32_t)__builtin_popcount(mask & warp->exited),
	                                .in_warp = true};

	add_finding(worker, finding, lane, &warp->lanes[__builtin_ctz(mask & warp->exited)]);
}

/*
 * The value of a lane that does not take part is undefined, but nothing is wrong with code that throws it away, as
 * `if (lane + step < n) sum += other` does at the end of an array. Whether it is thrown away is not seen from here.
 * So reported are: a lane of the mask that has left, because naming it says that it takes part; and a place where no
 * lane has ever got the value of another, in all the launches until then. That is known at the end of a launch: see
 * findings.c. One lane alone has nothing to get from others at an offset, as at the end of an array, too.
 */
void note_undefined_value(struct worker *worker, const struct lane *lane, uint32_t group, uint32_t source)
{
	const struct warp *warp = lane->warp;
	struct finding finding = {.kind = FINDING_EXITED_LANE,
	                          .severity = FINDING_ERROR,
	                          .intrinsic = lane->intrinsic,
	                          .mask = lane->mask,
	                          .in_warp = true};

	if (!(lane->mask & warp->exited & 1u << source)) {
		const bool is_alone = (group & (group - 1)) == 0;

		if (lane->site == NULL || (is_alone && lane->shuffle != SIM_SHUFFLE_INDEX))
			return;
		finding.kind = FINDING_OUTSIDE_LANE;
	}
	add_finding(worker, finding, lane, &warp->lanes[source]);
}

static void describe_barrier(const struct finding *f, struct hazard *hazard)
{
	snprintf(hazard->detail[0], sizeof hazard->detail[0],
	         "%u of %u threads wait here; %u have left the kernel [%llu time%s]", f->waiting, f->total, f->exited,
	         (unsigned long long)f->count, f->count == 1 ? "" : "s");
	snprintf(hazard->detail[1], sizeof hazard->detail[1],
	         "thread (%u,%u,%u) has left the kernel: it counts as arrived", hazard->other_thread.x,
	         hazard->other_thread.y, hazard->other_thread.z);
	snprintf(
		hazard->advice, sizeof hazard->advice,
		"the others go on, as on a GPU since compute capability 7.0. Sturdier: guard accesses, and let every "
		"thread reach the barrier");
}

static void describe_exchange(const struct finding *f, struct hazard *hazard)
{
	snprintf(hazard->detail[0], sizeof hazard->detail[0],
	         "%s: the mask 0x%08x names %u lane%s that left the kernel [%llu time%s]", f->intrinsic, f->mask,
	         f->exited, f->exited == 1 ? "" : "s", (unsigned long long)f->count, f->count == 1 ? "" : "s");
	snprintf(hazard->detail[1], sizeof hazard->detail[1],
	         "thread (%u,%u,%u) has left the kernel: it brings no value", hazard->other_thread.x,
	         hazard->other_thread.y, hazard->other_thread.z);
	snprintf(hazard->advice, sizeof hazard->advice,
	         "let every lane of the mask come here, or name only those that do");
}

static void describe_shuffle(const struct finding *f, struct hazard *hazard)
{
	const char *why = f->kind == FINDING_EXITED_LANE                ? "has left the kernel"
	                  : f->mask >> f->before.thread % WARP_SIZE & 1 ? "the block does not have"
	                                                                : "the mask does not name";

	snprintf(hazard->detail[0], sizeof hazard->detail[0],
	         "%s with mask 0x%08x reads lane %u, which %s [%llu time%s]", f->intrinsic, f->mask,
	         f->before.thread % WARP_SIZE, why, (unsigned long long)f->count, f->count == 1 ? "" : "s");
	snprintf(hazard->detail[1], sizeof hazard->detail[1], "the value is undefined");
	snprintf(hazard->advice, sizeof hazard->advice,
	         "a lane that is read must execute the shuffle too: take it out of the branch, or read another lane");
}

void describe_sync_finding(const struct launch *launch, const struct finding *f, struct hazard *hazard)
{
	const dim3 size = launch->block;
	const uint32_t missing = f->before.thread;

	snprintf(hazard->headline, sizeof hazard->headline, "Barrier error detected. Divergent thread(s) in %s",
	         f->in_warp ? "warp" : "block");
	hazard->has_other = missing < size.x * size.y * size.z;
	hazard->other_thread = (uint3){missing % size.x, missing / size.x % size.y, missing / size.x / size.y};
	snprintf(hazard->other_op, sizeof hazard->other_op, "%s", f->kind == FINDING_OUTSIDE_LANE ? "none" : "exit");
	if (f->kind != FINDING_EXITED_THREADS)
		describe_shuffle(f, hazard);
	else if (f->intrinsic == NULL)
		describe_barrier(f, hazard);
	else
		describe_exchange(f, hazard);
}
