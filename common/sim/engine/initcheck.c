/*
 * initcheck: reads of bytes nobody has written, in global memory since cudaMalloc, in shared memory since the block
 * started. One byte of shadow for each byte. hooks.c looks before each load and marks at each store; this is what
 * happens when a load finds a byte unmarked.
 */
#include "run.h"

/* In the copy of a struct: each unit of its alignment begins with something written, so the rest may be padding. */
static bool is_padding(const uint8_t *written, size_t size)
{
	const size_t unit = size < 8 ? size : 8;

	for (size_t i = 0; i < size; i += unit)
		if (!written[i])
			return false;
	return true;
}

void report_uninitialised(struct lane *lane, uintptr_t address, size_t size, enum sim_space space, const void *site)
{
	const uint8_t *written =
		space == SIM_SHARED ? lane->shared_written + (address - lane->shared_first)
				    : sim_memory_find(address)->written + (address - sim_memory_find(address)->first);
	struct finding finding = {
		.kind = FINDING_UNINITIALISED,
		.severity = FINDING_ERROR,
		.space = space,
		.now = {.site = site_index(site),
	                .op = SIM_OP_LOAD,
	                .thread = (uint32_t)(lane - lane->worker->lanes)},
		.bytes = (unsigned)size,
	};

	if (lane->copies && is_padding(written, size))
		return;
	for (size_t i = 0; i < size; i++)
		finding.count += !written[i];
	finding.address = address;
	findings_add(lane->worker, &finding);
}
