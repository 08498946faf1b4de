/*
 * What a block touches between two barriers: for each allocation or shared array and each kind of access the bytes
 * asked for, one bit for each byte that was touched, and the places in the source. At the barrier they become lines,
 * and all is empty again.
 *
 * Bits, because they do not care in which order threads come: the ranges are read off them sorted and merged.
 */
#include "report/trace.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { OPS = 3 };

/* A page is the bits of 4 KB. */
enum { PAGE_SHIFT = 12, PAGE_BYTES = 1 << PAGE_SHIFT, PAGE_WORDS = PAGE_BYTES / 64 };

/* What was done to one object by one kind of access. */
struct touched {
	struct object object;
	enum sim_op op;
	uint64_t bytes;
	uint64_t **pages; /* NULL where nothing was ever touched */
	uint32_t *dirty;  /* pages with bits in them */
	size_t dirty_count, dirty_capacity;
	uint32_t *sites;
	size_t site_count, site_capacity;
};

struct tracer {
	struct traced_launch *launch;
	uint3 block;
	uint64_t linear, order; /* of the block: x + width * (y + height * z), and in which it is run */
	uint32_t interval;      /* barriers it has passed */
	size_t object_count;
	struct object last;       /* found: the next access is likely to be there, too */
	struct touched **touched; /* by object number * OPS + op; NULL until needed */
	struct touched **active;  /* in this interval */
	size_t active_count;
	bool *seen;        /* by object number: the block has touched it */
	uint32_t *objects; /* those it has */
	size_t objects_seen, objects_capacity;
	size_t room; /* bytes of lines the block may fill */
	FILE *out;   /* the block's lines; NULL before the first */
	char *text;
	size_t length, whole;      /* length: of the text when out was last flushed; whole: of its whole lines */
	struct requests *requests; /* NULL: only what is touched */
	bool deaf;                 /* this block is not traced, or not any more */
	bool cut;
};

struct tracer *trace_open_worker(struct traced_launch *launch)
{
	struct tracer *tracer = need(calloc(1, sizeof *tracer));
	tracer->launch = launch;
	tracer->object_count = trace_object_count();
	tracer->touched = need(calloc(tracer->object_count * OPS, sizeof *tracer->touched));
	tracer->active = need(calloc(tracer->object_count * OPS, sizeof *tracer->active));
	tracer->seen = need(calloc(tracer->object_count, sizeof *tracer->seen));
	tracer->room = trace_room(launch);
	tracer->requests = requests_open(trace_request(launch));
	return tracer;
}

static void close_touched(struct touched *touched)
{
	if (!touched)
		return;
	for (size_t page = 0; page <= touched->object.size >> PAGE_SHIFT; page++)
		free(touched->pages[page]);
	free(touched->pages);
	free(touched->dirty);
	free(touched->sites);
	free(touched);
}

void trace_close_worker(struct tracer *tracer)
{
	for (size_t i = 0; i < tracer->object_count * OPS; i++)
		close_touched(tracer->touched[i]);
	if (tracer->requests)
		requests_close(tracer->requests);
	free(tracer->touched);
	free(tracer->active);
	free(tracer->seen);
	free(tracer);
}

/* ---- collecting ---- */

static void append_number(uint32_t **numbers, size_t *count, size_t *capacity, uint32_t number)
{
	need_room(numbers, capacity, *count + 1, sizeof **numbers);
	(*numbers)[(*count)++] = number;
}

static struct touched *open_touched(const struct object *object, enum sim_op op)
{
	struct touched *touched = need(calloc(1, sizeof *touched));
	touched->object = *object;
	touched->op = op;
	touched->pages = need(calloc((object->size >> PAGE_SHIFT) + 1, sizeof *touched->pages));
	return touched;
}

static struct touched *touch(struct tracer *tracer, uint64_t key, uintptr_t address)
{
	if (address - tracer->last.first >= tracer->last.size)
		tracer->last =
			trace_object(trace_request(tracer->launch), trace_find_object(key_space(key), address));
	struct touched **place = &tracer->touched[tracer->last.number * OPS + key_op(key)];
	if (!*place)
		*place = open_touched(&tracer->last, key_op(key));
	if ((*place)->bytes == 0)
		tracer->active[tracer->active_count++] = *place;
	if (!tracer->seen[tracer->last.number])
		append_number(
			&tracer->objects, &tracer->objects_seen, &tracer->objects_capacity, tracer->last.number);
	tracer->seen[tracer->last.number] = true;
	return *place;
}

static bool is_empty(const uint64_t *words)
{
	uint64_t any = 0;
	for (size_t i = 0; i < PAGE_WORDS; i++)
		any |= words[i];
	return any == 0;
}

static void mark(struct touched *touched, size_t offset, size_t length)
{
	while (length > 0) {
		const size_t page = offset >> PAGE_SHIFT, bit = offset & 63;
		const size_t part = length < 64 - bit ? length : 64 - bit;
		if (!touched->pages[page])
			touched->pages[page] = need(calloc(PAGE_WORDS, sizeof(uint64_t)));
		uint64_t *word = &touched->pages[page][(offset & (PAGE_BYTES - 1)) >> 6];
		if (*word == 0 && is_empty(touched->pages[page]))
			append_number(
				&touched->dirty, &touched->dirty_count, &touched->dirty_capacity, (uint32_t)page);
		*word |= ~(uint64_t)0 >> (64 - part) << bit;
		offset += part;
		length -= part;
	}
}

static void note_site(struct touched *touched, uint32_t site)
{
	for (size_t i = touched->site_count; i-- > 0;)
		if (touched->sites[i] == site)
			return;
	if (site_at(site) && site_at(site)->line != 0)
		append_number(&touched->sites, &touched->site_count, &touched->site_capacity, site);
}

static void note_range(struct touched *touched, uint64_t key, size_t offset, size_t bytes)
{
	mark(touched, offset, bytes);
	note_site(touched, key_site(key));
	touched->bytes += bytes;
}

static void trace_copy(struct tracer *tracer, uint64_t key, uintptr_t address, unsigned bytes)
{
	if (bytes == 0)
		return;
	struct touched *touched = touch(tracer, key, address);
	note_range(touched, key, address - touched->object.first, bytes);
}

void trace_accesses(struct tracer *tracer, uint64_t key, const uint64_t *address, unsigned count)
{
	if (tracer->deaf)
		return;
	if (key_space(key) == SIM_LOCAL) {
		for (unsigned i = 0; i < count && key_op(key) == SIM_OP_LOAD; i++)
			trace_copy(
				tracer, as_space(key, SIM_GLOBAL), address_read(address[i]),
				bytes_read(key, address[i]));
		return;
	}
	const unsigned size = key_size(key);
	for (unsigned i = 0, run; i < count; i += run) {
		struct touched *touched = touch(tracer, key, address[i]);
		const size_t offset = address[i] - touched->object.first;
		/* Neighbors are taken together. */
		for (run = 1; i + run < count && address[i + run] == address[i] + (uint64_t)run * size; run++)
			if (offset + (run + 1) * size > touched->object.size)
				break;
		note_range(touched, key, offset, (size_t)run * size);
	}
}

/* Of the lanes that read anything. */
static void trace_copies(struct tracer *tracer, uint32_t warp, uint64_t key, uint32_t lanes, const uint64_t *address)
{
	uint64_t read[WARP_SIZE];
	uint32_t readers = 0;
	unsigned count = 0;
	for (uint32_t rest = key_op(key) == SIM_OP_LOAD ? lanes : 0, i = 0; rest != 0; rest &= rest - 1, i++)
		if (bytes_read(key, address[i]) > 0) {
			read[count++] = address_read(address[i]);
			readers |= rest & -rest;
		}
	if (count > 0)
		requests_add(tracer->requests, warp, as_space(key, SIM_GLOBAL), readers, read, count);
}

void trace_instruction(
	struct tracer *tracer, uint32_t warp, uint64_t key, uint32_t lanes, const uint64_t *address, unsigned count)
{
	if (!tracer->requests || tracer->deaf)
		return;
	if (key_space(key) == SIM_LOCAL)
		trace_copies(tracer, warp, key, lanes, address);
	else
		requests_add(tracer->requests, warp, key, lanes, address, count);
}

/* ---- making lines ---- */

static int compare_touched(const void *a, const void *b)
{
	const struct touched *first = *(struct touched *const *)a, *second = *(struct touched *const *)b;
	const int order = trace_compare_objects(&first->object, &second->object);
	return order != 0 ? order : (first->op > second->op) - (first->op < second->op);
}

static int compare_numbers(const void *a, const void *b)
{
	const uint32_t first = *(const uint32_t *)a, second = *(const uint32_t *)b;
	return (first > second) - (first < second);
}

/* False when the block's room is used up: what has no room need not be made. */
static bool has_room(struct tracer *tracer)
{
	const long length = ftell(tracer->out);
	return length >= 0 && (size_t)length <= tracer->room;
}

/* The position of the first byte from `offset` on that is (or is not) touched, up to the end of its page. */
static size_t find_edge(const uint64_t *words, size_t offset, bool is_touched)
{
	while (offset < PAGE_BYTES) {
		uint64_t bits = (is_touched ? words[offset >> 6] : ~words[offset >> 6]) >> (offset & 63);
		if (bits != 0)
			return offset + (size_t)__builtin_ctzll(bits);
		offset = (offset | 63) + 1;
	}
	return PAGE_BYTES;
}

static void write_ranges(struct tracer *tracer, struct touched *touched)
{
	size_t first = 0, end = 0; /* the range that is open: it may go on in the next page */
	const char *separator = "";
	qsort(touched->dirty, touched->dirty_count, sizeof *touched->dirty, compare_numbers);
	for (size_t i = 0; i < touched->dirty_count && has_room(tracer); i++) {
		const size_t base = (size_t)touched->dirty[i] << PAGE_SHIFT;
		const uint64_t *words = touched->pages[touched->dirty[i]];
		for (size_t at = find_edge(words, 0, true); at < PAGE_BYTES; at = find_edge(words, at, true)) {
			if (base + at != end && end > first) {
				fprintf(tracer->out, "%s[%zu,%zu]", separator, first, end);
				separator = ",";
			}
			if (base + at != end)
				first = base + at;
			at = find_edge(words, at, false);
			end = base + at;
		}
	}
	fprintf(tracer->out, "%s[%zu,%zu]", separator, first, end);
}

/* By line; those of other files than the kernel's come last, by file. */
static int compare_sites(const void *a, const void *b, void *kernel_file)
{
	const struct sim_site *first = site_at(*(const uint32_t *)a), *second = site_at(*(const uint32_t *)b);
	const bool first_elsewhere = strcmp(first->file, kernel_file) != 0;
	const bool second_elsewhere = strcmp(second->file, kernel_file) != 0;
	const int order = strcmp(first->file, second->file);
	if (first_elsewhere != second_elsewhere)
		return first_elsewhere ? 1 : -1;
	return order != 0 ? order : (first->line > second->line) - (first->line < second->line);
}

static void write_places(FILE *out, struct touched *touched, const char *kernel_file)
{
	const struct sim_site *last = NULL;
	if (touched->site_count > 1)
		qsort_r(touched->sites, touched->site_count, sizeof *touched->sites, compare_sites,
		        (void *)kernel_file);
	for (size_t i = 0; i < touched->site_count; i++) {
		const struct sim_site *site = site_at(touched->sites[i]);
		if (last && last->line == site->line && strcmp(last->file, site->file) == 0)
			continue;
		if (last)
			fputc(',', out);
		if (strcmp(site->file, kernel_file) == 0) {
			fprintf(out, "%u", site->line);
		} else {
			char place[600];
			snprintf(place, sizeof place, "%.500s:%u", site->file, site->line);
			write_json_string(out, place);
		}
		last = site;
	}
}

/* How each line begins. */
static void write_place_in_launch(struct tracer *tracer)
{
	const struct request *launch = trace_request(tracer->launch);
	FILE *out = tracer->out;
	fprintf(out, "{\"launch\":%u,\"kernel\":", launch->number - 1);
	write_json_string(out, launch->function ? launch->function->name : launch->name);
	fprintf(out, ",\"block\":[%u,%u,%u],\"interval\":%u,", tracer->block.x, tracer->block.y, tracer->block.z,
	        tracer->interval);
}

static void write_line(struct tracer *tracer, struct touched *touched)
{
	static const char *const ops[OPS] = {"load", "store", "atomic"};
	const struct sim_function *function = trace_request(tracer->launch)->function;
	FILE *out = tracer->out;
	write_place_in_launch(tracer);
	fprintf(out, "\"space\":\"%s\",\"tensor\":", space_name(touched->object.space));
	write_json_string(out, touched->object.name);
	fprintf(out, ",\"op\":\"%s\",\"bytes\":%" PRIu64 ",\"ranges\":[", ops[touched->op], touched->bytes);
	write_ranges(tracer, touched);
	fprintf(out, "],\"lines\":[");
	write_places(out, touched, function ? function->file : "");
	fprintf(out, "]}\n");
}

/* Keeps the line that was written last, where there is room for it; hears nothing more where there is none. */
static void end_line(struct tracer *tracer)
{
	if (has_room(tracer))
		tracer->whole = (size_t)ftell(tracer->out);
	else
		tracer->deaf = tracer->cut = true;
}

static void write_requests(struct tracer *tracer)
{
	for (uint32_t warp = 0; warp < MAX_WARPS && !tracer->deaf; warp++) {
		if (!requests_any(tracer->requests, warp))
			continue;
		write_place_in_launch(tracer);
		requests_write(tracer->requests, warp, tracer->out);
		fprintf(tracer->out, "}\n");
		end_line(tracer);
	}
	requests_forget(tracer->requests);
}

static void forget(struct touched *touched)
{
	for (size_t i = 0; i < touched->dirty_count; i++)
		memset(touched->pages[touched->dirty[i]], 0, PAGE_WORDS * sizeof(uint64_t));
	touched->dirty_count = touched->site_count = 0;
	touched->bytes = 0;
}

void trace_end_interval(struct tracer *tracer)
{
	if (tracer->active_count > 0 && !tracer->out)
		tracer->out = need(open_memstream(&tracer->text, &tracer->length));
	if (tracer->active_count > 1)
		qsort(tracer->active, tracer->active_count, sizeof *tracer->active, compare_touched);
	for (size_t i = 0; i < tracer->active_count; i++) {
		if (!tracer->deaf) {
			write_line(tracer, tracer->active[i]);
			end_line(tracer);
		}
		forget(tracer->active[i]);
	}
	if (tracer->requests && tracer->active_count > 0)
		write_requests(tracer);
	tracer->active_count = 0;
	tracer->interval++;
}

/* ---- a block ---- */

void trace_begin_block(struct tracer *tracer, uint3 block, uint64_t order)
{
	const dim3 grid = trace_request(tracer->launch)->grid;
	tracer->block = block;
	tracer->linear = block.x + (uint64_t)grid.x * (block.y + (uint64_t)grid.y * block.z);
	tracer->order = order;
	tracer->interval = 0;
	tracer->out = NULL;
	tracer->whole = 0;
	tracer->cut = false;
	tracer->deaf = trace_is_beyond(tracer->launch, tracer->linear, order);
}

static void hand_over(struct tracer *tracer)
{
	if (fclose(tracer->out) != 0)
		out_of_memory();
	trace_add_block(
		tracer->launch, &(struct traced_block){
					.linear = tracer->linear,
					.order = tracer->order,
					.text = tracer->text,
					.length = tracer->whole,
					.objects = tracer->objects,
					.object_count = tracer->objects_seen,
					.cut = tracer->cut});
	tracer->out = NULL;
	tracer->objects = NULL;
	tracer->objects_seen = tracer->objects_capacity = 0;
}

void trace_end_block(struct tracer *tracer, bool has_failed)
{
	trace_end_interval(tracer);
	for (size_t i = 0; i < tracer->objects_seen; i++)
		tracer->seen[tracer->objects[i]] = false;
	if (tracer->out)
		hand_over(tracer);
	if (!has_failed)
		trace_can_fail_no_more(tracer->launch, tracer->order);
}
