/*
 * SIM_TRACE_REQUESTS: the trace has the requests of each warp, too, in the order in which the warp made them. They are
 * collected as text for each warp, and become one line a warp at the end of an interval:
 *
 *     "sites":[["tile.cuh:7",12,"shared","load",4,"tile"],...],"requests":[[0,4294967295,128,"+4"],...]
 *
 * A request is the position of its site in `sites`, its lanes as a mask, the offset of the first active lane in its
 * tensor, and how the other active lanes lie from there: "+4" is 4 bytes further for each lane, else a list of offsets.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "report/trace.h"

/* One access of the source on one tensor: what a request names. */
struct place {
	uint64_t key;
	struct object object;
};

struct warp_requests {
	FILE *out; /* the requests; NULL where there are none */
	char *text;
	size_t length;
	struct place *places;
	size_t count, capacity, last;
};

struct requests {
	const struct request *launch;
	struct warp_requests warps[MAX_WARPS];
};

struct requests *requests_open(const struct request *launch)
{
	if (!sim_options()->trace_requests)
		return NULL;
	struct requests *requests = need(calloc(1, sizeof *requests));
	requests->launch = launch;
	return requests;
}

static void forget(struct warp_requests *warp)
{
	if (warp->out)
		fclose(warp->out);
	free(warp->text);
	warp->out = NULL;
	warp->text = NULL;
	warp->count = warp->last = 0;
}

void requests_forget(struct requests *requests)
{
	for (int i = 0; i < MAX_WARPS; i++)
		forget(&requests->warps[i]);
}

void requests_close(struct requests *requests)
{
	requests_forget(requests);
	for (int i = 0; i < MAX_WARPS; i++)
		free(requests->warps[i].places);
	free(requests);
}

static bool is_at(const struct place *place, uint64_t key, uint64_t address)
{
	return place->key == key && address - place->object.first < place->object.size;
}

/* The position of a place, which is likely to be the one behind the last. */
static size_t place_of(const struct requests *requests, struct warp_requests *warp, uint64_t key, uint64_t address)
{
	for (size_t i = 0; i < warp->count; i++) {
		const size_t at = (warp->last + 1 + i) % warp->count;
		if (is_at(&warp->places[at], key, address))
			return at;
	}
	need_room(&warp->places, &warp->capacity, warp->count + 1, sizeof *warp->places);
	const uint32_t number = trace_find_object(key_space(key), address);
	warp->places[warp->count] = (struct place){key, trace_object(requests->launch, number)};
	return warp->count++;
}

/* Bytes from one lane to the next, where they are the same between all active lanes. */
static bool is_regular(uint32_t lanes, const uint64_t *address, int64_t *step)
{
	const int first = __builtin_ctz(lanes);
	unsigned i = 1;
	*step = 0;
	for (uint32_t rest = lanes & (lanes - 1); rest != 0; rest &= rest - 1, i++) {
		const int64_t distance = (int64_t)(address[i] - address[0]);
		const int lane = __builtin_ctz(rest) - first;
		if (i == 1)
			*step = distance / lane;
		if (distance != *step * lane)
			return false;
	}
	return true;
}

void requests_add(
	struct requests *requests, uint32_t number, uint64_t key, uint32_t lanes, const uint64_t *address,
	unsigned count)
{
	struct warp_requests *warp = &requests->warps[number];
	int64_t step;
	if (!warp->out)
		warp->out = need(open_memstream(&warp->text, &warp->length));
	warp->last = place_of(requests, warp, key, address[0]);
	fprintf(warp->out, "%s[%zu,%" PRIu32 ",%" PRIu64 ",\"", ftell(warp->out) > 0 ? "," : "", warp->last, lanes,
	        address[0] - warp->places[warp->last].object.first);
	if (is_regular(lanes, address, &step))
		fprintf(warp->out, "%+" PRId64, step);
	else
		for (unsigned i = 0; i < count; i++)
			fprintf(warp->out, "%s%" PRId64, i > 0 ? "," : "", (int64_t)(address[i] - address[0]));
	fprintf(warp->out, "\"]");
}

static void write_place(FILE *out, const struct place *place)
{
	static const char *const ops[] = {"load", "store", "atomic"};
	const struct sim_site *site = site_at(key_site(place->key));
	char text[600] = "";
	if (site && site->line != 0)
		snprintf(text, sizeof text, "%.500s:%u", site->file, site->line);
	fputc('[', out);
	write_json_string(out, text);
	fprintf(out, ",%u,\"%s\",\"%s\",%u,", site ? site->column : 0, space_name(key_space(place->key)),
	        ops[key_op(place->key)], key_size(place->key));
	write_json_string(out, place->object.name);
	fputc(']', out);
}

bool requests_any(const struct requests *requests, uint32_t number)
{
	return requests->warps[number].out;
}

void requests_write(struct requests *requests, uint32_t number, FILE *out)
{
	struct warp_requests *warp = &requests->warps[number];
	if (fclose(warp->out) != 0)
		out_of_memory();
	warp->out = NULL;
	fprintf(out, "\"warp\":%" PRIu32 ",\"sites\":[", number);
	for (size_t i = 0; i < warp->count; i++) {
		if (i > 0)
			fputc(',', out);
		write_place(out, &warp->places[i]);
	}
	fprintf(out, "],\"requests\":[%s]", warp->text);
}
