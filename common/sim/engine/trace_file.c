/*
 * The file of SIM_TRACE: launch after launch, in each the blocks in linear order, up to a limit.
 *
 * A launch is written when it has ended, so that what is in the file is complete whenever a program is killed. Blocks
 * end in any order; of those that lie past the limit no text is kept, so memory is bounded by the limit, too.
 */
#include "trace.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

struct traced_launch {
	size_t room; /* bytes the launch may fill */
	struct traced_block *blocks;
	size_t count, capacity;
	size_t length;           /* of all blocks' text */
	_Atomic uint64_t beyond; /* blocks from this linear index on do not fit */
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

	if (path == NULL)
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
	if (trace.file != NULL && trace.file != stdout && fclose(trace.file) != 0)
		trace.failed = true;
	trace.file = NULL;
}

int sim_trace(const char *path)
{
	close_file();
	if (path == NULL)
		return trace.failed ? -1 : 0;
	if (!sim_is_counting()) {
		errno = ENOTSUP;
		return -1;
	}
	free(trace.path);
	trace.path = strdup(path);
	trace.room = sim_options()->trace_limit;
	trace.lines = 0;
	trace.failed = false;
	trace.file = strcmp(path, "-") == 0 ? stdout : fopen(path, "w");
	return trace.file != NULL ? 0 : -1;
}

bool trace_has_failed(void)
{
	return trace.failed;
}

/* ---- during a launch ---- */

void trace_open_launch(struct launch *launch)
{
	launch->trace = trace.file != NULL ? calloc(1, sizeof *launch->trace) : NULL;
	if (launch->trace == NULL)
		return;
	launch->trace->room = trace.room;
	launch->trace->beyond = UINT64_MAX;
}

size_t trace_room(const struct launch *launch)
{
	return launch->trace->room;
}

bool trace_is_beyond(const struct launch *launch, uint64_t linear)
{
	return linear >= launch->trace->beyond;
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

/* Sorts the blocks. Where the first ones fill the room, the others will never be written. */
static void drop_what_is_beyond(struct traced_launch *traced)
{
	size_t kept = 0, length = 0;
	bool is_full = false;

	if (traced->count > 1)
		qsort(traced->blocks, traced->count, sizeof *traced->blocks, compare_blocks);
	while (kept < traced->count && !is_full) {
		length += traced->blocks[kept].length;
		is_full = length > traced->room || traced->blocks[kept].cut;
		kept++;
	}
	if (!is_full)
		return;
	traced->beyond = traced->blocks[kept - 1].linear + 1;
	for (size_t i = kept; i < traced->count; i++)
		free_block(&traced->blocks[i]);
	traced->count = kept;
	traced->length = length;
}

/* Blocks that ran after the one that failed, or beside it: nobody knows how far they came. */
static void drop_what_came_later(struct traced_launch *traced, uint64_t failed_order)
{
	size_t kept = 0;

	for (size_t i = 0; i < traced->count; i++)
		if (traced->blocks[i].order <= failed_order)
			traced->blocks[kept++] = traced->blocks[i];
		else
			free_block(&traced->blocks[i]);
	traced->count = kept;
}

void trace_add_block(struct launch *launch, const struct traced_block *block)
{
	struct traced_launch *traced = launch->trace;

	pthread_mutex_lock(&launch->lock);
	if (traced->count == traced->capacity) {
		traced->capacity = traced->capacity ? 2 * traced->capacity : 64;
		traced->blocks = realloc(traced->blocks, traced->capacity * sizeof *traced->blocks);
		if (traced->blocks == NULL)
			abort();
	}
	traced->blocks[traced->count++] = *block;
	traced->length += block->length;
	if (block->cut || traced->length > 2 * traced->room) /* not at each block: it sorts */
		drop_what_is_beyond(traced);
	pthread_mutex_unlock(&launch->lock);
}

/* ---- after it ---- */

static int compare_objects(const void *a, const void *b)
{
	return trace_compare_objects(a, b);
}

/* What the lines of the launch name. */
static void write_tensors(FILE *out, const struct launch *launch)
{
	const struct traced_launch *traced = launch->trace;
	const size_t most = trace_object_count();
	bool *named = calloc(most, sizeof *named);
	struct object *object = calloc(most, sizeof *object);
	size_t count = 0;

	if (named == NULL || object == NULL)
		abort();
	for (size_t i = 0; i < traced->count; i++)
		for (size_t j = 0; j < traced->blocks[i].object_count; j++) {
			const uint32_t number = traced->blocks[i].objects[j];

			if (!named[number])
				object[count++] = trace_object(launch, number);
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

static void write_head(FILE *out, const struct launch *launch)
{
	const struct sim_function *function = launch->function;

	fprintf(out, "{\"type\":\"launch\",\"launch\":%u,\"kernel\":", launch->number - 1);
	write_json_string(out, function != NULL ? function->name : launch->name);
	fprintf(out, ",\"template\":");
	write_json_string(out, function != NULL ? function->template_args : "");
	fprintf(out, ",\"file\":");
	write_json_string(out, function != NULL ? function->file : "");
	fprintf(out, ",\"grid\":[%u,%u,%u],\"block\":[%u,%u,%u],\"tensors\":[", launch->grid.x, launch->grid.y,
	        launch->grid.z, launch->block.x, launch->block.y, launch->block.z);
	write_tensors(out, launch);
	fprintf(out, "]");
	if (launch->error != cudaSuccess)
		fprintf(out, ",\"error\":\"%s\"", cudaGetErrorName(launch->error));
	fprintf(out, "}\n");
}

/* Writes the whole lines of `text` that fit; false if that is not all of them. */
static bool write_lines(const char *text, size_t length)
{
	const size_t fitting = length <= trace.room ? length : trace.room;
	size_t whole = 0;

	for (const char *line = text, *end; line < text + fitting; line = end + 1) {
		if ((end = memchr(line, '\n', (size_t)(text + fitting - line))) == NULL)
			break;
		whole = (size_t)(end + 1 - text);
		trace.lines++;
	}
	fwrite(text, 1, whole, trace.file);
	trace.room -= whole;
	return whole == length;
}

static bool write_launch(const struct launch *launch)
{
	struct traced_launch *traced = launch->trace;
	char *head;
	size_t length;
	FILE *out = open_memstream(&head, &length);
	bool fits;

	if (out == NULL)
		abort();
	drop_what_came_later(traced, launch->failed_order);
	drop_what_is_beyond(traced);
	write_head(out, launch);
	fclose(out);
	fits = write_lines(head, length);
	free(head);
	for (size_t i = 0; i < traced->count && fits; i++)
		fits = write_lines(traced->blocks[i].text, traced->blocks[i].length) && !traced->blocks[i].cut;
	return fits;
}

static void end_trace(const struct launch *launch)
{
	const size_t limit = sim_options()->trace_limit;

	fprintf(trace.file, "{\"type\":\"truncated\",\"launch\":%u,\"lines\":%" PRIu64 ",\"limit_bytes\":%zu}\n",
	        launch->number - 1, trace.lines, limit);
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

void trace_close_launch(struct launch *launch)
{
	struct traced_launch *traced = launch->trace;
	bool fits;
	off_t whole;

	if (traced == NULL)
		return;
	whole = ftello(trace.file);
	fits = write_launch(launch);
	if (!fits)
		end_trace(launch);
	if (fflush(trace.file) != 0 || ferror(trace.file))
		give_up(whole);
	else if (!fits)
		close_file();
	for (size_t i = 0; i < traced->count; i++)
		free_block(&traced->blocks[i]);
	free(traced->blocks);
	free(traced);
	launch->trace = NULL;
}
