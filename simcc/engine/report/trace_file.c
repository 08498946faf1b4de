/*
 * The file of SIM_TRACE: launch after launch, in each the blocks in linear order, up to a limit.
 *
 * A launch is written when it has ended, so that what is in the file is complete whenever a program is killed. Blocks
 * end in any order; of those that lie past the limit no text is kept, so memory is bounded by the limit, too.
 */
#include "report/trace.h"

#include <errno.h>
#include <inttypes.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct traced_launch {
	const struct request *request;
	size_t room;          /* bytes the launch may fill */
	pthread_mutex_t lock; /* guards what follows */
	struct traced_block *blocks;
	size_t count, capacity;
	size_t length;   /* of all blocks' text */
	size_t looks_at; /* the length at which what does not fit is dropped */
	/* Blocks from this linear index on do not fit, of those that are run as this one or later. */
	_Atomic uint64_t beyond, beyond_from;
	uint64_t *ended; /* a bit for each block, in the order in which they are run: it can fail no more */
	uint64_t ends;   /* all blocks that are here came before this one */
};

static struct {
	char *path;
	FILE *file; /* NULL: nothing is traced */
	size_t room;
	uint64_t lines;
	bool failed;
} trace;

/* A trace is begun, and a file that cannot be written refused, even if the program launches nothing. */
__attribute__((constructor)) static void open_at_start(void)
{
	const char *path = sim_options()->trace_path;
	if (!path)
		return;
	if (!sim_is_counting()) {
		fprintf(stderr, "SIM_TRACE=%s: ignored: a --fast program counts nothing\n", path);
		return;
	}
	if (sim_trace(path) != 0) {
		fprintf(stderr, "SIM_TRACE=%s: cannot be written: %s\n", path, strerror(errno));
		exit(3);
	}
}

static void close_file(void)
{
	if (trace.file && trace.file != stdout && fclose(trace.file) != 0)
		trace.failed = true;
	trace.file = NULL;
}

int sim_trace(const char *path)
{
	close_file();
	if (!path)
		return trace.failed ? -1 : 0;
	if (!sim_is_counting()) {
		errno = ENOTSUP;
		return -1;
	}
	free(trace.path);
	trace.path = need(strdup(path));
	trace.room = sim_options()->trace_limit;
	trace.lines = 0;
	trace.failed = false;
	trace.file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	return trace.file ? 0 : -1;
}

bool trace_has_failed(void)
{
	return trace.failed;
}

/* ---- during a launch ---- */

struct traced_launch *trace_open_launch(const struct request *request)
{
	if (!trace.file)
		return NULL;
	struct traced_launch *traced = need(calloc(1, sizeof *traced));
	traced->request = request;
	traced->room = trace.room;
	traced->looks_at = 2 * traced->room;
	traced->beyond = UINT64_MAX;
	traced->ended = need(calloc((uint64_t)request->grid.x * request->grid.y * request->grid.z / 64 + 1, 8));
	pthread_mutex_init(&traced->lock, NULL);
	return traced;
}

const struct request *trace_request(const struct traced_launch *traced)
{
	return traced->request;
}

size_t trace_room(const struct traced_launch *traced)
{
	return traced->room;
}

bool trace_is_beyond(const struct traced_launch *traced, uint64_t linear, uint64_t order)
{
	return linear >= traced->beyond && order >= traced->beyond_from;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct traced_block *first = a, *second = b;
	return (first->linear > second->linear) - (first->linear < second->linear);
}

static void free_block(struct traced_block *block)
{
	free(block->text);
	free(block->objects);
}

/* The first block from `order` on that may still fail: it has not ended. */
static uint64_t next_to_end(const struct traced_launch *traced, uint64_t order)
{
	while (order < traced->ends && traced->ended[order / 64] >> order % 64 & 1)
		order++;
	return order;
}

static void sort(struct traced_launch *traced)
{
	if (traced->count > 1)
		qsort(traced->blocks, traced->count, sizeof *traced->blocks, compare_blocks);
}

/* If `last` fails, those up to it are written. Those of them that came from `first` on stay if they fit. Returns the linear
 * index from which on nothing does. Sorted. */
static uint64_t keep_what_fits(struct traced_launch *traced, uint64_t first, uint64_t last)
{
	size_t length = 0;
	for (size_t i = 0; i < traced->count; i++) {
		struct traced_block *block = &traced->blocks[i];
		if (block->order > last)
			continue;
		block->stays |= block->order >= first;
		length += block->length;
		if (length > traced->room || block->cut)
			return block->linear + 1;
	}
	return UINT64_MAX;
}

static void drop_the_others(struct traced_launch *traced)
{
	size_t kept = 0;
	traced->length = 0;
	for (size_t i = 0; i < traced->count; i++)
		if (traced->blocks[i].stays) {
			traced->length += traced->blocks[i].length;
			traced->blocks[kept] = traced->blocks[i];
			traced->blocks[kept++].stays = false; /* until it is looked at again */
		} else {
			free_block(&traced->blocks[i]);
		}
	traced->count = kept;
	traced->looks_at = traced->length + traced->room;
}

/* Drops the blocks that will never be written, whichever of those that have not ended fails. */
static void drop_what_is_beyond(struct traced_launch *traced)
{
	uint64_t first = 0, last, beyond;
	sort(traced);
	do {
		last = next_to_end(traced, first);
		beyond = keep_what_fits(traced, first, last);
		first = last + 1;
	} while (last < traced->ends);
	if (beyond != UINT64_MAX) {
		traced->beyond_from = traced->ends;
		traced->beyond = beyond;
	}
	drop_the_others(traced);
}

void trace_add_block(struct traced_launch *traced, const struct traced_block *block)
{
	pthread_mutex_lock(&traced->lock);
	need_room(&traced->blocks, &traced->capacity, traced->count + 1, sizeof *traced->blocks);
	traced->blocks[traced->count++] = *block;
	traced->length += block->length;
	if (traced->ends < block->order + 1)
		traced->ends = block->order + 1;
	if (block->cut || traced->length > traced->looks_at) /* not at each block: it sorts */
		drop_what_is_beyond(traced);
	pthread_mutex_unlock(&traced->lock);
}

void trace_can_fail_no_more(struct traced_launch *traced, uint64_t order)
{
	pthread_mutex_lock(&traced->lock);
	traced->ended[order / 64] |= (uint64_t)1 << order % 64;
	pthread_mutex_unlock(&traced->lock);
}

/* ---- after it ---- */

static int compare_objects(const void *a, const void *b)
{
	return trace_compare_objects(a, b);
}

/* What the lines of the launch name. */
static void write_tensors(FILE *out, const struct traced_launch *traced)
{
	const size_t most = trace_object_count();
	bool *named = need(calloc(most, sizeof *named));
	struct object *object = need(calloc(most, sizeof *object));
	size_t count = 0;
	for (size_t i = 0; i < traced->count; i++)
		for (size_t j = 0; j < traced->blocks[i].object_count; j++) {
			const uint32_t number = traced->blocks[i].objects[j];
			if (!named[number])
				object[count++] = trace_object(traced->request, number);
			named[number] = true;
		}
	qsort(object, count, sizeof *object, compare_objects);
	for (size_t i = 0; i < count; i++) {
		fprintf(out, "%s{\"tensor\":", i > 0 ? "," : "");
		write_json_string(out, object[i].name);
		fprintf(out, ",\"space\":\"%s\",\"bytes\":%zu}", space_name(object[i].space), object[i].size);
	}
	free(named);
	free(object);
}

static void write_head(FILE *out, const struct traced_launch *traced, cudaError_t error)
{
	const struct request *launch = traced->request;
	const struct sim_function *function = launch->function;
	fprintf(out, "{\"type\":\"launch\",\"launch\":%u,\"kernel\":", launch->number - 1);
	write_json_string(out, function ? function->name : launch->name);
	fprintf(out, ",\"template\":");
	write_json_string(out, function ? function->template_args : "");
	fprintf(out, ",\"file\":");
	write_json_string(out, function ? function->file : "");
	fprintf(out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"tensors\":[", launch->grid.x, launch->grid.y,
	        launch->grid.z, launch->block.x, launch->block.y, launch->block.z);
	write_tensors(out, traced);
	fprintf(out, "]");
	if (error != cudaSuccess)
		fprintf(out, ",\"error\":\"%s\"", cudaGetErrorName(error));
	fprintf(out, "}\n");
}

/* Writes the whole lines of `text` that fit; false if that is not all of them. */
static bool write_lines(const char *text, size_t length)
{
	const size_t fitting = length <= trace.room ? length : trace.room;
	size_t whole = 0;
	for (const char *line = text, *end; line < text + fitting; line = end + 1) {
		if (!(end = memchr(line, '\n', (size_t)(text + fitting - line))))
			break;
		whole = (size_t)(end + 1 - text);
		trace.lines++;
	}
	fwrite(text, 1, whole, trace.file);
	trace.room -= whole;
	return whole == length;
}

static bool write_launch(struct traced_launch *traced, uint64_t failed_order, cudaError_t error)
{
	/* Of blocks that ran after the one that failed, or beside it, nobody knows how far they came. */
	sort(traced);
	keep_what_fits(traced, 0, failed_order);
	drop_the_others(traced);
	char *head;
	size_t length;
	FILE *out = need(open_memstream(&head, &length));
	write_head(out, traced, error);
	if (fclose(out) != 0)
		out_of_memory();
	bool fits = write_lines(head, length);
	free(head);
	for (size_t i = 0; i < traced->count && fits; i++)
		fits = write_lines(traced->blocks[i].text, traced->blocks[i].length) && !traced->blocks[i].cut;
	return fits;
}

static void end_trace(const struct request *launch)
{
	const size_t limit = sim_options()->trace_limit;
	fprintf(trace.file, "{\"type\":\"truncated\",\"launch\":%u,\"lines\":%" PRIu64 ",\"limit_bytes\":%zu}\n",
	        launch->number - 1, trace.lines, limit);
	/* A program that called sim_trace has no SIM_TRACE to be told of: the last line tells it. */
	if (!sim_options()->trace_path || strcmp(trace.path, sim_options()->trace_path) != 0)
		return;
	fflush(stdout);
	fprintf(stderr, "SIM_TRACE=%s: ended after %" PRIu64 " lines, at its limit of %zu MB (SIM_TRACE_LIMIT)\n",
	        trace.path, trace.lines, limit >> 20);
}

static void give_up(off_t whole)
{
	fprintf(stderr, "SIM_TRACE=%s: cannot be written: %s\n", trace.path, strerror(errno));
	trace.failed = true;
	if (trace.file != stdout) {
		fclose(trace.file);
		if (whole >= 0 && truncate(trace.path, whole) != 0)
			errno = 0; /* no file that could be shortened: /dev/full */
	}
	trace.file = NULL;
}

void trace_close_launch(struct traced_launch *traced, uint64_t failed_order, cudaError_t error)
{
	const off_t whole = ftello(trace.file);
	const bool fits = write_launch(traced, failed_order, error);
	if (!fits)
		end_trace(traced->request);
	if (fflush(trace.file) != 0 || ferror(trace.file))
		give_up(whole);
	else if (!fits)
		close_file();
	for (size_t i = 0; i < traced->count; i++)
		free_block(&traced->blocks[i]);
	free(traced->blocks);
	free(traced->ended);
	pthread_mutex_destroy(&traced->lock);
	free(traced);
}
