#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "check/findings.h"

enum {
	MOST_FINDINGS = 4096, /* distinct ones a worker keeps */
	PRINTED = 4,          /* of each kind; the rest is counted, and written to SIM_REPORT */
};

static const char *const kind_names[FINDING_KINDS] = {
	"uninitialized", "RAW", "WAR", "WAW", "lost_copy", "exited_threads", "exited_lane", "outside_lane"};
static const char *const severity_names[] = {"error", "warning", "info"};

static bool is_same(const struct finding *a, const struct finding *b)
{
	return a->kind == b->kind && a->severity == b->severity && a->now.site == b->now.site &&
	       a->before.site == b->before.site && a->object == b->object && a->space == b->space &&
	       a->between_blocks == b->between_blocks && a->cure == b->cure && a->copy == b->copy;
}

static bool is_earlier(const struct finding *a, const struct finding *b)
{
	return a->now.block_order != b->now.block_order ? a->now.block_order < b->now.block_order
	                                                : a->sequence < b->sequence;
}

static bool is_race(const struct finding *finding)
{
	return finding->kind == FINDING_READ_AFTER_WRITE || finding->kind == FINDING_WRITE_AFTER_READ ||
	       finding->kind == FINDING_WRITE_AFTER_WRITE;
}

static enum sim_tool tool_of(const struct finding *finding)
{
	return is_race(finding) || finding->kind == FINDING_LOST_COPY ? SIM_RACECHECK
	       : finding->kind == FINDING_UNINITIALISED               ? SIM_INITCHECK
	                                                              : SIM_SYNCCHECK;
}

/* The same finding again: its bytes are added, the earlier example stays. */
static void merge(struct finding *into, const struct finding *from)
{
	const uint64_t count = into->count + from->count;
	const bool passed = into->passed || from->passed, returned = into->returned || from->returned;
	if (is_earlier(from, into))
		*into = *from;
	into->count = count;
	into->passed = passed;
	into->returned = returned;
}

static void name_array(struct finding *finding)
{
	const struct sim_shared *array;
	const struct sim_allocation *allocation;
	uintptr_t first = 0;
	if (finding->space != SIM_SHARED) {
		allocation = sim_memory_find(finding->address);
		finding->object = allocation;
		first = allocation ? allocation->first : 0;
		snprintf(finding->array, sizeof finding->array, "%s", allocation ? allocation->name : "");
	} else if (finding->address - (uintptr_t)sim_dynamic_shared < DYNAMIC_SHARED_MAX) {
		first = (uintptr_t)sim_dynamic_shared;
		snprintf(finding->array, sizeof finding->array, "dynamic shared memory");
	} else if ((array = sim_shared_holding(finding->address))) {
		finding->object = array;
		first = sim_shared_address(array);
		snprintf(finding->array, sizeof finding->array, "%s", array->name);
	}
	finding->has_offset = first != 0;
	finding->offset = finding->address - first;
}

void findings_open_block(struct findings *findings, uint3 block, uint64_t order)
{
	findings->block = block;
	findings->block_order = order;
	findings->sequence = 0;
	findings->barrier = (struct point){0, 0};
	memset(findings->met, 0, sizeof findings->met);
}

void findings_pass(struct findings *findings, uint32_t warp, uint32_t site, uint64_t path)
{
	const struct point point = {site, (uint32_t)(path >> KEY_PATH_SHIFT) + 1};
	if (warp < MAX_WARPS) {
		findings->met[warp] = point;
		return;
	}
	findings->barrier = point;
	for (uint32_t w = 0; w < MAX_WARPS; w++)
		findings->met[w] = point;
}

struct point findings_point(const struct findings *findings, uint32_t warp, uint32_t site)
{
	return (struct point){site, findings->calls[warp * (size_t)site_count() + site]};
}

static struct point point_of(const struct findings *findings, const struct party *party)
{
	return findings_point(findings, party->thread / WARP_SIZE, party->site);
}

/* How the two sides and the last barrier lie to each other: for advice.c. */
static void note_points(const struct findings *findings, struct finding *found)
{
	found->paths = findings->paths;
	found->now.point = point_of(findings, &found->now);
	found->before.point = point_of(findings, &found->before);
	found->parting =
		found->severity == FINDING_WARNING ? findings->met[found->now.thread / WARP_SIZE] : findings->barrier;
}

void findings_add(struct findings *findings, const struct finding *finding)
{
	struct finding found = *finding;
	if (found.address != 0)
		name_array(&found);
	found.block = findings->block;
	found.now.block_order = findings->block_order;
	found.sequence = findings->sequence++;
	if (is_race(&found) && !found.between_blocks)
		note_points(findings, &found);
	for (size_t i = findings->count; i-- > 0;) /* the last one found is the likeliest */
		if (is_same(&findings->list[i], &found)) {
			merge(&findings->list[i], &found);
			return;
		}
	if (findings->count == MOST_FINDINGS) {
		findings->is_full = true;
		return;
	}
	need_room(&findings->list, &findings->capacity, findings->count + 1, sizeof *findings->list);
	findings->list[findings->count++] = found;
}

bool findings_of_copy(const struct findings *findings, uint32_t site)
{
	for (size_t i = 0; i < findings->count; i++)
		if (is_race(&findings->list[i]) && findings->list[i].copy != COPY_NONE &&
		    findings->list[i].before.site == site)
			return true;
	return false;
}

/* ---- the report ---- */

static const char *verb(enum sim_op op)
{
	return op == SIM_OP_LOAD ? "Read" : op == SIM_OP_STORE ? "Write" : "Atomic";
}

/* As C names it: `t[0][1]`, `v[0].y`, `p[3], byte 8 of it`. */
static void name_element(const struct finding *f, const struct sim_shape *shape, char *text, size_t length)
{
	size_t used = (size_t)snprintf(text, length, "%s", f->array), number = f->offset / shape->element;
	const size_t byte = f->offset % shape->element;
	size_t inner = 1; /* elements of what an index counts */
	for (uint32_t i = 1; i < shape->count; i++)
		inner *= shape->dimensions[i];
	for (uint32_t i = 0; i < shape->count && used < length; i++) {
		used += (size_t)snprintf(text + used, length - used, "[%zu]", number / inner);
		number %= inner;
		inner /= i + 1 < shape->count ? shape->dimensions[i + 1] : 1;
	}
	if (used >= length)
		return;
	if (shape->part != 0 && shape->part != shape->element)
		snprintf(text + used, length - used, ".%c", "xyzw"[byte / shape->part % 4]);
	else if (shape->part == 0 && byte != 0)
		snprintf(text + used, length - used, ", byte %zu of it", byte);
	else if (shape->count == 1)
		snprintf(text + used, length - used, " (counted in elements of %u bytes)", shape->element);
}

static void describe_element(const struct finding *f, char *text, size_t length)
{
	const struct sim_shape *shape = NULL;
	if (f->object)
		shape = f->space == SIM_SHARED ? ((const struct sim_shared *)f->object)->shape
		                               : ((const struct sim_allocation *)f->object)->shape;
	if (!f->has_offset)
		snprintf(text, length, "__%s__ address 0x%zx", space_name(f->space), (size_t)f->address);
	else if (f->space == SIM_SHARED && !f->object)
		snprintf(text, length, "dynamic shared memory at byte %zu", f->offset);
	else if (shape)
		name_element(f, shape, text, length);
	else
		snprintf(
			text, length, "%s[%zu] (counted in elements of %u bytes)", f->array, f->offset / f->bytes,
			f->bytes);
}

static void describe_uninitialised(const struct finding *f, struct hazard *hazard)
{
	char element[160];
	describe_element(f, element, sizeof element);
	snprintf(
		hazard->headline, sizeof hazard->headline, "Uninitialized __%s__ memory read of size %u bytes",
		space_name(f->space), f->bytes);
	snprintf(hazard->detail[0], sizeof hazard->detail[0], "%s: it was never written", element);
	snprintf(
		hazard->detail[1], sizeof hazard->detail[1],
		"%llu bytes in all are read here before they are written", (unsigned long long)f->count);
	snprintf(
		hazard->advice, sizeof hazard->advice, "%s",
		f->space == SIM_SHARED
			? "shared memory is undefined when a block starts: write it first, and put a barrier between"
			: "a store, a cudaMemcpy or a cudaMemset is missing, or covers too little");
}

static void advise_copy(const struct finding *f, const char *file, char *text, size_t length)
{
	const struct sim_site *wait = site_at(f->waited_at);
	char line[180];
	if (wait && strcmp(wait->file, file) != 0)
		snprintf(line, sizeof line, "at %.150s:%u", wait->file, wait->line);
	else
		snprintf(line, sizeof line, "in line %u", wait ? wait->line : 0);
	if (f->copy == COPY_BEHIND_WAIT && f->now.thread == f->before.thread)
		snprintf(
			text, length,
			"this copy was begun behind the wait %s, its thread's last: another one is missing", line);
	else if (f->copy == COPY_BEHIND_WAIT)
		snprintf(
			text, length,
			"this copy was begun behind the wait %s, its thread's last: a __syncthreads() is missing "
			"between the access and the copy, if that is to come later, or another wait",
			line);
	else if (f->copy == COPY_NEVER_AWAITED)
		snprintf(
			text, length,
			"its thread has not waited for it: cp.async.wait_group, or "
			"__pipeline_wait_prior(), is missing between the two");
	else if (f->copy == COPY_IN_NO_GROUP)
		snprintf(
			text, length,
			"the wait %s is for groups, and this copy is in none yet: cp.async.commit_group, or "
			"__pipeline_commit(), is missing behind it",
			line);
	else
		snprintf(
			text, length,
			"the wait %s leaves the last %u group%s under way, and this copy is in one of them", line,
			f->waited_for_all_but, f->waited_for_all_but == 1 ? "" : "s");
}

static void describe_race(const struct request *request, struct finding *f, struct hazard *hazard)
{
	const struct sim_site *before = site_at(f->before.site);
	char element[160];
	uint3 first = thread_index(request, f->before.thread), second = hazard->thread;
	describe_element(f, element, sizeof element);
	if (f->severity == FINDING_WARNING)
		snprintf(
			hazard->headline, sizeof hazard->headline,
			"(Warp Level Programming) Potential %s hazard detected at __%s__ in block (%u,%u,%u)",
			kind_names[f->kind], space_name(f->space), hazard->block.x, hazard->block.y, hazard->block.z);
	else
		snprintf(
			hazard->headline, sizeof hazard->headline,
			"Error: Race reported between %s access at %s:%u and %s access at %s:%u",
			f->copy != COPY_NONE ? "asynchronous Write" : verb(f->before.op), before ? before->file : "?",
			before ? before->line : 0, verb(f->now.op), hazard->file, hazard->line);
	snprintf(
		hazard->detail[0], sizeof hazard->detail[0], "%s access after %s access, %s [%llu hazards]",
		verb(f->now.op), verb(f->before.op), kind_names[f->kind], (unsigned long long)f->count);
	snprintf(hazard->detail[1], sizeof hazard->detail[1], "on %s", element);
	if (f->now.thread == f->before.thread && !f->between_blocks) /* which meets its own copy */
		snprintf(hazard->detail[2], sizeof hazard->detail[2], "both of this thread");
	else
		snprintf(
			hazard->detail[2], sizeof hazard->detail[2],
			f->between_blocks ? "first thread (%u,%u,%u) of another block, then thread (%u,%u,%u)"
					  : "first thread (%u,%u,%u), then thread (%u,%u,%u)",
			first.x, first.y, first.z, second.x, second.y, second.z);
	if (f->copy != COPY_NONE)
		advise_copy(f, hazard->file, hazard->advice, sizeof hazard->advice);
	else
		advise(f, hazard->advice, sizeof hazard->advice);
	hazard_set_other(hazard, first, before, op_name(f->before.op));
	hazard->passed_other = f->passed;
}

static void describe_lost_copy(const struct request *request, const struct finding *f, struct hazard *hazard)
{
	char element[160];
	(void)request;
	describe_element(f, element, sizeof element);
	snprintf(
		hazard->headline, sizeof hazard->headline,
		"An asynchronous copy was still under way when its thread ended");
	snprintf(hazard->detail[0], sizeof hazard->detail[0], "to %s", element);
	advise_copy(f, hazard->file, hazard->advice, sizeof hazard->advice);
}

static struct hazard to_hazard(const struct request *request, struct finding *f)
{
	const struct actor actor = {request, f->block, thread_index(request, f->now.thread)};
	struct hazard hazard = hazard_of(&actor, site_at(f->now.site), tool_of(f), kind_names[f->kind], cudaSuccess);
	hazard.severity = severity_names[f->severity];
	hazard.space = tool_of(f) == SIM_SYNCCHECK ? NULL : space_name(f->space);
	hazard.index = f->has_offset ? (int64_t)(f->offset / f->bytes) : INT64_MIN;
	hazard.bytes = f->bytes;
	hazard.count = f->count;
	snprintf(hazard.array, sizeof hazard.array, "%s", f->array);
	if (f->kind == FINDING_UNINITIALISED)
		describe_uninitialised(f, &hazard);
	else if (is_race(f))
		describe_race(request, f, &hazard);
	else if (f->kind == FINDING_LOST_COPY)
		describe_lost_copy(request, f, &hazard);
	else
		describe_sync_finding(request, f, &hazard);
	return hazard;
}

/* What hides others first: a race of a block before one of a warp, and a read of what is not written yet, which may be
 * the consequence of either, last. Then in the order of blocks. */
static int rank(const struct finding *finding)
{
	return finding->kind == FINDING_UNINITIALISED ? 2 : finding->severity == FINDING_WARNING;
}

static int compare_findings(const void *a, const void *b)
{
	const int first = rank(a), second = rank(b);
	if (first != second)
		return first - second;
	return is_earlier(a, b) ? -1 : is_earlier(b, a);
}

/* All workers' findings, equal ones merged, in the order of blocks. */
static struct finding *gather(struct findings *const *workers, int count, size_t *found, bool *is_full)
{
	size_t total = 0;
	*is_full = false;
	for (int w = 0; w < count; w++) {
		total += workers[w]->count;
		*is_full |= workers[w]->is_full;
		workers[w]->is_full = false;
	}
	*found = 0;
	if (total == 0)
		return NULL;
	struct finding *all = need(malloc(total * sizeof *all));
	for (int w = 0; w < count; w++) {
		for (size_t i = 0; i < workers[w]->count; i++) {
			const struct finding *finding = &workers[w]->list[i];
			size_t at = 0;
			while (at < *found && !is_same(&all[at], finding))
				at++;
			if (at < *found)
				merge(&all[at], finding);
			else
				all[(*found)++] = *finding;
		}
		workers[w]->count = 0;
	}
	qsort(all, *found, sizeof *all, compare_findings);
	return all;
}

/* A plain read beside an atomic that belongs to a compare-and-swap loop or the like: see racecheck.c. A shuffle that
 * reads past the lanes that take part, but not always: see synccheck.c. */
static bool is_explained(const struct finding *finding)
{
	if (finding->kind == FINDING_OUTSIDE_LANE)
		return sim_site_notes[finding->now.site] == SITE_DELIVERS;

	const uint32_t read = finding->now.op == SIM_OP_LOAD ? finding->now.site : finding->before.site;

	return finding->read_beside_atomic && sim_site_notes[read] == SITE_READS_BEFORE_ATOMIC;
}

/* Are both sides of a race one change, on one line, or a read and further down a write? `write`: what of it writes. */
static bool is_of_one_change(const struct finding *finding, uint32_t *write)
{
	if (!is_race(finding))
		return false;
	const struct sim_site *now = site_at(finding->now.site), *before = site_at(finding->before.site);
	const struct party *writes = finding->now.op != SIM_OP_LOAD ? &finding->now : &finding->before;
	const struct party *other = writes == &finding->now ? &finding->before : &finding->now;
	*write = writes->site;
	return (other->op == SIM_OP_LOAD && !finding->between_blocks &&
	        is_below(finding->paths, writes->point, other->point)) ||
	       (now && before && now->line == before->line && strcmp(now->file, before->file) == 0);
}

/* `t[b]++`, `if (x > most) most = x`: the writes race with each other, whatever they write, and with the reads that belong
 * to them. */
static bool is_changed_by_several(const struct finding *finding, const struct finding *all, size_t count)
{
	bool writes_race = false, read_races = false;
	uint32_t write, other_write;
	if (!is_of_one_change(finding, &write))
		return false;
	for (size_t i = 0; i < count; i++)
		if (all[i].object == finding->object && is_of_one_change(&all[i], &other_write) &&
		    other_write == write) {
			writes_race |= all[i].now.site == all[i].before.site;
			read_races |= all[i].kind != FINDING_WRITE_AFTER_WRITE;
		}
	return writes_race && read_races;
}

/* What is read too early may not be written yet: whether it was is a question of order, and the race says it all. Not where
 * each thread reads before it writes: the first one reads what nobody has written. */
static bool is_read_too_early(const struct finding *finding, const struct finding *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (all[i].object == finding->object && all[i].space == finding->space &&
		    all[i].severity != FINDING_INFO && !is_explained(&all[i]) &&
		    !is_changed_by_several(&all[i], all, count) &&
		    ((all[i].kind == FINDING_READ_AFTER_WRITE && all[i].now.site == finding->now.site) ||
		     (all[i].kind == FINDING_WRITE_AFTER_READ && all[i].before.site == finding->now.site)))
			return true;
	return false;
}

/* A barrier that is missing between warps is missing inside them too, and a lane that is read although it has left is
 * one that does not take part: the error says it all. */
static bool is_implied(const struct finding *finding, const struct finding *all, size_t count)
{
	if (finding->kind == FINDING_UNINITIALISED)
		return is_read_too_early(finding, all, count);
	if (finding->severity != FINDING_WARNING)
		return false;
	for (size_t i = 0; i < count; i++)
		if (all[i].severity == FINDING_ERROR && tool_of(&all[i]) == tool_of(finding) &&
		    all[i].now.site == finding->now.site && all[i].before.site == finding->before.site &&
		    all[i].object == finding->object)
			return true;
	return false;
}

/* A warning where the barrier that an error needs would cure both. The errors come first, and have their gaps. */
static bool is_cured_with_another(const struct finding *finding, const struct finding *all, size_t count)
{
	for (size_t i = 0; i < count && finding->severity == FINDING_WARNING && finding->gap.from != 0; i++)
		if (all[i].severity == FINDING_ERROR && all[i].gap.from == finding->gap.from &&
		    all[i].gap.to == finding->gap.to && strcmp(all[i].gap.file, finding->gap.file) == 0)
			return true;
	return false;
}

void findings_report(
	const struct request *request, struct findings *const *workers, int count, uint64_t hazards[SIM_TOOLS])
{
	size_t found, places[FINDING_KINDS][3] = {{0}};
	bool is_full;
	struct finding *all = gather(workers, count, &found, &is_full);
	for (size_t i = 0; i < found; i++) {
		size_t *known = &places[all[i].kind][all[i].severity];
		if (is_explained(&all[i]) || is_implied(&all[i], all, found))
			continue;
		if (all[i].cure == CURE_UNKNOWN && !all[i].between_blocks &&
		    is_changed_by_several(&all[i], all, found))
			all[i].cure = CURE_ATOMICS;
		struct hazard hazard = to_hazard(request, &all[i]);
		hazard.silent = all[i].severity == FINDING_INFO || *known >= PRINTED ||
		                is_cured_with_another(&all[i], all, found);
		*known += report_hazard(&hazard);
		if (all[i].severity != FINDING_INFO)
			hazards[hazard.tool]++;
	}
	for (int kind = 0; kind < FINDING_KINDS; kind++)
		for (int severity = FINDING_ERROR; severity < FINDING_INFO; severity++)
			if (places[kind][severity] > PRINTED)
				fprintf(stderr, "========= ... and %zu more places of this kind (%s) in %s\n",
				        places[kind][severity] - PRINTED, kind_names[kind],
				        request->function ? request->function->name : request->name);
	if (is_full)
		fprintf(stderr,
		        "========= Note: kernel %s has more than %d hazards of different places and arrays: some are "
		        "left out\n",
		        request->function ? request->function->name : request->name, MOST_FINDINGS);
	free(all);
}
