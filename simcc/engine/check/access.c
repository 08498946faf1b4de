/*
 * memcheck: the accesses that hooks.c does not recognize as good ones. Few are good after all (a __device__ variable,
 * a constant the compiler keeps in the program's read-only data); the others do not happen, and end the launch with
 * the error a GPU would give.
 */
#include <inttypes.h>
#include <link.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

#include "check/check.h"

enum { STRAY = 1 << 20 }; /* an index that strays from an array lies within so many bytes of it */

/* ---- good or not ---- */

extern char etext[]; /* by the linker: where the program's code ends */

static bool is_in_part(const struct dl_phdr_info *info, const ElfW(Phdr) * part, uintptr_t address)
{
	return address - (info->dlpi_addr + part->p_vaddr) < part->p_memsz;
}

/* Is the address in a part of the program that cannot be written: constants the compiler keeps there, behind the code, or
 * tables of virtual functions, which are written once, when the program is loaded? Libraries have none of a kernel's. */
static int holds_read_only(struct dl_phdr_info *info, size_t size, void *pointer)
{
	(void)size;
	const uintptr_t address = (uintptr_t)pointer, code_end = (uintptr_t)etext;
	bool is_program = false, found = false;
	for (int i = 0; i < info->dlpi_phnum; i++) {
		const ElfW(Phdr) *part = &info->dlpi_phdr[i];
		const bool is_loaded = part->p_type == PT_LOAD;
		is_program |= is_loaded && is_in_part(info, part, code_end - 1);
		found |= ((is_loaded && !(part->p_flags & PF_W)) || part->p_type == PT_GNU_RELRO) &&
		         is_in_part(info, part, address);
	}
	return is_program && found && address >= code_end;
}

/* The last, partly used 4 bytes of an array: good if the access ends inside it. */
static bool is_in_ragged_end(const struct reach *reach, uintptr_t address, size_t size)
{
	if ((address & (size - 1)) != 0)
		return false;
	const uintptr_t dynamic = (uintptr_t)sim_dynamic_shared;
	if (address - dynamic < reach->dynamic_shared_bytes)
		return reach->dynamic_shared_bytes - (address - dynamic) >= size;
	const struct sim_shared *array = sim_shared_holding(address);
	if (reach->shared->map[(address - reach->shared->first) / 4] == 0 && array && shared_is_of_kernels(array))
		return false; /* another kernel's */
	return array && array->size - (address - sim_shared_address(array)) >= size;
}

/* An unsigned index below 0 wraps at 2^32 elements: the address that it would have been at otherwise. */
static uintptr_t unwrapped(uintptr_t address, size_t size)
{
	return address - ((uintptr_t)size << 32);
}

/* Beside shared memory lie only the stack of the pthread that runs the block, and nothing: no pointer of a user's. */
static bool is_own_stack(uintptr_t address)
{
	pthread_attr_t attributes;
	void *first = NULL;
	size_t size = 0;
	if (pthread_getattr_np(pthread_self(), &attributes) != 0)
		return false;
	pthread_attr_getstack(&attributes, &first, &size);
	pthread_attr_destroy(&attributes);
	return address - (uintptr_t)first < size;
}

/* Is it a stray index of a shared array? */
static bool is_beside_shared(const struct reach *reach, uintptr_t address)
{
	const uintptr_t first = reach->shared->first - STRAY, span = reach->shared->span + 2 * STRAY;
	return address - first < span && (is_own_stack(address) || !is_mapped(address, 1));
}

static enum verdict judge_variable(
	const struct sim_allocation *variable, uintptr_t address, size_t size, enum sim_op op)
{
	if (variable->first + variable->size - address < size || (address & (size - 1)) != 0)
		return WRONG_GLOBAL;
	if (!variable->is_constant)
		return GOOD_GLOBAL;
	return op == SIM_OP_LOAD ? GOOD_CONSTANT : WRONG_CONSTANT;
}

enum verdict judge_access(const struct reach *reach, uintptr_t address, size_t size, enum sim_op op)
{
	if (address - sim_arena_first < sim_arena_span)
		return !sim_memory_find(address) && is_beside_shared(reach, unwrapped(address, size)) ? WRONG_SHARED
		                                                                                      : WRONG_GLOBAL;
	if (address - reach->local->first < STACK_BYTES)
		return WRONG_LOCAL;
	if (address - reach->shared->first < reach->shared->span)
		return is_in_ragged_end(reach, address, size) ? GOOD_SHARED : WRONG_SHARED;
	const struct sim_allocation *variable = sim_memory_find(address);
	if (variable)
		return judge_variable(variable, address, size, op);
	size_t distance;
	bool before;
	const struct sim_allocation *near = sim_memory_nearest(address, &distance, &before);
	if (near && near->is_variable && distance < SIM_REDZONE)
		return WRONG_GLOBAL;
	if (op == SIM_OP_LOAD && dl_iterate_phdr(holds_read_only, (void *)address))
		return GOOD_LOCAL;
	return is_beside_shared(reach, address) || is_beside_shared(reach, unwrapped(address, size)) ? WRONG_SHARED
	                                                                                             : WRONG_ANYWHERE;
}

/* ---- what is wrong ---- */

static void describe_allocation(
	char *text, size_t length, const struct sim_allocation *a, uintptr_t address, size_t distance, bool before)
{
	if (distance == 0 && !before && address >= a->first && address < a->first + a->size)
		snprintf(
			text, length, "and its last bytes lie past the end of '%s' at %p of size %zu bytes", a->name,
			(void *)a->first, a->size);
	else
		snprintf(
			text, length, "and is %zu bytes %s the nearest allocation '%s' at %p of size %zu bytes",
			before ? distance : distance + 1, before ? "before" : "after", a->name, (void *)a->first,
			a->size);
}

static void set_misaligned(struct hazard *hazard)
{
	hazard->kind = "misaligned";
	hazard->error = cudaErrorMisalignedAddress;
}

static void describe_global(struct hazard *hazard, uintptr_t address, size_t size)
{
	struct sim_allocation *at = sim_memory_find(address);
	if (at && at->freed) {
		hazard->kind = "use_after_free";
		snprintf(
			hazard->detail[0], sizeof hazard->detail[0], "Address 0x%" PRIxPTR " is in freed memory",
			address);
		snprintf(
			hazard->detail[1], sizeof hazard->detail[1],
			"and was part of '%s' of size %zu bytes, freed before", at->name, at->size);
	} else if (at && (address & (size - 1)) != 0) { /* a GPU looks at this first */
		set_misaligned(hazard);
		snprintf(
			hazard->detail[0], sizeof hazard->detail[0], "Address 0x%" PRIxPTR " is misaligned", address);
		snprintf(
			hazard->detail[1], sizeof hazard->detail[1],
			"for an access of %zu bytes: %zu bytes into '%s'", size, (size_t)(address - at->first),
			at->name);
	} else {
		snprintf(
			hazard->detail[0], sizeof hazard->detail[0], "Address 0x%" PRIxPTR " is out of bounds",
			address);
		size_t distance = 0;
		bool before = false;
		if (!at) {
			at = sim_memory_nearest(unwrapped(address, size), &distance, &before);
			if (at && before && distance <= STRAY) {
				address = unwrapped(address, size);
				snprintf(
					hazard->detail[0], sizeof hazard->detail[0],
					"Address is out of bounds: an unsigned index below 0");
			} else {
				at = sim_memory_nearest(address, &distance, &before);
			}
		}
		if (at)
			describe_allocation(
				hazard->detail[1], sizeof hazard->detail[1], at, address, distance, before);
	}
	if (!at)
		return;
	snprintf(hazard->array, sizeof hazard->array, "%s", at->name);
	hazard->index = (int64_t)(address - at->first) / (int64_t)size;
	if (address < at->first)
		hazard->index = -(int64_t)((at->first - address + size - 1) / size);
}

/* The array that the address is in or, of those that the kernel may use, nearest to; NULL: dynamic shared memory is. */
static const struct sim_shared *shared_near(const struct reach *reach, uintptr_t address)
{
	const struct sim_shared *nearest = NULL, *holding = sim_shared_holding(address);
	const uintptr_t dynamic = (uintptr_t)sim_dynamic_shared, behind = dynamic + DYNAMIC_SHARED_MAX;
	uintptr_t least = UINTPTR_MAX;
	if (holding) /* another kernel's, too */
		return holding;
	if (reach->dynamic_shared_bytes != 0)
		least = address < dynamic ? dynamic - address : address < behind ? 0 : address - behind;
	for (size_t i = 0; i < sim_shared_count_all(); i++) {
		const struct sim_shared *array = sim_shared_at(i);
		const uintptr_t first = sim_shared_address(array), last = first + array->size - 1;
		const uintptr_t away = address < first ? first - address : address - last;
		if (reach->shared->map[(first - reach->shared->first) / 4] != 0 && away < least) {
			least = away;
			nearest = array;
		}
	}
	return nearest;
}

static void describe_shared(struct hazard *hazard, const struct reach *reach, uintptr_t address, size_t size)
{
	const bool wrapped =
		!is_beside_shared(reach, address) && address - reach->shared->first >= reach->shared->span;
	if (wrapped)
		address = unwrapped(address, size);
	const uintptr_t dynamic = (uintptr_t)sim_dynamic_shared;
	const struct sim_shared *array = shared_near(reach, address);
	const bool is_dynamic =
		!array || (address - dynamic < DYNAMIC_SHARED_MAX && reach->dynamic_shared_bytes != 0);
	const uintptr_t first = is_dynamic ? dynamic : sim_shared_address(array);
	const size_t bytes = is_dynamic ? reach->dynamic_shared_bytes : array->size;
	char *const what = hazard->detail[0], *const where = hazard->detail[1];
	if (address - first < bytes && (address & (size - 1)) != 0) {
		set_misaligned(hazard);
		snprintf(
			what, sizeof hazard->detail[0], "Address 0x%zx is misaligned for an access of %zu bytes",
			(size_t)(address - first), size);
	} else if (is_dynamic && address >= dynamic) {
		snprintf(what, sizeof hazard->detail[0], "Address 0x%zx is out of bounds", (size_t)(address - first));
		snprintf(
			where, sizeof hazard->detail[1], "the launch asked for %zu bytes of dynamic shared memory",
			bytes);
	} else {
		snprintf(
			what, sizeof hazard->detail[0], "Address is out of bounds%s",
			wrapped ? ": an unsigned index below 0" : "");
		if (is_dynamic)
			snprintf(
				where, sizeof hazard->detail[1], "and is %zu bytes before the dynamic shared memory",
				(size_t)(dynamic - address));
		else if (address - first < bytes && reach->shared->map[(address - reach->shared->first) / 4] == 0)
			snprintf(
				where, sizeof hazard->detail[1], "and is in '%s', an array of another kernel",
				array->name);
		else if (address - first < bytes)
			snprintf(
				where, sizeof hazard->detail[1],
				"and its last bytes lie past the end of '%s' of size %zu bytes", array->name, bytes);
		else
			snprintf(
				where, sizeof hazard->detail[1], "and is %zu bytes %s '%s' of size %zu bytes%s",
				(size_t)(address < first ? first - address : address - first),
				address < first ? "before" : "after the start of", array->name, array->size,
				address - dynamic < DYNAMIC_SHARED_MAX
					? "; the launch asked for no dynamic shared memory"
					: "");
	}
	snprintf(hazard->array, sizeof hazard->array, "%s", is_dynamic ? "dynamic shared memory" : array->name);
	hazard->index = (int64_t)(address - first) / (int64_t)size;
}

static void describe_anywhere(struct hazard *hazard, const struct reach *reach, uintptr_t address)
{
	snprintf(hazard->detail[0], sizeof hazard->detail[0], "Address 0x%" PRIxPTR " is out of bounds", address);
	if (address < 65536) {
		hazard->kind = "null";
		snprintf(
			hazard->detail[0], sizeof hazard->detail[0], "Address 0x%" PRIxPTR " is a null pointer%s",
			address, address == 0 ? "" : ", or an index from one");
		if (sim_memory_refused > 0)
			snprintf(
				hazard->detail[1], sizeof hazard->detail[1],
				"there was no memory for a cudaMalloc of %zu bytes: its error tells of it",
				sim_memory_refused);
	} else if (address - reach->stacks < (size_t)MAX_THREADS * STACK_BYTES) {
		snprintf(
			hazard->detail[1], sizeof hazard->detail[1], "it points to another thread's local variables");
	} else if (is_mapped(address, 1)) {
		hazard->kind = "host_pointer";
		snprintf(
			hazard->detail[1], sizeof hazard->detail[1],
			"it is a host pointer: device code needs memory from cudaMalloc "
			"(page-locked memory is not mapped here)");
	}
}

static bool reaches_a_frame(const struct local_memory *local, uintptr_t address, size_t size)
{
	for (const struct frame *frame = local->frame; frame > local->frames; frame--)
		if (address < frame->address + FRAME_BYTES && address + size > frame->address)
			return true;
	return false;
}

/* A local array was overrun, or a pointer to a local variable has outlived it. */
static void describe_local(struct hazard *hazard, const struct local_memory *local, uintptr_t address, size_t size)
{
	hazard->kind = "local_overrun";
	if (reaches_a_frame(local, address, size)) {
		snprintf(
			hazard->detail[0], sizeof hazard->detail[0],
			"a local array was overrun: it has reached the return address of a running function");
	} else if (address > local->frames[1].address) {
		snprintf(
			hazard->detail[0], sizeof hazard->detail[0],
			"a local array was overrun: the thread's own variables end at its kernel's frame");
	} else {
		hazard->kind = "out_of_bounds";
		snprintf(
			hazard->detail[0], sizeof hazard->detail[0],
			"the local variable that was there belonged to a function that has returned");
	}
}

struct hazard wrong_access(
	enum verdict verdict, const struct reach *reach, const struct actor *actor, uintptr_t address, size_t size,
	enum sim_op op, uint32_t site)
{
	struct hazard hazard =
		hazard_of(actor, site_at(site), SIM_MEMCHECK, "out_of_bounds", cudaErrorIllegalAddress);
	enum sim_space space = SIM_GLOBAL;
	if (verdict == WRONG_GLOBAL) {
		describe_global(&hazard, address, size);
	} else if (verdict == WRONG_CONSTANT) {
		space = SIM_CONSTANT;
		hazard.kind = "constant_write";
		snprintf(
			hazard.detail[0], sizeof hazard.detail[0], "'%s' is __constant__: kernels may only read it",
			sim_memory_find(address)->name);
	} else if (verdict == WRONG_SHARED) {
		space = SIM_SHARED;
		describe_shared(&hazard, reach, address, size);
	} else if (verdict == WRONG_LOCAL) {
		space = SIM_LOCAL;
		describe_local(&hazard, reach->local, address, size);
	} else {
		describe_anywhere(&hazard, reach, address);
	}
	hazard.space = space_name(space);
	hazard.bytes = (unsigned)size;
	snprintf(
		hazard.headline, sizeof hazard.headline, "Invalid __%s__ %s of size %zu bytes", space_name(space),
		op_name(op), size);
	return hazard;
}

/* ---- what functions find when they begin and end ---- */

static struct hazard of_frame(
	const struct actor *actor, const char *kind, const char *headline, const struct sim_site *at)
{
	struct hazard hazard = hazard_of(actor, at, SIM_MEMCHECK, kind, cudaErrorIllegalAddress);
	hazard.space = "local";
	snprintf(hazard.headline, sizeof hazard.headline, "%s", headline);
	return hazard;
}

struct hazard local_overrun(const struct actor *actor, const struct sim_site *end)
{
	struct hazard hazard = of_frame(actor, "local_overrun", "A local array was overrun", end);
	snprintf(
		hazard.detail[0], sizeof hazard.detail[0],
		"the address that the function returns to was overwritten; seen at the function's end");
	snprintf(
		hazard.advice, sizeof hazard.advice,
		"an index lies past the end, or before the start, of an array of this function or of one it called");
	return hazard;
}

void describe_large_frame(struct hazard *hazard, const char *signature, size_t bytes, size_t room)
{
	snprintf(
		hazard->detail[0], sizeof hazard->detail[0], "local variables of %.150s need %zu KB;", signature,
		(bytes + 1023) / 1024);
	snprintf(
		hazard->detail[1], sizeof hazard->detail[1], "a thread of the simulated device has %zu KB",
		room / 1024);
}

enum { FEW_CALLS = 100 }; /* each of which may have a large array */

struct hazard stack_overflow(
	const struct actor *actor, const struct sim_function *function, size_t bytes, size_t depth,
	const struct sim_site *call, size_t room)
{
	struct hazard hazard = of_frame(actor, "stack_overflow", "Stack overflow", call);
	if (!call) { /* of a kernel, which no device code calls */
		snprintf(hazard.file, sizeof hazard.file, "%.255s", function->file);
		hazard.line = function->line;
		hazard.signature = function->signature;
	}
	if (bytes > room || !call) { /* alone */
		describe_large_frame(&hazard, function->signature, bytes, room);
		return hazard;
	}
	snprintf(
		hazard.detail[0], sizeof hazard.detail[0],
		"the calls of this thread need more than %zu KB of local memory", room / 1024);
	snprintf(
		hazard.detail[1], sizeof hazard.detail[1], "at the call of %.130s: %san endless recursion?",
		function->signature, depth < FEW_CALLS ? "large local arrays, or " : "");
	return hazard;
}
