/*
 * From what lanes did to what warps did. The k-th time a lane executes an access (since the last barrier) and the
 * k-th time its neighbours execute the same one are one warp-level instruction: one request, of so many sectors or
 * wavefronts. Matching by (access, occurrence) survives divergence; matching by "k-th access of the lane" does not.
 *
 * Lanes that run in step leave identical sequences of keys: one memcmp a lane proves it, and the records are zipped.
 * Lanes that have parted go through streams, one for each key, a queue for each lane; the k-th entries of the
 * queues belong together. A group is closed when every lane has contributed or cannot any more.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "trace.h"

/* One warp-level instruction: the addresses of its active lanes, and which lanes those are. */
struct instruction {
	uint64_t key;
	uint32_t lanes;
	unsigned count;
	uint64_t address[WARP_SIZE]; /* compact: of the active lanes, in order */
};

struct shape {
	uint64_t lowest, highest; /* addresses */
	bool uniform;             /* all the same */
	bool contiguous;          /* each follows on the one before */
};

/* With a constant count the compiler unrolls and vectorises this. */
static inline __attribute__((always_inline)) struct shape measure_shape(const uint64_t *address, unsigned count,
                                                                        unsigned size)
{
	struct shape shape = {.lowest = address[0], .highest = address[0]};
	uint64_t differs = 0, strays = 0;

	for (unsigned i = 0; i < count; i++) {
		uint64_t offset = address[i] - address[0];

		differs |= offset;
		strays |= offset - (uint64_t)i * size;
		shape.lowest = address[i] < shape.lowest ? address[i] : shape.lowest;
		shape.highest = address[i] > shape.highest ? address[i] : shape.highest;
	}
	shape.uniform = differs == 0;
	shape.contiguous = strays == 0;
	return shape;
}

/* ---- global memory ---- */

static unsigned count_distinct(const uint64_t *value, unsigned count)
{
	uint64_t table[64];
	uint64_t used = 0;
	unsigned distinct = 0;

	for (unsigned i = 0; i < count; i++) {
		unsigned at = (unsigned)(value[i] * 0x9e3779b97f4a7c15u >> 58);

		while ((used >> at & 1) && table[at] != value[i])
			at = (at + 1) & 63;
		if (!(used >> at & 1)) {
			used |= (uint64_t)1 << at;
			table[at] = value[i];
			distinct++;
		}
	}
	return distinct;
}

enum { SECTOR_SHIFT = 5 };

static unsigned count_sectors(const struct instruction *instruction, struct shape shape, unsigned size)
{
	uint64_t sector[WARP_SIZE];
	unsigned changes = 0, descents = 0;

	if (shape.uniform || shape.contiguous)
		return (unsigned)((shape.highest + size - 1) >> SECTOR_SHIFT) -
		       (unsigned)(shape.lowest >> SECTOR_SHIFT) + 1;
	for (unsigned i = 0; i < instruction->count; i++)
		sector[i] = instruction->address[i] >> SECTOR_SHIFT;
	for (unsigned i = 1; i < instruction->count; i++) {
		changes += sector[i] != sector[i - 1];
		descents += sector[i] < sector[i - 1];
	}
	return descents == 0 ? changes + 1 : count_distinct(sector, instruction->count);
}

static struct sim_allocation *allocation_at(uint64_t address)
{
	if (address - sim_arena_first < sim_arena_span)
		return sim_slot_allocations[(address - sim_arena_first) >> SLOT_SHIFT];
	return sim_memory_find(address);
}

static void count_tensor(struct tally *tally, struct sim_allocation *allocation, uint64_t bytes, enum sim_op op)
{
	struct tensor_tally *tensor = &tally->tensors[allocation->index];

	*(op == SIM_OP_LOAD ? &tensor->read : op == SIM_OP_STORE ? &tensor->write : &tensor->atomic) += bytes;
}

static void count_global(struct tally *tally, const struct instruction *instruction, struct shape shape)
{
	const enum sim_op op = key_op(instruction->key);
	const unsigned size = key_size(instruction->key);
	struct sim_global_count *count = &tally->global[op];
	struct sim_allocation *allocation = allocation_at(shape.lowest);

	count->bytes += (uint64_t)instruction->count * size;
	count->requests++;
	count->sectors += count_sectors(instruction, shape, size);
	if (shape.highest - allocation->first < allocation->size) { /* one tensor, as nearly always */
		count_tensor(tally, allocation, (uint64_t)instruction->count * size, op);
		if (shape.uniform || shape.contiguous) {
			sim_mark_footprint(allocation, shape.lowest, shape.highest - shape.lowest + size, op);
			return;
		}
		for (unsigned i = 0; i < instruction->count; i++)
			sim_mark_footprint(allocation, instruction->address[i], size, op);
		return;
	}
	for (unsigned i = 0; i < instruction->count; i++) {
		allocation = allocation_at(instruction->address[i]);
		count_tensor(tally, allocation, size, op);
		sim_mark_footprint(allocation, instruction->address[i], size, op);
	}
}

/* ---- shared memory ---- */

/*
 * 32 banks of 4 bytes. An access of up to 4 bytes is one pass of 32 lanes; 8 bytes are two passes of 16 lanes, 16
 * bytes four of 8: each pass then has as many lanes as there are banks of the access's width. In a pass a bank serves
 * one address a wavefront; lanes that want the same address share it.
 *
 * Loads of 8 and 16 bytes need half the passes, of twice as many lanes each, when every active lane n of the warp
 * finds lane n^1 at its own address or inactive, or every one finds lane n^2 so: a pass then has no more different
 * addresses than it has banks. It is one rule for the whole warp, and there is no second halving. (NVIDIA's forum,
 * thread 77228; counters published for an A10, an A100, an H100 and an RTX 4090 follow it.)
 */
static unsigned count_pass(const uint64_t *unit, unsigned count, unsigned banks)
{
	uint64_t found[WARP_SIZE][WARP_SIZE];
	uint8_t length[WARP_SIZE] = {0};
	unsigned most = 1;

	for (unsigned i = 0; i < count; i++) {
		unsigned bank = (unsigned)unit[i] & (banks - 1), at = 0;

		while (at < length[bank] && found[bank][at] != unit[i])
			at++;
		if (at == length[bank]) {
			found[bank][at] = unit[i];
			length[bank] = (uint8_t)(at + 1);
			most = at + 1 > most ? at + 1 : most;
		}
	}
	return most;
}

/* Of an active lane, which is given as its bit. */
static uint64_t address_of(const struct instruction *instruction, uint32_t lane)
{
	return instruction->address[__builtin_popcount(instruction->lanes & (lane - 1))];
}

/* Whether every active lane finds the lane `distance`, 1 or 2, away at its own address or inactive. */
static bool partners_share(const struct instruction *instruction, unsigned distance)
{
	const uint32_t lower = distance == 1 ? 0x55555555 : 0x33333333; /* of each two partners */
	uint32_t both = instruction->lanes & instruction->lanes >> distance & lower;

	for (; both != 0; both &= both - 1) {
		uint32_t lane = both & -both;

		if (address_of(instruction, lane) != address_of(instruction, lane << distance))
			return false;
	}
	return true;
}

static uint32_t lanes_of_pass(unsigned first, unsigned lanes)
{
	return (lanes == WARP_SIZE ? ~0u : (1u << lanes) - 1) << first;
}

/* How many passes of so many lanes each have an active one. */
static unsigned count_passes(uint32_t active, unsigned lanes)
{
	unsigned passes = 0;

	for (unsigned first = 0; first < WARP_SIZE; first += lanes)
		passes += (active & lanes_of_pass(first, lanes)) != 0;
	return passes;
}

static void count_shared(struct tally *tally, const struct instruction *instruction, struct shape shape)
{
	const enum sim_op op = key_op(instruction->key);
	const unsigned size = key_size(instruction->key);
	const unsigned width = size > 4 ? size : 4, banks = 128 / width;
	const bool simple = shape.uniform || shape.contiguous; /* never two addresses in one bank of a pass */
	struct sim_shared_count *count = &tally->shared[op];
	uint64_t unit[WARP_SIZE];
	unsigned lanes = banks, passes, wavefronts = 0, next = 0;

	count->bytes += (uint64_t)instruction->count * size;
	count->requests++;
	if (width == 4 && simple) {
		count->wavefronts++;
		count->ideal_wavefronts++;
		return;
	}
	if (width > 4 && op == SIM_OP_LOAD &&
	    (shape.uniform || partners_share(instruction, 1) || partners_share(instruction, 2)))
		lanes = 2 * banks;
	passes = count_passes(instruction->lanes, lanes);
	if (simple) {
		wavefronts = passes;
	} else {
		for (unsigned i = 0; i < instruction->count; i++)
			unit[i] = instruction->address[i] / width;
		for (unsigned first = 0; first < WARP_SIZE; first += lanes) {
			uint32_t active = instruction->lanes & lanes_of_pass(first, lanes);

			if (active == 0)
				continue;
			wavefronts += count_pass(unit + next, (unsigned)__builtin_popcount(active), banks);
			next += (unsigned)__builtin_popcount(active);
		}
	}
	count->wavefronts += wavefronts;
	count->ideal_wavefronts += count_passes(instruction->lanes, banks);
	count->conflicts += wavefronts - passes;
}

static inline __attribute__((always_inline)) void count_shaped(struct tally *tally,
                                                               const struct instruction *instruction, unsigned count)
{
	const struct shape shape = measure_shape(instruction->address, count, key_size(instruction->key));

	switch (key_space(instruction->key)) {
	case SIM_GLOBAL: count_global(tally, instruction, shape); break;
	case SIM_SHARED: count_shared(tally, instruction, shape); break;
	case SIM_CONSTANT:
		tally->constant.bytes += (uint64_t)instruction->count * key_size(instruction->key);
		tally->constant.requests++;
		break;
	case SIM_LOCAL: break;
	}
}

static void count_instruction(struct tally *tally, const struct instruction *instruction)
{
	if (instruction->count == WARP_SIZE)
		count_shaped(tally, instruction, WARP_SIZE);
	else
		count_shaped(tally, instruction, instruction->count);
}

/* ---- lanes in step ---- */

/* How many records from `start` on are the same in every lane of `lanes`. */
static uint32_t common_length(const struct warp *warp, uint32_t lanes, uint32_t start)
{
	const struct lane *first = &warp->lanes[__builtin_ctz(lanes)];
	uint32_t length = first->count - start;

	for (uint32_t rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1) {
		const struct lane *lane = &warp->lanes[__builtin_ctz(rest)];

		if (lane->count - start < length)
			length = lane->count - start;
		if (memcmp(first->keys + start, lane->keys + start, length * sizeof *lane->keys) != 0) {
			uint32_t same = 0;

			while (first->keys[start + same] == lane->keys[start + same])
				same++;
			length = same;
		}
	}
	return length;
}

/* racecheck of the i-th record where a fence has had some lanes' checked before. */
static void check_rest(struct worker *worker, const struct warp *warp, uint32_t lanes, uint32_t i)
{
	for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
		const struct lane *lane = &warp->lanes[__builtin_ctz(rest)];

		if (i >= lane->checked)
			racecheck_instruction(worker, warp, lane->keys[i], 1u << lane->index, &lane->addresses[i],
			                      &lane->values[i]);
	}
}

static void empty_windows(struct warp *warp)
{
	for (uint32_t i = 0; i < warp->lane_count; i++)
		warp->lanes[i].count = warp->lanes[i].checked = 0;
	warp->checked_early = false;
}

static void zip(struct worker *worker, const struct warp *warp, uint32_t lanes, uint32_t start, uint32_t length)
{
	const struct lane *member[WARP_SIZE];
	uint64_t value[WARP_SIZE];
	struct instruction instruction = {.lanes = lanes, .count = 0};

	for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
		member[instruction.count++] = &warp->lanes[__builtin_ctz(rest)];
	for (uint32_t i = start; i < start + length; i++) {
		instruction.key = member[0]->keys[i];
		for (unsigned j = 0; j < instruction.count; j++)
			instruction.address[j] = member[j]->addresses[i];
		count_instruction(&worker->tally, &instruction);
		if (worker->tracer != NULL)
			trace_accesses(worker, instruction.key, instruction.address, instruction.count);
		if (worker->race_cells == NULL)
			continue;
		if (warp->checked_early) {
			check_rest(worker, warp, lanes, i);
			continue;
		}
		if (key_op(instruction.key) == SIM_OP_STORE)
			for (unsigned j = 0; j < instruction.count; j++)
				value[j] = member[j]->values[i];
		racecheck_instruction(worker, warp, instruction.key, lanes, instruction.address,
		                      key_op(instruction.key) == SIM_OP_STORE ? value : NULL);
	}
}

static uint32_t lanes_with_records(const struct warp *warp, uint32_t start)
{
	uint32_t lanes = 0;

	for (uint32_t i = 0; i < warp->lane_count; i++)
		lanes |= (uint32_t)(warp->lanes[i].count > start) << i;
	return lanes;
}

/* Zips as long as lanes are in step; `ended` are those that do nothing more before the next barrier. Returns how
 * many records of each lane were dealt with. */
static uint32_t zip_in_step(struct worker *worker, struct warp *warp, uint32_t ended)
{
	uint32_t start = 0, lanes, length;
	uint32_t present = warp_lanes(warp);

	while ((lanes = lanes_with_records(warp, start)) != 0 && (present & ~lanes & ~ended) == 0 &&
	       (length = common_length(warp, lanes, start)) != 0) {
		zip(worker, warp, lanes, start, length);
		start += length;
	}
	return start;
}

/* ---- lanes that have parted ---- */

#define NOT_EXECUTED UINT64_MAX /* in the place of an address */

static void *grow(void *memory, size_t bytes)
{
	if ((memory = realloc(memory, bytes)) == NULL) {
		fprintf(stderr, "out of memory while matching the accesses of diverged lanes\n");
		exit(3);
	}
	return memory;
}

static uint32_t stream_slot(const struct warp *warp, uint64_t key)
{
	uint32_t mask = warp->stream_index_size - 1;
	uint32_t at = (uint32_t)((key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 32) & mask;

	while (warp->stream_index[at] != 0 && warp->streams[warp->stream_index[at] - 1].key != key)
		at = (at + 1) & mask;
	return at;
}

static void index_streams(struct warp *warp, uint32_t size)
{
	warp->stream_index_size = size;
	warp->stream_index = grow(warp->stream_index, size * sizeof *warp->stream_index);
	memset(warp->stream_index, 0, size * sizeof *warp->stream_index);
	for (uint32_t i = 0; i < warp->stream_count; i++)
		warp->stream_index[stream_slot(warp, warp->streams[i].key)] = i + 1;
}

/* The index of a key's stream, opened if need be. */
static uint32_t find_stream(struct warp *warp, uint64_t key)
{
	uint32_t slot;

	if (2 * (warp->stream_count + 1) > warp->stream_index_size)
		index_streams(warp, warp->stream_index_size ? 2 * warp->stream_index_size : 64);
	slot = stream_slot(warp, key);
	if (warp->stream_index[slot] == 0) {
		if (warp->stream_count == warp->stream_capacity) {
			uint32_t capacity = warp->stream_capacity ? 2 * warp->stream_capacity : 16;

			warp->streams = grow(warp->streams, capacity * sizeof *warp->streams);
			/* Queues keep their memory for the next interval, so what is new must start empty. */
			memset(warp->streams + warp->stream_capacity, 0,
			       (capacity - warp->stream_capacity) * sizeof *warp->streams);
			warp->stream_capacity = capacity;
		}
		warp->streams[warp->stream_count].key = key;
		warp->stream_index[slot] = ++warp->stream_count;
	}
	return warp->stream_index[slot] - 1;
}

static void push(struct stream *stream, uint32_t lane, uint64_t address)
{
	if (stream->queue[lane].first + stream->queue[lane].count == stream->queue[lane].capacity) {
		if (stream->queue[lane].first > 0) {
			memmove(stream->queue[lane].addresses,
			        stream->queue[lane].addresses + stream->queue[lane].first,
			        stream->queue[lane].count * sizeof(uint64_t));
			stream->queue[lane].first = 0;
		} else {
			stream->queue[lane].capacity =
				stream->queue[lane].capacity ? 2 * stream->queue[lane].capacity : WINDOW;
			stream->queue[lane].addresses =
				grow(stream->queue[lane].addresses, stream->queue[lane].capacity * sizeof(uint64_t));
		}
	}
	stream->queue[lane].addresses[stream->queue[lane].first + stream->queue[lane].count++] = address;
}

/* How many groups at the head of the queues are complete: lanes that have not ended may still add to shorter ones. */
static uint32_t complete_groups(const struct warp *warp, const struct stream *stream, uint32_t ended)
{
	uint32_t least = UINT32_MAX, most = 0;

	for (uint32_t lane = 0; lane < warp->lane_count; lane++) {
		uint32_t count = stream->queue[lane].count;

		most = count > most ? count : most;
		if (!(ended >> lane & 1))
			least = count < least ? count : least;
	}
	return least == UINT32_MAX ? most : least;
}

/* Returns whether something is left in the queues. */
static bool count_stream(struct worker *worker, const struct warp *warp, struct stream *stream, uint32_t ended)
{
	const uint32_t groups = complete_groups(warp, stream, ended);
	bool left = false;

	for (uint32_t group = 0; group < groups; group++) {
		struct instruction instruction = {.key = stream->key, .lanes = 0, .count = 0};

		for (uint32_t lane = 0; lane < warp->lane_count; lane++)
			if (stream->queue[lane].count > group) {
				uint64_t address = stream->queue[lane].addresses[stream->queue[lane].first + group];

				if (address == NOT_EXECUTED)
					continue;
				instruction.lanes |= 1u << lane;
				instruction.address[instruction.count++] = address;
			}
		if (instruction.count > 0)
			count_instruction(&worker->tally, &instruction);
	}
	for (uint32_t lane = 0; lane < warp->lane_count; lane++) {
		uint32_t taken = stream->queue[lane].count < groups ? stream->queue[lane].count : groups;

		stream->queue[lane].count -= taken;
		stream->queue[lane].first = stream->queue[lane].count == 0 ? 0 : stream->queue[lane].first + taken;
		left |= stream->queue[lane].count > 0;
	}
	return left;
}

static void sort_into_streams(struct worker *worker, struct warp *warp, uint32_t start)
{
	for (uint32_t i = 0; i < warp->lane_count; i++) {
		const struct lane *lane = &warp->lanes[i];
		uint32_t last = 0;

		for (uint32_t r = start; r < lane->count; r++) {
			uint32_t at = last < warp->stream_count ? warp->streams[last].follower : 0;

			if (at >= warp->stream_count || warp->streams[at].key != lane->keys[r]) {
				at = find_stream(warp, lane->keys[r]);
				warp->streams[last].follower = at;
			}
			push(&warp->streams[at], i, lane->addresses[r]);
			last = at;
			if (worker->tracer != NULL)
				trace_accesses(worker, lane->keys[r], &lane->addresses[r], 1);
			if (worker->race_cells != NULL && r >= lane->checked)
				racecheck_instruction(worker, warp, lane->keys[r], 1u << i, &lane->addresses[r],
				                      &lane->values[r]);
		}
	}
}

void account_forget(struct warp *warp)
{
	enum { KEPT = 1 << 14 }; /* addresses a queue keeps room for */

	for (uint32_t s = 0; s < warp->stream_count; s++)
		for (uint32_t lane = 0; lane < WARP_SIZE; lane++) {
			warp->streams[s].queue[lane].first = warp->streams[s].queue[lane].count = 0;
			if (warp->streams[s].queue[lane].capacity > KEPT) {
				free(warp->streams[s].queue[lane].addresses);
				warp->streams[s].queue[lane].addresses = NULL;
				warp->streams[s].queue[lane].capacity = 0;
			}
		}
	warp->stream_count = 0;
	if (warp->stream_index != NULL)
		memset(warp->stream_index, 0, warp->stream_index_size * sizeof *warp->stream_index);
	warp->diverged = false;
}

/* Lanes that do nothing more before a point from which nothing matches what was before it. */
static uint32_t ended_lanes(const struct warp *warp)
{
	const uint32_t present = warp_lanes(warp);
	uint32_t ended = warp->at_barrier | warp->exited;

	for (uint32_t i = 0; i < warp->lane_count; i++) {
		const struct lane *lane = &warp->lanes[i];

		/* A meeting of the whole warp, unless somebody has left, who will be missing from it. */
		if (lane->state == LANE_AT_WARP_OP && (lane->mask & present) == present && warp->exited == 0)
			ended |= 1u << i;
	}
	return ended;
}

static void capture_values(struct warp *warp)
{
	for (uint32_t i = 0; i < warp->lane_count; i++)
		if (warp->lanes[i].pending)
			capture_value(&warp->lanes[i]);
}

/* Lanes that meet have done with what came before: one that did not execute an access as often as the others never
 * will join them in it. */
static void level_queues(const struct warp *warp, struct stream *stream, uint32_t met)
{
	uint32_t most = 0;

	for (uint32_t lane = 0; lane < warp->lane_count; lane++)
		if ((met >> lane & 1) && stream->queue[lane].count > most)
			most = stream->queue[lane].count;
	for (uint32_t lane = 0; lane < warp->lane_count; lane++)
		while ((met >> lane & 1) && stream->queue[lane].count < most)
			push(stream, lane, NOT_EXECUTED);
}

static bool have_same_keys(const struct warp *warp, uint32_t lanes)
{
	const struct lane *first = &warp->lanes[__builtin_ctz(lanes)];

	for (uint32_t rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1) {
		const struct lane *lane = &warp->lanes[__builtin_ctz(rest)];

		if (lane->count != first->count ||
		    memcmp(lane->keys, first->keys, first->count * sizeof *first->keys) != 0)
			return false;
	}
	return true;
}

void account_meeting(struct worker *worker, struct warp *warp, uint32_t met)
{
	const uint32_t present = warp_lanes(warp);
	const uint32_t ended = ended_lanes(warp);
	uint32_t zipped = 0;
	bool left = false;

	if (met == present) { /* the whole warp: nothing that comes can match what was */
		account_warp(worker, warp, true);
		return;
	}
	capture_values(warp);
	if (!warp->diverged) {
		/* racecheck wants to see what was before the meeting. */
		if (worker->race_cells == NULL && have_same_keys(warp, met))
			return;
		zipped = zip_in_step(worker, warp, ended);
		warp->diverged = true;
	}
	sort_into_streams(worker, warp, zipped);
	for (uint32_t s = 0; s < warp->stream_count; s++) {
		level_queues(warp, &warp->streams[s], met);
		left |= count_stream(worker, warp, &warp->streams[s], ended);
	}
	if (!left)
		account_forget(warp);
	empty_windows(warp);
}

void account_warp(struct worker *worker, struct warp *warp, bool final)
{
	const uint32_t ended = final ? ~0u : ended_lanes(warp);
	uint32_t zipped = 0;

	capture_values(warp);
	if (!warp->diverged) {
		zipped = zip_in_step(worker, warp, ended);
		warp->diverged = lanes_with_records(warp, zipped) != 0;
	}
	if (warp->diverged) {
		sort_into_streams(worker, warp, zipped);
		for (uint32_t s = 0; s < warp->stream_count; s++)
			count_stream(worker, warp, &warp->streams[s], ended);
		if (final)
			account_forget(warp);
	}
	empty_windows(warp);
}
