/*
 * From what lanes did to what warps did. The k-th time a lane executes an access (since the last barrier) and the
 * k-th time its neighbors execute the same one are one warp-level instruction: one request, of so many sectors or
 * wavefronts. Matching by (access, occurrence) survives divergence; matching by "k-th access of the lane" does not.
 *
 * Lanes that run in step leave identical sequences of keys: one memcmp a lane proves it, and the records are zipped.
 * Lanes that have parted go through streams, one for each key, a queue for each lane; the k-th entries of the
 * queues belong together. A group is closed when every lane has contributed or cannot any more.
 */
#include <stdlib.h>
#include <string.h>

#include "count/instruction.h"

/* ---- lanes in step ---- */

/* How many records from `start` on are the same in every lane of `lanes`. */
static uint32_t common_length(const struct matcher *matcher, uint32_t lanes, uint32_t start)
{
	const struct window *first = matcher->windows[__builtin_ctz(lanes)];
	uint32_t length = first->count - start;
	for (uint32_t rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1) {
		const struct window *lane = matcher->windows[__builtin_ctz(rest)];
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
static void check_rest(const struct matcher *matcher, struct race *race, uint32_t lanes, uint32_t i)
{
	for (uint32_t rest = lanes; rest != 0; rest &= rest - 1) {
		const uint32_t lane = (uint32_t)__builtin_ctz(rest);
		const struct window *window = matcher->windows[lane];
		if (i >= race_caught_up(race, matcher->warp * WARP_SIZE + lane))
			race_instruction(
				race, matcher->warp, window->keys[i], 1u << lane, &window->addresses[i],
				&window->values[i]);
	}
}

static void empty_windows(struct matcher *matcher, struct race *race)
{
	for (uint32_t i = 0; i < matcher->lane_count; i++)
		matcher->windows[i]->count = 0;
	if (race)
		race_forget_windows(race, matcher->warp);
}

static void trace_whole(
	const struct matcher *matcher, struct audience *audience, const struct instruction *instruction)
{
	trace_instruction(
		audience->tracer, matcher->warp, instruction->key, instruction->lanes, instruction->address,
		instruction->count);
}

static void zip(
	const struct matcher *matcher, struct audience *audience, uint32_t lanes, uint32_t start, uint32_t length)
{
	struct race *const race = audience->race;
	const bool has_caught_up = race && race_has_caught_up(race, matcher->warp);
	const struct window *member[WARP_SIZE];
	struct stored value[WARP_SIZE];
	struct instruction instruction = {.lanes = lanes, .count = 0};
	for (uint32_t rest = lanes; rest != 0; rest &= rest - 1)
		member[instruction.count++] = matcher->windows[__builtin_ctz(rest)];
	for (uint32_t i = start; i < start + length; i++) {
		instruction.key = member[0]->keys[i];
		for (unsigned j = 0; j < instruction.count; j++)
			instruction.address[j] = member[j]->addresses[i];
		count_instruction(&audience->tally, &instruction);
		if (audience->tracer) {
			trace_accesses(audience->tracer, instruction.key, instruction.address, instruction.count);
			trace_whole(matcher, audience, &instruction);
		}
		if (!race)
			continue;
		if (has_caught_up) {
			check_rest(matcher, race, lanes, i);
			continue;
		}
		const bool is_store = key_op(instruction.key) == SIM_OP_STORE;
		for (unsigned j = 0; is_store && j < instruction.count; j++)
			value[j] = member[j]->values[i];
		race_instruction(
			race, matcher->warp, instruction.key, lanes, instruction.address, is_store ? value : NULL);
	}
}

static uint32_t lanes_with_records(const struct matcher *matcher, uint32_t start)
{
	uint32_t lanes = 0;
	for (uint32_t i = 0; i < matcher->lane_count; i++)
		lanes |= (uint32_t)(matcher->windows[i]->count > start) << i;
	return lanes;
}

/* Zips as long as lanes are in step; `ended` are those that do nothing more before the next barrier. Returns how
 * many records of each lane were dealt with. */
static uint32_t zip_in_step(struct matcher *matcher, struct audience *audience, uint32_t ended)
{
	uint32_t start = 0, lanes, length;
	uint32_t present = lanes_of(matcher->lane_count);
	while ((lanes = lanes_with_records(matcher, start)) != 0 && (present & ~lanes & ~ended) == 0 &&
	       (length = common_length(matcher, lanes, start)) != 0) {
		zip(matcher, audience, lanes, start, length);
		start += length;
	}
	return start;
}

/* ---- lanes that have parted ---- */

#define NOT_EXECUTED UINT64_MAX /* in the place of an address */

/* Accesses of one key that no other lane has matched yet: a queue a lane. */
struct stream {
	uint64_t key;
	uint32_t follower; /* the stream of the access that came next, last time: a guess */
	struct {
		uint64_t *addresses;
		uint32_t first, count, capacity;
	} queue[WARP_SIZE];
};

static uint32_t stream_slot(const struct matcher *matcher, uint64_t key)
{
	uint32_t mask = matcher->stream_index_size - 1;
	uint32_t at = (uint32_t)((key ^ key >> 29) * 0x9e3779b97f4a7c15u >> 32) & mask;
	while (matcher->stream_index[at] != 0 && matcher->streams[matcher->stream_index[at] - 1].key != key)
		at = (at + 1) & mask;
	return at;
}

static void index_streams(struct matcher *matcher, uint32_t size)
{
	matcher->stream_index_size = size;
	free(matcher->stream_index);
	matcher->stream_index = need(calloc(size, sizeof *matcher->stream_index));
	for (uint32_t i = 0; i < matcher->stream_count; i++)
		matcher->stream_index[stream_slot(matcher, matcher->streams[i].key)] = i + 1;
}

/* The index of a key's stream, opened if need be. */
static uint32_t find_stream(struct matcher *matcher, uint64_t key)
{
	if (2 * (matcher->stream_count + 1) > matcher->stream_index_size)
		index_streams(matcher, matcher->stream_index_size ? 2 * matcher->stream_index_size : 64);
	const uint32_t slot = stream_slot(matcher, key);
	if (matcher->stream_index[slot] == 0) {
		const size_t capacity = matcher->stream_capacity;
		need_room(
			&matcher->streams, &matcher->stream_capacity, matcher->stream_count + 1,
			sizeof *matcher->streams);
		/* Queues keep their memory for the next interval, so what is new must start empty. */
		memset(matcher->streams + capacity, 0,
		       (matcher->stream_capacity - capacity) * sizeof *matcher->streams);
		matcher->streams[matcher->stream_count].key = key;
		matcher->stream_index[slot] = (uint32_t)++matcher->stream_count;
	}
	return matcher->stream_index[slot] - 1;
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
			stream->queue[lane].addresses = need(realloc(
				stream->queue[lane].addresses, stream->queue[lane].capacity * sizeof(uint64_t)));
		}
	}
	stream->queue[lane].addresses[stream->queue[lane].first + stream->queue[lane].count++] = address;
}

/* How many groups at the head of the queues are complete: lanes that have not ended may still add to shorter ones. */
static uint32_t complete_groups(const struct matcher *matcher, const struct stream *stream, uint32_t ended)
{
	uint32_t least = UINT32_MAX, most = 0;
	for (uint32_t lane = 0; lane < matcher->lane_count; lane++) {
		uint32_t count = stream->queue[lane].count;
		most = count > most ? count : most;
		if (!(ended >> lane & 1))
			least = count < least ? count : least;
	}
	return least == UINT32_MAX ? most : least;
}

/* Returns whether something is left in the queues. */
static bool count_stream(
	const struct matcher *matcher, struct audience *audience, struct stream *stream, uint32_t ended)
{
	const uint32_t groups = complete_groups(matcher, stream, ended);
	bool left = false;
	for (uint32_t group = 0; group < groups; group++) {
		struct instruction instruction = {.key = stream->key, .lanes = 0, .count = 0};
		for (uint32_t lane = 0; lane < matcher->lane_count; lane++)
			if (stream->queue[lane].count > group) {
				uint64_t address = stream->queue[lane].addresses[stream->queue[lane].first + group];
				if (address == NOT_EXECUTED)
					continue;
				instruction.lanes |= 1u << lane;
				instruction.address[instruction.count++] = address;
			}
		if (instruction.count == 0)
			continue;
		count_instruction(&audience->tally, &instruction);
		if (audience->tracer)
			trace_whole(matcher, audience, &instruction);
	}
	for (uint32_t lane = 0; lane < matcher->lane_count; lane++) {
		uint32_t taken = stream->queue[lane].count < groups ? stream->queue[lane].count : groups;
		stream->queue[lane].count -= taken;
		stream->queue[lane].first = stream->queue[lane].count == 0 ? 0 : stream->queue[lane].first + taken;
		left |= stream->queue[lane].count > 0;
	}
	return left;
}

static void sort_into_streams(struct matcher *matcher, struct audience *audience, uint32_t start)
{
	struct race *const race = audience->race;
	for (uint32_t i = 0; i < matcher->lane_count; i++) {
		const struct window *lane = matcher->windows[i];
		const uint32_t checked = race ? race_caught_up(race, matcher->warp * WARP_SIZE + i) : 0;
		uint32_t last = 0;
		for (uint32_t r = start; r < lane->count; r++) {
			uint32_t at = last < matcher->stream_count ? matcher->streams[last].follower : 0;
			if (at >= matcher->stream_count || matcher->streams[at].key != lane->keys[r]) {
				at = find_stream(matcher, lane->keys[r]);
				matcher->streams[last].follower = at;
			}
			push(&matcher->streams[at], i, lane->addresses[r]);
			last = at;
			if (audience->tracer)
				trace_accesses(audience->tracer, lane->keys[r], &lane->addresses[r], 1);
			if (race && r >= checked)
				race_instruction(
					race, matcher->warp, lane->keys[r], 1u << i, &lane->addresses[r],
					&lane->values[r]);
		}
	}
}

void match_nothing_more(struct matcher *matcher)
{
	enum { KEPT = 1 << 14 }; /* addresses a queue keeps room for */

	for (size_t s = 0; s < matcher->stream_count; s++)
		for (uint32_t lane = 0; lane < WARP_SIZE; lane++) {
			matcher->streams[s].queue[lane].first = matcher->streams[s].queue[lane].count = 0;
			if (matcher->streams[s].queue[lane].capacity > KEPT) {
				free(matcher->streams[s].queue[lane].addresses);
				matcher->streams[s].queue[lane].addresses = NULL;
				matcher->streams[s].queue[lane].capacity = 0;
			}
		}
	matcher->stream_count = 0;
	if (matcher->stream_index)
		memset(matcher->stream_index, 0, matcher->stream_index_size * sizeof *matcher->stream_index);
	matcher->diverged = false;
}

static void capture_values(struct matcher *matcher)
{
	for (uint32_t i = 0; i < matcher->lane_count; i++)
		if (matcher->windows[i]->pending)
			window_capture(matcher->windows[i]);
}

/* Lanes that meet have done with what came before: one that did not execute an access as often as the others never
 * will join them in it. */
static void level_queues(const struct matcher *matcher, struct stream *stream, uint32_t met)
{
	uint32_t most = 0;
	for (uint32_t lane = 0; lane < matcher->lane_count; lane++)
		if ((met >> lane & 1) && stream->queue[lane].count > most)
			most = stream->queue[lane].count;
	for (uint32_t lane = 0; lane < matcher->lane_count; lane++)
		while ((met >> lane & 1) && stream->queue[lane].count < most)
			push(stream, lane, NOT_EXECUTED);
}

static bool have_same_keys(const struct matcher *matcher, uint32_t lanes)
{
	const struct window *first = matcher->windows[__builtin_ctz(lanes)];
	for (uint32_t rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1) {
		const struct window *lane = matcher->windows[__builtin_ctz(rest)];
		if (lane->count != first->count ||
		    memcmp(lane->keys, first->keys, first->count * sizeof *first->keys) != 0)
			return false;
	}
	return true;
}

void match_meeting(struct matcher *matcher, struct audience *audience, uint32_t ended, uint32_t met)
{
	if (met == lanes_of(matcher->lane_count)) { /* the whole warp: nothing that comes can match what was */
		match_warp(matcher, audience, ~0u, true);
		return;
	}
	capture_values(matcher);
	uint32_t zipped = 0;
	if (!matcher->diverged) {
		/* racecheck wants to see what was before the meeting. */
		if (!audience->race && have_same_keys(matcher, met))
			return;
		zipped = zip_in_step(matcher, audience, ended);
		matcher->diverged = true;
	}
	sort_into_streams(matcher, audience, zipped);
	bool left = false;
	for (size_t s = 0; s < matcher->stream_count; s++) {
		level_queues(matcher, &matcher->streams[s], met);
		left |= count_stream(matcher, audience, &matcher->streams[s], ended);
	}
	if (!left)
		match_nothing_more(matcher);
	empty_windows(matcher, audience->race);
}

void match_warp(struct matcher *matcher, struct audience *audience, uint32_t ended, bool final)
{
	capture_values(matcher);
	uint32_t zipped = 0;
	if (!matcher->diverged) {
		zipped = zip_in_step(matcher, audience, ended);
		matcher->diverged = lanes_with_records(matcher, zipped) != 0;
	}
	if (matcher->diverged) {
		sort_into_streams(matcher, audience, zipped);
		for (size_t s = 0; s < matcher->stream_count; s++)
			count_stream(matcher, audience, &matcher->streams[s], ended);
		if (final)
			match_nothing_more(matcher);
	}
	empty_windows(matcher, audience->race);
}
