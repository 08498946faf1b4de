/*
 * memcheck: the accesses that hooks.c does not recognise as good ones. Few are good after all (a __device__
 * variable, a constant the compiler keeps in the program's read-only data); the others are stopped here, before
 * they happen, and end the launch with the error a GPU would give.
 */
#include <inttypes.h>
#include <link.h>
#include <stdio.h>
#include <string.h>

#include "run.h"

static __attribute__((noreturn)) void stop(struct lane *lane, struct hazard *hazard, enum sim_space space,
                                           size_t size, enum sim_op op, cudaError_t error)
{
	hazard->space = space_name(space);
	hazard->bytes = (unsigned)size;
	snprintf(hazard->headline, sizeof hazard->headline, "Invalid __%s__ %s of size %zu bytes", space_name(space),
	         op_name(op), size);
	fail_launch(lane->worker, hazard, error);
}

static void describe_allocation(char *text, size_t length, const struct sim_allocation *a, uintptr_t address,
                                size_t distance, bool before)
{
	if (distance == 0 && !before && address >= a->first && address < a->first + a->size)
		snprintf(text, length, "and its last bytes lie past the end of '%s' at %p of size %zu bytes", a->name,
		         (void *)a->first, a->size);
	else
		snprintf(text, length, "and is %zu bytes %s the nearest allocation '%s' at %p of size %zu bytes",
		         before ? distance : distance + 1, before ? "before" : "after", a->name, (void *)a->first,
		         a->size);
}

static __attribute__((noreturn)) void stop_global(struct lane *lane, uintptr_t address, size_t size, enum sim_op op,
                                                  const void *site)
{
	struct sim_allocation *at = sim_memory_find(address);
	struct hazard hazard = hazard_at(lane, site, SIM_MEMCHECK, "out_of_bounds");
	size_t distance = 0;
	bool before = false;

	if (at != NULL && at->freed) {
		hazard.kind = "use_after_free";
		snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address 0x%" PRIxPTR " is in freed memory",
		         address);
		snprintf(hazard.detail[1], sizeof hazard.detail[1],
		         "and was part of '%s' of size %zu bytes, freed before", at->name, at->size);
	} else if (at != NULL && (address & (size - 1)) != 0) { /* a GPU looks at this first */
		hazard.kind = "misaligned";
		snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address 0x%" PRIxPTR " is misaligned", address);
		snprintf(hazard.detail[1], sizeof hazard.detail[1], "for an access of %zu bytes: %zu bytes into '%s'",
		         size, (size_t)(address - at->first), at->name);
	} else {
		snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address 0x%" PRIxPTR " is out of bounds",
		         address);
		if (at == NULL)
			at = sim_memory_nearest(address, &distance, &before);
		if (at != NULL)
			describe_allocation(hazard.detail[1], sizeof hazard.detail[1], at, address, distance, before);
	}
	if (at != NULL) {
		snprintf(hazard.array, sizeof hazard.array, "%s", at->name);
		hazard.index = (int64_t)(address - at->first) / (int64_t)size;
		if (address < at->first)
			hazard.index = -(int64_t)((at->first - address + size - 1) / size);
	}
	stop(lane, &hazard, SIM_GLOBAL, size, op,
	     strcmp(hazard.kind, "misaligned") == 0 ? cudaErrorMisalignedAddress : cudaErrorIllegalAddress);
}

static __attribute__((noreturn)) void stop_shared(struct lane *lane, uintptr_t address, size_t size, enum sim_op op,
                                                  const void *site)
{
	struct hazard hazard = hazard_at(lane, site, SIM_MEMCHECK, "out_of_bounds");
	const struct sim_shared *array = sim_shared_holding(address);
	const uintptr_t dynamic = (uintptr_t)sim_dynamic_shared;
	const size_t dynamic_bytes = lane->worker->launch->dynamic_shared_bytes;
	const bool in_dynamic = address - dynamic < DYNAMIC_SHARED_MAX;
	const uintptr_t first = in_dynamic ? dynamic : array ? sim_shared_address(array) : 0;
	const size_t bytes = in_dynamic ? dynamic_bytes : array ? array->size : 0;

	if (first != 0 && address - first < bytes && (address & (size - 1)) != 0) {
		hazard.kind = "misaligned";
		snprintf(hazard.detail[0], sizeof hazard.detail[0],
		         "Address 0x%zx is misaligned for an access of %zu bytes", (size_t)(address - first), size);
	} else if (in_dynamic) {
		snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address 0x%zx is out of bounds",
		         (size_t)(address - first));
		snprintf(hazard.detail[1], sizeof hazard.detail[1],
		         "the launch asked for %zu bytes of dynamic shared memory", dynamic_bytes);
	} else {
		snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address is out of bounds");
		if (array != NULL && address < first)
			snprintf(hazard.detail[1], sizeof hazard.detail[1],
			         "and is %zu bytes before '%s' of size %zu bytes", (size_t)(first - address),
			         array->name, array->size);
		else if (array != NULL)
			snprintf(hazard.detail[1], sizeof hazard.detail[1],
			         "and is %zu bytes after the start of '%s' of size %zu bytes",
			         (size_t)(address - first), array->name, array->size);
	}
	if (first != 0) {
		snprintf(hazard.array, sizeof hazard.array, "%s", in_dynamic ? "dynamic shared memory" : array->name);
		hazard.index = (int64_t)(address - first) / (int64_t)size;
	}
	stop(lane, &hazard, SIM_SHARED, size, op,
	     strcmp(hazard.kind, "misaligned") == 0 ? cudaErrorMisalignedAddress : cudaErrorIllegalAddress);
}

/* Is the address in a part of the program that cannot be written: constants the compiler keeps there, or tables of
 * virtual functions, which are written once, when the program is loaded? */
static int holds_read_only(struct dl_phdr_info *info, size_t size, void *address)
{
	(void)size;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];

		if (((part->p_type == PT_LOAD && !(part->p_flags & PF_W)) || part->p_type == PT_GNU_RELRO) &&
		    (uintptr_t)address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz)
			return 1;
	}
	return 0;
}

static bool is_mapped(uintptr_t address)
{
	FILE *maps = fopen("/proc/self/maps", "r");
	char line[512];
	uintptr_t first, end;
	bool found = false;

	while (maps != NULL && !found && fgets(line, sizeof line, maps) != NULL)
		found = sscanf(line, "%" SCNxPTR "-%" SCNxPTR, &first, &end) == 2 && address >= first &&
		        address < end;
	if (maps != NULL)
		fclose(maps);
	return found;
}

static __attribute__((noreturn)) void stop_elsewhere(struct lane *lane, uintptr_t address, size_t size,
                                                     enum sim_op op, const void *site)
{
	struct hazard hazard = hazard_at(lane, site, SIM_MEMCHECK, "out_of_bounds");
	const size_t stacks = (size_t)MAX_THREADS * STACK_BYTES;

	snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address 0x%" PRIxPTR " is out of bounds", address);
	if (address < 65536) {
		hazard.kind = "null";
		snprintf(hazard.detail[0], sizeof hazard.detail[0], "Address 0x%" PRIxPTR " is a null pointer%s",
		         address, address == 0 ? "" : ", or an index from one");
	} else if (address - (uintptr_t)lane->worker->stacks < stacks) {
		snprintf(hazard.detail[1], sizeof hazard.detail[1], "it points to another thread's local variables");
	} else if (is_mapped(address)) {
		hazard.kind = "host_pointer";
		snprintf(hazard.detail[1], sizeof hazard.detail[1],
		         "it is a host pointer: device code needs memory from cudaMalloc");
	}
	stop(lane, &hazard, SIM_GLOBAL, size, op, cudaErrorIllegalAddress);
}

static bool reaches_a_frame(const struct lane *lane, uintptr_t address, size_t size)
{
	for (const struct frame *frame = lane->frame; frame > lane->frames; frame--)
		if (address < frame->address + FRAME_BYTES && address + size > frame->address)
			return true;
	return false;
}

/* A local array was overrun, or a pointer to a local variable has outlived it. */
static __attribute__((noreturn)) void stop_local(struct lane *lane, uintptr_t address, size_t size, enum sim_op op,
                                                 const void *site)
{
	struct hazard hazard = hazard_at(lane, site, SIM_MEMCHECK, "local_overrun");

	if (reaches_a_frame(lane, address, size)) {
		snprintf(hazard.detail[0], sizeof hazard.detail[0],
		         "a local array was overrun: a running function needs what is there to return");
	} else if (address > lane->frames[1].address) {
		snprintf(hazard.detail[0], sizeof hazard.detail[0],
		         "a local array was overrun: the thread's own variables end at its kernel's frame");
	} else {
		hazard.kind = "out_of_bounds";
		snprintf(hazard.detail[0], sizeof hazard.detail[0],
		         "the local variable that was there belonged to a function that has returned");
	}
	stop(lane, &hazard, SIM_LOCAL, size, op, cudaErrorIllegalAddress);
}

static enum sim_space classify_variable(struct lane *lane, const struct sim_allocation *variable, uintptr_t address,
                                        size_t size, enum sim_op op, const void *site)
{
	if (variable->first + variable->size - address < size || (address & (size - 1)) != 0)
		stop_global(lane, address, size, op, site);
	if (variable->is_constant && op != SIM_OP_LOAD) {
		struct hazard hazard = hazard_at(lane, site, SIM_MEMCHECK, "constant_write");

		snprintf(hazard.detail[0], sizeof hazard.detail[0], "'%s' is __constant__: kernels may only read it",
		         variable->name);
		stop(lane, &hazard, SIM_CONSTANT, size, op, cudaErrorIllegalAddress);
	}
	return variable->is_constant ? SIM_CONSTANT : SIM_GLOBAL;
}

/* The last, partly used 4 bytes of an array: good if the access ends inside it. */
static bool is_in_ragged_end(const struct lane *lane, uintptr_t address, size_t size)
{
	const struct sim_shared *array = sim_shared_holding(address);
	const uintptr_t dynamic = (uintptr_t)sim_dynamic_shared;
	const size_t dynamic_bytes = lane->worker->launch->dynamic_shared_bytes;

	if ((address & (size - 1)) != 0)
		return false;
	if (address - dynamic < dynamic_bytes)
		return dynamic_bytes - (address - dynamic) >= size;
	return array != NULL && address - sim_shared_address(array) < array->size &&
	       array->size - (address - sim_shared_address(array)) >= size;
}

enum sim_space classify_access(struct lane *lane, uintptr_t address, size_t size, enum sim_op op, const void *site)
{
	struct sim_allocation *variable, *near;
	size_t distance;
	bool before;

	if (!lane->entered)
		return SIM_LOCAL; /* the thunk copies the kernel's arguments */
	if (address - sim_arena_first < sim_arena_span)
		stop_global(lane, address, size, op, site);
	if (address - lane->stack_first < STACK_BYTES)
		stop_local(lane, address, size, op, site);
	if (address - lane->shared_first < lane->shared_span) {
		if (!is_in_ragged_end(lane, address, size))
			stop_shared(lane, address, size, op, site);
		return SIM_SHARED;
	}
	if ((variable = sim_memory_find(address)) != NULL)
		return classify_variable(lane, variable, address, size, op, site);
	near = sim_memory_nearest(address, &distance, &before);
	if (near != NULL && near->is_variable && distance < SIM_REDZONE)
		stop_global(lane, address, size, op, site);
	if (op == SIM_OP_LOAD && dl_iterate_phdr(holds_read_only, (void *)address))
		return SIM_LOCAL;
	stop_elsewhere(lane, address, size, op, site);
}

void report_overrun(struct lane *lane, uintptr_t instruction)
{
	struct worker *worker = lane->worker;
	struct hazard hazard = hazard_at(lane, NULL, SIM_MEMCHECK, "local_overrun");

	snprintf(hazard.headline, sizeof hazard.headline, "A local array was overrun");
	snprintf(hazard.detail[0], sizeof hazard.detail[0],
	         "the address that the function returns to was overwritten; seen at the function's end");
	snprintf(hazard.advice, sizeof hazard.advice,
	         "an index lies past the end, or before the start, of an array of this function or of one it called");
	hazard.space = "local";
	sim_lane = NULL;
	hazard_locate_instruction(&hazard, instruction - 1);
	fail_launch(worker, &hazard, cudaErrorIllegalAddress);
}

void report_stack_overflow(struct lane *lane, const struct sim_function *function, uintptr_t caller)
{
	struct worker *worker = lane->worker;
	struct hazard hazard = hazard_at(lane, NULL, SIM_MEMCHECK, "stack_overflow");

	snprintf(hazard.headline, sizeof hazard.headline, "Stack overflow");
	snprintf(hazard.detail[0], sizeof hazard.detail[0],
	         "the calls of this thread need more than %d KB of local memory",
	         (STACK_BYTES - STACK_RESERVE) / 1024);
	if (function != NULL)
		snprintf(hazard.detail[1], sizeof hazard.detail[1], "at the call of %.150s: an endless recursion?",
		         function->signature);
	hazard.space = "local";
	sim_lane = NULL;
	hazard_locate_instruction(&hazard, caller - 1); /* the call lies before the address it returns to */
	fail_launch(worker, &hazard, cudaErrorIllegalAddress);
}
