/*
 * Where device code arrives: the plugin (../front/) has put a call of one of these before every load and store, which is
 * given the record of its place.
 *
 * A hook decides whether the access may happen (memcheck: it is stopped before it does) and records it in the
 * lane's window. Nothing is counted here; count/match.c works the windows off. This is the hot path of the whole
 * device: a record costs about 2 ns.
 */
#include <string.h>

#include "run/worker.h"

#define HOT                 __attribute__((hot))
#define unlikely(condition) __builtin_expect(!!(condition), 0)

COLD static void lane_window_full(struct lane *lane)
{
	lane_wait(lane, LANE_FULL);
}

static inline void append(struct lane *lane, uintptr_t address, uint64_t low_key)
{
	const uint32_t count = lane->window.count;
	lane->window.addresses[count] = address;
	lane->window.keys[count] = lane->path | low_key;
	lane->window.count = count + 1;
}

static inline bool wants_value(const struct lane *lane, uint64_t low_key)
{
	return lane->window.values && key_op(low_key) == SIM_OP_STORE;
}

/* A record with something to do before it: values that are wanted, a window that is full. */
static __attribute__((noinline)) void record_with_care(struct lane *lane, uintptr_t address, uint64_t low_key)
{
	if (lane->window.pending && !lane->copies)
		window_capture(&lane->window);
	/* Not as soon as the window is full: a store just recorded has not happened yet, and its value is wanted. */
	if (unlikely(lane->window.count == WINDOW))
		lane_window_full(lane);
	if (wants_value(lane, low_key) && !lane->window.pending)
		lane->window.pending = (uint16_t)(lane->window.count + 1);
	append(lane, address, low_key);
}

/* Whatever is not the plain case is the last call of a hook, here and below: so a hook saves no register. */
static inline void record(struct lane *lane, uintptr_t address, uint64_t low_key)
{
	if (unlikely(wants_value(lane, low_key) || lane->window.pending || lane->window.count == WINDOW))
		record_with_care(lane, address, low_key);
	else
		append(lane, address, low_key);
}

/* `width` is here and below log2 of the size in bytes, with VOLATILE set or not, as it stands in a key. */
enum { VOLATILE = 1 << (KEY_VOLATILE_SHIFT - KEY_SIZE_SHIFT) };

static inline uint64_t low_key(enum sim_space space, enum sim_op op, unsigned width, uint32_t site)
{
	if (site >> SITE_INDEX_BITS != 0)
		__builtin_unreachable(); /* so the compiler knows the other fields where it knows their values */
	return (uint64_t)space << KEY_SPACE_SHIFT | (uint64_t)op << KEY_OP_SHIFT | (uint64_t)width << KEY_SIZE_SHIFT |
	       site;
}

/* initcheck: a store marks its bytes. False: not all that a load or an atomic reads was written. */
static inline __attribute__((always_inline)) bool note_written(uint8_t *written, unsigned width, enum sim_op op)
{
	static const uint8_t all[16] = {1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1, 1};
	const size_t size = (size_t)1 << (width & ~VOLATILE);
	if (op != SIM_OP_STORE)
		return memcmp(written, all, size) == 0;
	memcpy(written, all, size);
	return true;
}

/* Of an atomicExch(). */
static bool is_result_used(uint32_t site)
{
	const struct sim_site *call = site_at(site);
	return call && call->size != 0;
}

COLD static void record_uninitialised(
	struct lane *lane, uint8_t *written, uintptr_t address, uint64_t low_key, uint32_t site)
{
	if (!lane->overwrites || is_result_used(site))
		initcheck_read(
			&lane->worker->findings, lane->number, address, key_size(low_key), key_space(low_key),
			written, lane->copies, site);
	if (key_op(low_key) != SIM_OP_LOAD)
		memset(written, 1, key_size(low_key));
	record(lane, address, low_key);
}

/* An access that may happen. `written`: what initcheck knows of its bytes, NULL when it is off. */
static inline __attribute__((always_inline)) void note_and_record(
	struct lane *lane, uint8_t *written, uintptr_t address, unsigned width, enum sim_op op, enum sim_space space,
	uint32_t site)
{
	const uint64_t key = low_key(space, op, width, site);
	if (written && unlikely(!note_written(written, width, op)))
		record_uninitialised(lane, written, address, key, site);
	else
		record(lane, address, key);
}

COLD static _Noreturn void stop_wrong(
	struct lane *lane, enum verdict verdict, const struct reach *reach, uintptr_t address, size_t size,
	enum sim_op op, uint32_t site)
{
	const struct actor actor = actor_of(lane);
	const struct hazard hazard = wrong_access(verdict, reach, &actor, address, size, op, site);
	fail_launch(lane->worker, &hazard);
}

/* Everything that is not a good access of global or static shared memory. */
COLD static void record_rest(struct lane *lane, uintptr_t address, unsigned width, enum sim_op op, uint32_t site)
{
	const size_t size = (size_t)1 << (width & ~VOLATILE);
	if (lane->worker->copies_under_way > 0)
		copies_met(lane, address, size, op, site);
	const struct reach reach = {
		&lane->local, &lane->shared, lane->worker->launch->request->dynamic_shared_bytes,
		(uintptr_t)lane->worker->stacks};
	const enum verdict verdict = judge_access(&reach, address, size, op);
	if (verdict > GOOD_LOCAL)
		stop_wrong(lane, verdict, &reach, address, size, op, site);
	if (verdict == GOOD_LOCAL)
		return;
	uint8_t *written = verdict == GOOD_SHARED && lane->shared.written
	                           ? lane->shared.written + (address - lane->shared.first)
	                           : NULL;
	note_and_record(lane, written, address, width, op, (enum sim_space)verdict, site);
}

/* Local memory: registers, as far as the source is concerned. It reaches from the stack pointer, below which there
 * are only functions that have returned, to the frame of what called the kernel. A write must not touch what a
 * function needs to return; the innermost frame above the address is the only one that it can. */
static inline __attribute__((always_inline)) bool is_local(
	const struct lane *lane, uintptr_t address, size_t size, enum sim_op op)
{
	const struct frame *frame = lane->local.frame;
	const uintptr_t stack_pointer = (uintptr_t)__builtin_dwarf_cfa(); /* of what called this hook */
	if (address - stack_pointer >= lane->local.end - stack_pointer)
		return false;
	if (op == SIM_OP_LOAD)
		return true;
	while (address >= frame->address + FRAME_BYTES)
		frame--; /* ends at frames[0], which lies at the end */
	return frame->address - address >= size && frame->address > address;
}

/* All granules of the access have one number: an asynchronous copy may be under way to any of them. */
static inline __attribute__((always_inline)) bool is_in_one_array(const uint16_t *granule, uintptr_t size)
{
	uint64_t four;
	if (size < 16)
		return granule[0] == granule[size == 8];
	memcpy(&four, granule, sizeof four);
	return four == granule[0] * UINT64_C(0x0001000100010001);
}

/* One access. */
static inline __attribute__((always_inline)) void access_memory(
	const void *pointer, unsigned width, enum sim_op op, uint32_t site)
{
	struct lane *lane = sim_lane;
	const uintptr_t address = (uintptr_t)pointer, size = (uintptr_t)1 << (width & ~VOLATILE);
	enum sim_space space;
	uint8_t *written;
	if (unlikely(!lane))
		return; /* host code */
	if (address - sim_arena_first < sim_arena_span) {
		const struct slot *slot = &sim_slots[(address - sim_arena_first) >> SLOT_SHIFT];
		/* One comparison for "before the start", "past the end" and "nothing there" (size 0). */
		if (unlikely(
			    address - slot->first >= slot->size || slot->size - (address - slot->first) < size ||
			    (address & (size - 1)) != 0)) {
			record_rest(lane, address, width, op, site);
			return;
		}
		written = slot->written ? slot->written + (address - slot->first) : NULL;
		space = SIM_GLOBAL;
	} else if (address - lane->shared.first < lane->shared.span) {
		const uint16_t *granule = &lane->shared.map[(address - lane->shared.first) >> 2];
		if (unlikely(
			    granule[0] == 0 || !is_in_one_array(granule, size) || (address & (size - 1)) != 0 ||
			    granule[0] >= SHARED_MAP_AWAITED)) {
			record_rest(lane, address, width, op, site);
			return;
		}
		written = lane->shared.written ? lane->shared.written + (address - lane->shared.first) : NULL;
		space = SIM_SHARED;
	} else if (is_local(lane, address, size, op)) {
		return;
	} else {
		record_rest(lane, address, width, op, site);
		return;
	}
	note_and_record(lane, written, address, width, op, space, site);
}

/* What is stored is known when the whole copy has happened: the window must not fill up in it. */
static void begin_copy(struct lane *lane, enum sim_op op, size_t pieces)
{
	if (lane->window.pending)
		window_capture(&lane->window);
	if (op == SIM_OP_STORE && lane->window.values != NULL && pieces <= WINDOW &&
	    lane->window.count + pieces > WINDOW)
		lane_window_full(lane);
	lane->copies = true;
}

/*
 * A copy of a whole struct whose type is less aligned than it is long, and memcpy: in pieces of `piece` bytes, or smaller
 * ones where the address or the length is no multiple of that. Said in the README.
 */
static void access_range(const void *pointer, size_t bytes, size_t piece, enum sim_op op, uint32_t site)
{
	struct lane *lane = sim_lane;
	const uintptr_t address = (uintptr_t)pointer;
	const unsigned log2_size = (unsigned)__builtin_ctzl(address | bytes | piece);
	if (!lane || bytes == 0 || is_local(lane, address, bytes, op))
		return;
	begin_copy(lane, op, bytes >> log2_size);
	for (size_t done = 0; done < bytes; done += (size_t)1 << log2_size)
		access_memory((const char *)pointer + done, log2_size, op, site);
	lane->copies = false;
}

/* A struct of 16 bytes whose type is aligned to 8: one access where its address allows it, two of 8 bytes where not. */
static void access_16(const void *pointer, enum sim_op op, uint32_t site)
{
	struct lane *lane = sim_lane;
	if (!lane || is_local(lane, (uintptr_t)pointer, 16, op))
		return;
	begin_copy(lane, op, 2);
	if ((uintptr_t)pointer % 16 == 8) {
		access_memory(pointer, 3, op, site);
		access_memory((const char *)pointer + 8, 3, op, site);
	} else {
		access_memory(pointer, 4, op, site);
	}
	lane->copies = false;
}

void *sim_memcpy(void *to, const void *from, size_t bytes)
{
	access_range(from, bytes, 4, SIM_OP_LOAD, CALL_SITE());
	access_range(to, bytes, 4, SIM_OP_STORE, CALL_SITE());
	return memcpy(to, from, bytes);
}

void *sim_memmove(void *to, const void *from, size_t bytes)
{
	access_range(from, bytes, 4, SIM_OP_LOAD, CALL_SITE());
	access_range(to, bytes, 4, SIM_OP_STORE, CALL_SITE());
	return memmove(to, from, bytes);
}

void *sim_memset(void *to, int value, size_t bytes)
{
	access_range(to, bytes, 4, SIM_OP_STORE, CALL_SITE());
	return memset(to, value, bytes);
}

void sim_note_fence(bool block_only)
{
	struct lane *lane = sim_lane;
	if (lane && lane->worker->audience.race)
		race_fence(lane->worker->audience.race, lane->number, &lane->window, block_only);
}

/* Volatile accesses are how older code talks between threads; what they order, and what not: racecheck.c. */
static void access_volatile(const void *pointer, unsigned width, enum sim_op op, uint32_t site)
{
	struct lane *lane = sim_lane;
	const uintptr_t address = (uintptr_t)pointer;
	if (!lane || is_local(lane, address, (uintptr_t)1 << width, op))
		return;
	struct race *race = lane->worker->audience.race;
	if (race && op == SIM_OP_STORE)
		race_stored_strongly(race, lane->number, &lane->window, address);
	access_memory(pointer, width | VOLATILE, op, site); /* other threads may have a turn in it */
	if (race && op == SIM_OP_LOAD)
		race_look(race, lane->number, address, false);
	else if (race)
		race_release(race, lane->number, address, false);
}

/* One that need not be aligned, in a packed struct. */
static void access_volatile_range(const void *pointer, size_t bytes, size_t piece, enum sim_op op, uint32_t site)
{
	const unsigned log2_size = (unsigned)__builtin_ctzl((uintptr_t)pointer | bytes | piece);
	for (size_t done = 0; done < bytes; done += (size_t)1 << log2_size)
		access_volatile((const char *)pointer + done, log2_size, op, site);
}

void sim_access(const void *pointer, unsigned width, enum sim_op op, uint32_t site)
{
	access_memory(pointer, width, op, site);
}

/* What the store that was recorded last stores: nobody need look at it when it has happened. */
static void keep_value(struct window *window, const struct stored *data)
{
	window->values[window->count - 1] = *data;
	window->pending = 0;
}

void sim_store_known(void *pointer, unsigned width, const struct stored *data, uint32_t site)
{
	access_memory(pointer, width, SIM_OP_STORE, site);
	if (sim_lane->window.values)
		keep_value(&sim_lane->window, data);
}

static bool is_there(const struct sim_allocation *allocation, uintptr_t address, size_t size)
{
	return allocation && !allocation->freed && allocation->first + allocation->size - address >= size;
}

/* What a copy of this width reads, `bytes` or none, and as one record: memory.h. Its address is aligned to the width. */
void sim_copy_read(const void *pointer, unsigned width, size_t bytes, uint32_t site)
{
	struct lane *lane = sim_lane;
	const uintptr_t address = (uintptr_t)pointer, size = (uintptr_t)1 << width;
	const struct sim_allocation *allocation = sim_memory_find(address);
	const unsigned piece = 1u << __builtin_ctzl(bytes | size);
	if (bytes > 0 && (address & (size - 1)) != 0)
		record_rest(lane, address, width, SIM_OP_LOAD, site); /* where it ends */
	for (size_t done = 0; done < bytes; done += piece) {
		if (!is_there(allocation, address + done, piece))
			record_rest(lane, address + done, (unsigned)__builtin_ctz(piece), SIM_OP_LOAD, site);
		const uint8_t *written =
			allocation->written ? allocation->written + (address + done - allocation->first) : NULL;
		if (written && memchr(written, 0, piece))
			initcheck_read(
				&lane->worker->findings, lane->number, address + done, piece, SIM_GLOBAL, written,
				false, site);
	}
	record(lane, address | (uint64_t)(size - bytes) << LEFT_OUT_SHIFT,
	       low_key(SIM_LOCAL, SIM_OP_LOAD, width, site));
}

void sim_arrival(const void *pointer, unsigned width, const struct stored *data, uint32_t site)
{
	struct lane *lane = sim_lane;
	if (!lane->window.values)
		return;
	record_with_care(lane, (uintptr_t)pointer, low_key(SIM_LOCAL, SIM_OP_STORE, width, site));
	keep_value(&lane->window, data);
}

void sim_atomic_access(const void *pointer, unsigned width, unsigned kind, uint32_t site)
{
	struct lane *lane = sim_lane;
	const bool block_only = kind & SIM_ATOMIC_BLOCK;
	if (!lane)
		return;
	lane->overwrites = kind & SIM_ATOMIC_OVERWRITES;
	access_memory(pointer, width | (block_only ? VOLATILE : 0), SIM_OP_ATOMIC, site);
	lane->overwrites = false;
	struct race *race = lane->worker->audience.race;
	if (!race)
		return;
	race_look(race, lane->number, (uintptr_t)pointer, block_only);
	if (race_release(race, lane->number, (uintptr_t)pointer, block_only))
		race_catch_up(race, lane->number, &lane->window); /* before anybody can see it */
}

void sim_note_change(const void *pointer, uint64_t from, uint64_t to, unsigned kind)
{
	struct lane *lane = sim_lane;
	struct race *race = lane ? lane->worker->audience.race : NULL;
	if (race)
		race_changed(
			race, lane->number, &lane->window, (uintptr_t)pointer, from, to, kind & SIM_ATOMIC_EXCHANGES);
}

/* The frame is not what it was. The hazard is looked up where no lane runs: what happens there is no fault of the kernel's. */
COLD static _Noreturn void stop_overrun(struct lane *lane, const struct sim_site *end)
{
	const struct actor actor = actor_of(lane);
	sim_lane = NULL;
	const struct hazard hazard = local_overrun(&actor, end);
	fail_launch(lane->worker, &hazard);
}

void sim_enter(const struct sim_function *function)
{
	const uintptr_t *frame = *(uintptr_t **)__builtin_frame_address(0); /* of the function that begins */
	struct lane *lane = sim_lane;
	volatile struct frame *begun; /* volatile: compilers make one vector of its fields, which takes longer */
	uint64_t path = 0;
	if (!lane)
		return;
	if (unlikely((uintptr_t)__builtin_frame_address(0) < lane->local.limit))
		faults_overflow(function, (uintptr_t)frame - (uintptr_t)__builtin_frame_address(0));
	if (unlikely(!lane->entered)) {
		/* The kernel's arguments may lie in its caller's frame. (If that was optimized, it has none.) */
		if (frame[0] - (uintptr_t)frame < lane->local.end - (uintptr_t)frame)
			lane->local.end = lane->local.frame->address = frame[0];
		lane->entered = true;
	} else {
		path = (uint64_t)path_of_call(
			       &lane->worker->paths, (uint32_t)(lane->path >> KEY_PATH_SHIFT), CALL_SITE())
		       << KEY_PATH_SHIFT;
	}
	if (unlikely(++lane->local.frame == lane->local.frames_end))
		add_frames(&lane->local);
	begun = lane->local.frame;
	begun->address = (uintptr_t)frame;
	begun->caller_frame = frame[0];
	begun->return_address = frame[1];
	begun->caller_path = lane->path;
	lane->path = path;
}

void sim_leave(const struct sim_site *end)
{
	const uintptr_t *frame = *(uintptr_t **)__builtin_frame_address(0); /* of the function that ends */
	struct lane *lane = sim_lane;
	if (!lane)
		return;
	const struct frame *begun = lane->local.frame;
	if (unlikely(frame[0] != begun->caller_frame || frame[1] != begun->return_address))
		stop_overrun(lane, end);
	lane->path = begun->caller_path;
	if (unlikely(--lane->local.frame == lane->local.frames)) {
		lane->entered = false;
		lane_end(lane);
	}
}

#define HOOK(bytes, log2_size)                                                                                       \
	HOT void sim_read##bytes(const void *pointer, const struct sim_site *site)                                   \
	{                                                                                                            \
		access_memory(pointer, log2_size, SIM_OP_LOAD, site_of(site));                                       \
	}                                                                                                            \
	HOT void sim_write##bytes(const void *pointer, const struct sim_site *site)                                  \
	{                                                                                                            \
		access_memory(pointer, log2_size, SIM_OP_STORE, site_of(site));                                      \
	}                                                                                                            \
	void sim_volatile_read##bytes(const void *pointer, const struct sim_site *site)                              \
	{                                                                                                            \
		access_volatile(pointer, log2_size, SIM_OP_LOAD, site_of(site));                                     \
	}                                                                                                            \
	void sim_volatile_write##bytes(const void *pointer, const struct sim_site *site)                             \
	{                                                                                                            \
		access_volatile(pointer, log2_size, SIM_OP_STORE, site_of(site));                                    \
	}

HOOK(1, 0)
HOOK(2, 1)
HOOK(4, 2)
HOOK(8, 3)
HOOK(16, 4)

void sim_read16_by_8(const void *pointer, const struct sim_site *site)
{
	access_16(pointer, SIM_OP_LOAD, site_of(site));
}

void sim_write16_by_8(const void *pointer, const struct sim_site *site)
{
	access_16(pointer, SIM_OP_STORE, site_of(site));
}

void sim_read_range(const void *pointer, size_t bytes, size_t piece, const struct sim_site *site)
{
	access_range(pointer, bytes, piece, SIM_OP_LOAD, site_of(site));
}

void sim_write_range(const void *pointer, size_t bytes, size_t piece, const struct sim_site *site)
{
	access_range(pointer, bytes, piece, SIM_OP_STORE, site_of(site));
}

void sim_volatile_read_range(const void *pointer, size_t bytes, size_t piece, const struct sim_site *site)
{
	access_volatile_range(pointer, bytes, piece, SIM_OP_LOAD, site_of(site));
}

void sim_volatile_write_range(const void *pointer, size_t bytes, size_t piece, const struct sim_site *site)
{
	access_volatile_range(pointer, bytes, piece, SIM_OP_STORE, site_of(site));
}
