/*
 * What a race needs, and where a barrier belongs. The lines that a barrier can stand between are those of one function:
 * where an access lies in a helper, the line of the call counts.
 */
#include <stdio.h>
#include <string.h>

#include "check/findings.h"

/* A point as one function's text has it: the line of the access, or of the call that leads to it. */
struct spot {
	char file[256];
	unsigned line;
	bool is_call;
};

enum { MOST_CALLS = 64 };

/* The calls that lead to the point, the kernel's first. -1: not known. */
static int calls_to(const struct paths *paths, struct point point, uint32_t calls[MOST_CALLS])
{
	uint32_t inward[MOST_CALLS];
	int count = 0;
	if (point.site == 0 || point.path == 0)
		return -1;
	for (uint32_t node = point.path - 1; node != 0; node = paths->nodes[node].parent) {
		if (count == MOST_CALLS)
			return -1;
		inward[count++] = paths->nodes[node].call;
	}
	for (int i = 0; i < count; i++)
		calls[i] = inward[count - 1 - i];
	return count;
}

static void find_spot(struct point point, uint32_t call, struct spot *spot)
{
	struct hazard place = {.signature = ""};
	hazard_set_location(&place, site_at(call != NO_SITE ? call : point.site));
	spot->is_call = call != 0;
	spot->line = place.line;
	memcpy(spot->file, place.file, sizeof spot->file);
}

/* Both points in the text of the innermost function that runs when either is reached. False: not known. */
static bool find_spots(
	const struct paths *paths, struct point one, struct point other, struct spot *first, struct spot *second)
{
	uint32_t calls[MOST_CALLS], others[MOST_CALLS];
	const int count = calls_to(paths, one, calls), other_count = calls_to(paths, other, others);
	int same = 0;
	if (count < 0 || other_count < 0)
		return false;
	while (same < count && same < other_count && calls[same] == others[same])
		same++;
	find_spot(one, same < count ? calls[same] : 0, first);
	find_spot(other, same < other_count ? others[same] : 0, second);
	return first->line != 0 && second->line != 0 && strcmp(first->file, second->file) == 0;
}

bool is_below(const struct paths *paths, struct point point, struct point other)
{
	struct spot here, there;
	return find_spots(paths, point, other, &here, &there) && here.line > there.line;
}

/* "line 49 (in load_tile, line 30)", "line 27 (in load_tile, row.cuh:41)" */
static void name_spot(const struct spot *spot, struct point point, char *text, size_t length)
{
	const struct sim_site *site = site_at(point.site);
	const char *function = site->function ? site->function->name : "?";
	if (!spot->is_call)
		snprintf(text, length, "line %u", spot->line);
	else if (strcmp(spot->file, site->file) == 0)
		snprintf(text, length, "line %u (in %.60s, line %u)", spot->line, function, site->line);
	else
		snprintf(text, length, "line %u (in %.60s, %.80s:%u)", spot->line, function, site->file, site->line);
}

#define NO_BARRIER                                                                                                   \
	"no barrier stands between them in this loop. If they are of different iterations, a %s is missing at "      \
	"the end of its body. If they are of the same iteration, it is missing between these two accesses%s"
static const char read_first[] = " (read into a variable, wait, then write)";

/* Of one line the text does not tell the order, only what a warp has done. */
static void advise_in_one_line(struct finding *f, const char *barrier, bool has_barrier, char *text, size_t length)
{
	const bool is_error = f->severity != FINDING_WARNING, either = is_error && f->passed && f->returned;
	const bool returned = is_error && f->returned && !f->passed;
	const struct party *first = returned ? &f->now : &f->before, *second = returned ? &f->before : &f->now;
	const bool reads_first = is_error && (f->passed || f->returned)
	                                 ? first->op == SIM_OP_LOAD && second->op != SIM_OP_LOAD
	                                 : (first->op == SIM_OP_LOAD) != (second->op == SIM_OP_LOAD);
	if (either && !has_barrier)
		snprintf(text, length, NO_BARRIER, barrier, reads_first ? read_first : "");
	else if (has_barrier)
		snprintf(
			text, length,
			"the barrier in this line does not stand between them: a %s is missing at the end of the "
			"loop's body, if one is of the next iteration, or between the two",
			barrier);
	else
		snprintf(
			text, length, "a %s is missing between these two accesses%s", barrier,
			reads_first ? ": read into a variable, wait, then write" : "");
}

/* Where a barrier belongs. Between the two, in the order in which a thread comes to them: if that is not the order of
 * the text, one of them is of a loop's next round. What shows it: a warp came from one to the other without a barrier;
 * or the last barrier, after which a thread comes first to what the text has below it. (Of lanes only the latter: they
 * are kept in order by what is no barrier of the block.) Where warps came both ways, nothing tells of which iteration
 * the two accesses are: a tree of sums needs the barrier at the end, a sum over neighbors both. */
static void advise_barrier(struct finding *f, const char *barrier, char *text, size_t length)
{
	struct spot now, before, here, barrier_spot;
	char last_name[240], next_name[240];
	const bool known = find_spots(f->paths, f->now.point, f->before.point, &now, &before);
	const bool same_line = known && now.line == before.line, calls = known && (now.is_call || before.is_call);
	if (!known || (same_line && calls)) {
		snprintf(text, length, "a %s is missing between these two accesses", barrier);
		return;
	}
	memcpy(f->gap.file, now.file, sizeof f->gap.file);
	if (same_line) {
		const bool has_barrier = find_spots(f->paths, f->now.point, f->parting, &here, &barrier_spot) &&
		                         here.line == barrier_spot.line;
		f->gap.from = f->gap.to = now.line;
		advise_in_one_line(f, barrier, has_barrier, text, length);
		return;
	}
	const bool down = before.line < now.line; /* the text has `before` first */
	const struct party *top = down ? &f->before : &f->now, *bottom = down ? &f->now : &f->before;
	bool follows = down ? f->passed : f->returned, wraps = down ? f->returned : f->passed;
	if (f->severity == FINDING_WARNING || (!follows && !wraps)) {
		wraps = is_below(f->paths, bottom->point, f->parting) && !is_below(f->paths, top->point, f->parting);
		follows = !wraps;
	}
	const bool either = follows && wraps;
	wraps &= !follows;
	f->gap.from = down != wraps ? before.line : now.line;
	f->gap.to = down != wraps ? now.line : before.line;
	name_spot(down ? &before : &now, top->point, next_name, sizeof next_name);
	name_spot(down ? &now : &before, bottom->point, last_name, sizeof last_name);
	if (either)
		snprintf(text, length, NO_BARRIER, barrier, "");
	else if (wraps)
		snprintf(
			text, length,
			"the access in %s is of the loop's next iteration: a %s is missing behind %s, at the end of "
			"the loop's body%s",
			next_name, barrier, last_name,
			f->severity != FINDING_WARNING ? ""
						       : ". Without a loop: what stands between them is not for "
							 "both lanes, by its mask or because one has left");
	else if (calls)
		snprintf(text, length, "a %s is missing between %s and %s", barrier, next_name, last_name);
	else
		snprintf(text, length, "a %s is missing between these two accesses", barrier);
}

void advise(struct finding *f, char *text, size_t length)
{
	static const char *const cures[] = {
		[CURE_FENCE_AFTER_LOOK] = "the flag or lock between them was read, but no fence (__threadfence()) "
					  "stands between that and the second access",
		[CURE_FENCE_AFTER_LOCK] = "the first thread took the lock without a __threadfence() after it: this "
					  "time it was first, the next time it need not be",
		[CURE_FENCE_BEFORE_UNLOCK] = "the second thread gives the lock back without a __threadfence() before "
					     "it: this time it was last, the next time it need not be",
		[CURE_ATOMICS] = "several threads read, change and write the same element: each needs an element of "
				 "its own, or atomics",
	};
	if (f->cure != CURE_UNKNOWN)
		snprintf(text, length, "%s", cures[f->cure]);
	else if (f->between_blocks)
		snprintf(
			text, length,
			"blocks run in any order and at the same time: use atomics, or another kernel for the second "
			"step; a flag or a counter orders them with a __threadfence() before it and one after it, "
			"and a "
			"__syncthreads() where another thread of the block sets or reads it");
	else if (f->now.site == f->before.site)
		snprintf(
			text, length,
			"threads use the same element in the same place: each needs an element of its own, or "
			"atomics");
	else
		advise_barrier(f, f->severity == FINDING_WARNING ? "__syncwarp()" : "__syncthreads()", text, length);
}
