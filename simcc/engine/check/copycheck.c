/* racecheck of asynchronous copies: accesses of what they are under way to, and copies that nobody waits for. */
#include "check/findings.h"

static struct finding finding_of(const struct copy_told *copy, uintptr_t address, size_t bytes)
{
	return (struct finding){
		.severity = FINDING_ERROR,
		.space = SIM_SHARED,
		.before = {.site = copy->site, .op = SIM_OP_STORE, .thread = copy->thread},
		.address = address,
		.bytes = (unsigned)bytes,
		.count = bytes,
		.copy = copy->waited_at == NO_SITE ? COPY_NEVER_AWAITED
	                : copy->is_later           ? COPY_BEHIND_WAIT
	                : copy->in_no_group        ? COPY_IN_NO_GROUP
	                                           : COPY_AWAITED_TOO_LITTLE,
		.waited_at = copy->waited_at,
		.waited_for_all_but = copy->waited_for_all_but};
}

void copy_met(
	struct findings *findings, const struct copy_told *copy, uint32_t thread, uintptr_t address, size_t size,
	enum sim_op op, uint32_t site)
{
	struct finding found = finding_of(copy, address, size);
	found.kind = op == SIM_OP_LOAD ? FINDING_READ_AFTER_WRITE : FINDING_WRITE_AFTER_WRITE;
	found.now = (struct party){.site = site, .op = op, .thread = thread};
	findings_add(findings, &found);
}

void copy_lost(struct findings *findings, const struct copy_told *copy, uintptr_t address, size_t bytes)
{
	struct finding found = finding_of(copy, address, bytes);
	if (findings_of_copy(findings, copy->site))
		return; /* a race with it says it all */
	found.kind = FINDING_LOST_COPY;
	found.severity = FINDING_WARNING;
	found.now = found.before;
	findings_add(findings, &found);
}
