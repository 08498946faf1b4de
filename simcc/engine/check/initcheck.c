/*
 * initcheck: reads of bytes nobody has written, in global memory since cudaMalloc, in shared memory since the block
 * started. One byte of shadow for each byte. hooks.c looks before each load and marks at each store; this is what
 * happens when a load finds a byte unmarked.
 */
#include "check/findings.h"

/* In the copy of a struct: each unit of its alignment begins with something written, so the rest may be padding. */
static bool is_padding(const uint8_t *written, size_t size)
{
	const size_t unit = size < 8 ? size : 8;
	for (size_t i = 0; i < size; i += unit)
		if (!written[i])
			return false;
	return true;
}

void initcheck_read(
	struct findings *findings, uint32_t thread, uintptr_t address, size_t size, enum sim_space space,
	const uint8_t *written, bool in_copy, uint32_t site)
{
	if (in_copy && is_padding(written, size))
		return;
	struct finding finding = {
		.kind = FINDING_UNINITIALISED,
		.severity = FINDING_ERROR,
		.space = space,
		.now = {.site = site, .op = SIM_OP_LOAD, .thread = thread},
		.address = address,
		.bytes = (unsigned)size,
	};
	for (size_t i = 0; i < size; i++)
		finding.count += !written[i];
	findings_add(findings, &finding);
}
