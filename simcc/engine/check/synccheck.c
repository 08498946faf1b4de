/*
 * synccheck: threads that wait for threads which cannot come, and lanes that read from lanes which did not. Nothing
 * ever hangs: the scheduler knows when nobody can go on, and the launch's clock knows when a kernel only spins.
 */
#include <stdio.h>
#include <string.h>

#include "check/findings.h"

/* Of one that waits, at the barrier or in its warp. */
static const char *describe_place(const struct waiter *waiter, char *text, size_t length)
{
	if (waiter->state == WAITS_AT_BARRIER)
		snprintf(text, length, "waits at the barrier");
	else
		snprintf(text, length, "waits at %s with mask 0x%08x", waiter->intrinsic, waiter->mask);
	const struct sim_site *site = site_at(waiter->site);
	const size_t used = strlen(text);
	if (site)
		snprintf(text + used, length - used, " in %.100s:%u", site->file, site->line);
	else
		snprintf(text + used, length - used, " elsewhere");
	return text;
}

/* "thread (1,0,0) waits ..." in the hazard's second line. */
static void name_other(struct hazard *hazard, const struct waiter *other)
{
	char place[200];
	snprintf(
		hazard->detail[1], sizeof hazard->detail[1], "thread (%u,%u,%u) %s", other->thread.x, other->thread.y,
		other->thread.z, describe_place(other, place, sizeof place));
	hazard_set_other(
		hazard, other->thread, site_at(other->site), other->state == WAITS_AT_BARRIER ? "barrier" : "warp");
}

struct hazard divergent_barrier(
	const struct actor *actor, const struct waiter *one, const struct waiter *other, uint32_t waiting,
	uint32_t exited, uint32_t total)
{
	struct hazard hazard =
		hazard_of(actor, site_at(one->site), SIM_SYNCCHECK, "divergent_barrier", cudaErrorLaunchFailure);
	sync_headline(&hazard, is_same_warp(one->number, other->number));
	snprintf(
		hazard.detail[0], sizeof hazard.detail[0], "%u of %u threads wait here; %u have left the kernel",
		waiting, total, exited);
	name_other(&hazard, other);
	snprintf(
		hazard.detail[2], sizeof hazard.detail[2],
		"every thread of the block must reach the same __syncthreads()");
	hazard.count = total - waiting;
	return hazard;
}

struct hazard missing_lane(const struct actor *actor, const struct waiter *one, const struct waiter *missing)
{
	struct hazard hazard =
		hazard_of(actor, site_at(one->site), SIM_SYNCCHECK, "missing_lane", cudaErrorLaunchFailure);
	sync_headline(&hazard, true);
	snprintf(
		hazard.detail[0], sizeof hazard.detail[0], "%s: the mask 0x%08x names lanes that never arrive here",
		one->intrinsic, one->mask);
	if (missing)
		name_other(&hazard, missing);
	return hazard;
}

struct hazard bad_mask(const struct actor *actor, const struct waiter *one, const char *reason)
{
	struct hazard hazard =
		hazard_of(actor, site_at(one->site), SIM_SYNCCHECK, "invalid_mask", cudaErrorLaunchFailure);
	snprintf(hazard.headline, sizeof hazard.headline, "Barrier error detected. Invalid arguments");
	snprintf(
		hazard.detail[0], sizeof hazard.detail[0], "%s (lane %u, mask 0x%08x)", reason,
		one->number % WARP_SIZE, one->mask);
	return hazard;
}

struct hazard endless_loop(const struct actor *actor, const struct waiter *one, uint32_t site)
{
	struct hazard hazard = hazard_of(actor, site_at(site), SIM_SYNCCHECK, "endless_loop", cudaErrorLaunchTimeout);
	snprintf(hazard.headline, sizeof hazard.headline, "No progress: an endless loop");
	snprintf(
		hazard.detail[0], sizeof hazard.detail[0],
		"for too long no thread has ended%s (SIM_TIMEOUT, %g s, sets the limit)",
		one->state == WAITS_AT_BARRIER ? "; they go through this barrier again and again"
					       : " or passed a barrier",
		sim_options()->timeout_s);
	return hazard;
}

/* ---- what the launch goes on after ---- */

static void add_finding(
	struct findings *findings, struct finding finding, const struct waiter *one, const struct waiter *missing)
{
	finding.now = (struct party){.site = one->site, .thread = one->number};
	finding.before = (struct party){.site = NO_SITE, .thread = missing->number};
	finding.in_warp = is_same_warp(one->number, missing->number);
	finding.count = 1;
	findings_add(findings, &finding);
}

void note_barrier_without(
	struct findings *findings, const struct waiter *one, const struct waiter *missing, uint32_t waiting,
	uint32_t total)
{
	const struct finding finding = {
		.kind = FINDING_EXITED_THREADS,
		.severity = FINDING_WARNING,
		.waiting = waiting,
		.total = total,
		.exited = total - waiting};
	add_finding(findings, finding, one, missing);
}

void note_exchange_without(
	struct findings *findings, const struct waiter *one, const struct waiter *missing, uint32_t exited)
{
	const struct finding finding = {
		.kind = FINDING_EXITED_THREADS,
		.severity = FINDING_WARNING,
		.intrinsic = one->intrinsic,
		.mask = one->mask,
		.exited = exited};
	add_finding(findings, finding, one, missing);
}

/*
 * The value of a lane that does not take part is undefined, but nothing is wrong with code that throws it away, as
 * `if (lane + step < n) sum += other` does at the end of an array. Whether it is thrown away is not seen from here.
 * So reported are: a lane of the mask that has left, because naming it says that it takes part; and a place where no
 * lane has ever got the value of another, in all the launches until then. That is known at the end of a launch: see
 * findings.c. One lane alone has nothing to get from others at an offset, as at the end of an array, too.
 */
void note_undefined_value(
	struct findings *findings, const struct waiter *one, const struct waiter *source, bool is_alone)
{
	const bool has_left = source->state == HAS_LEFT && (one->mask >> source->number % WARP_SIZE & 1);
	if (!has_left && (one->site == NO_SITE || is_alone))
		return;
	const struct finding finding = {
		.kind = has_left ? FINDING_EXITED_LANE : FINDING_OUTSIDE_LANE,
		.severity = FINDING_ERROR,
		.intrinsic = one->intrinsic,
		.mask = one->mask};
	add_finding(findings, finding, one, source);
}
