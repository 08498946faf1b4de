/* How synccheck says what it has found. */
#include <stdio.h>

#include "check/findings.h"

void sync_headline(struct hazard *hazard, bool in_warp)
{
	snprintf(
		hazard->headline, sizeof hazard->headline, "Barrier error detected. Divergent thread(s) in %s",
		in_warp ? "warp" : "block");
}

static void describe_barrier(const struct finding *f, struct hazard *hazard)
{
	snprintf(
		hazard->detail[0], sizeof hazard->detail[0],
		"%u of %u threads wait here; %u have left the kernel [%llu time%s]", f->waiting, f->total, f->exited,
		(unsigned long long)f->count, f->count == 1 ? "" : "s");
	snprintf(
		hazard->detail[1], sizeof hazard->detail[1],
		"thread (%u,%u,%u) has left the kernel: it counts as arrived", hazard->other_thread.x,
		hazard->other_thread.y, hazard->other_thread.z);
	snprintf(
		hazard->advice, sizeof hazard->advice,
		"the others go on, as on a GPU since compute capability 7.0. Sturdier: guard accesses, and let every "
		"thread reach the barrier");
}

static void describe_exchange(const struct finding *f, struct hazard *hazard)
{
	snprintf(
		hazard->detail[0], sizeof hazard->detail[0],
		"%s: the mask 0x%08x names %u lane%s that left the kernel [%llu time%s]", f->intrinsic, f->mask,
		f->exited, f->exited == 1 ? "" : "s", (unsigned long long)f->count, f->count == 1 ? "" : "s");
	snprintf(
		hazard->detail[1], sizeof hazard->detail[1],
		"thread (%u,%u,%u) has left the kernel: it brings no value", hazard->other_thread.x,
		hazard->other_thread.y, hazard->other_thread.z);
	snprintf(
		hazard->advice, sizeof hazard->advice,
		"let every lane of the mask come here, or name only those that do");
}

static void describe_shuffle(const struct finding *f, struct hazard *hazard)
{
	const char *why = f->kind == FINDING_EXITED_LANE                ? "has left the kernel"
	                  : f->mask >> f->before.thread % WARP_SIZE & 1 ? "the block does not have"
	                                                                : "the mask does not name";
	snprintf(
		hazard->detail[0], sizeof hazard->detail[0],
		"%s with mask 0x%08x reads lane %u, which %s [%llu time%s]", f->intrinsic, f->mask,
		f->before.thread % WARP_SIZE, why, (unsigned long long)f->count, f->count == 1 ? "" : "s");
	snprintf(hazard->detail[1], sizeof hazard->detail[1], "the value is undefined");
	snprintf(
		hazard->advice, sizeof hazard->advice,
		"a lane that is read must execute the shuffle too: take it out of the branch, or read another lane");
}

void describe_sync_finding(const struct request *request, const struct finding *f, struct hazard *hazard)
{
	const dim3 size = request->block;
	const uint32_t missing = f->before.thread;
	sync_headline(hazard, f->in_warp);
	hazard->has_other = missing < size.x * size.y * size.z;
	hazard->other_thread = thread_index(request, missing);
	snprintf(hazard->other_op, sizeof hazard->other_op, "%s", f->kind == FINDING_OUTSIDE_LANE ? "none" : "exit");
	if (f->kind != FINDING_EXITED_THREADS)
		describe_shuffle(f, hazard);
	else if (!f->intrinsic)
		describe_barrier(f, hazard);
	else
		describe_exchange(f, hazard);
}
