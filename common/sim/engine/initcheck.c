/*
 * initcheck: reads of bytes nobody has written, in global memory since cudaMalloc, in shared memory since the block
 * started. One byte of shadow for each byte. hooks.c looks before each load and marks at each store; this is what
 * happens when a load finds a byte unmarked.
 */
#include "run.h"

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

	for (size_t i = 0; i < size; i++)
		finding.count += !written[i];
	finding.address = address;
	findings_add(lane->worker, &finding);
}
