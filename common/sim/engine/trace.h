/*
 * SIM_TRACE: which bytes each block touched between two barriers, as JSON lines (README.md has the format).
 *
 * Two rooms. trace.c belongs to a worker: it collects what one block does in one interval and turns it into lines.
 * trace_file.c belongs to the host: it puts the blocks of a launch in order, keeps to the limit and writes the file.
 * So the file is the same whichever worker ran a block, and whenever.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "run.h"

/* The lines of one block, all of them or the first ones. */
struct traced_block {
	uint64_t linear; /* x + width * (y + height * z): their order in the file */
	uint64_t order;  /* in which it was run */
	char *text;      /* whole lines; owned */
	size_t length;
	uint32_t *objects; /* the numbers of what they name; owned */
	size_t object_count;
	bool cut; /* there would be more, but for the limit */
};

/* What a line names: an allocation, a variable, a shared array, or dynamic shared memory. */
struct object {
	uint32_t number; /* as in object_numbered */
	enum sim_space space;
	const char *name;
	uintptr_t first; /* shared memory: in this worker */
	size_t size;
};

/* ---- trace.c: called by the worker that runs the block ---- */

/* At the start and the end of its part of a launch. Sets worker->tracer, NULL where nothing is traced. */
void trace_open_worker(struct worker *worker);
void trace_close_worker(struct worker *worker);

void trace_begin_block(struct worker *worker);
/* What some lanes of a warp did: `count` accesses of the kind that `key` says. */
void trace_accesses(struct worker *worker, uint64_t key, const uint64_t *address, unsigned count);
/* The block is about to pass a barrier: makes lines of what it did since the last one. */
void trace_end_interval(struct worker *worker);
/* It has ended, or was stopped by an error: then what lanes did last is still in their windows. */
void trace_end_block(struct worker *worker);

/* Shared arrays by index, then dynamic shared memory, then allocations by index. The number of a launch's objects. */
struct object trace_object(const struct launch *launch, uint32_t number);
size_t trace_object_count(void);
/* The order in lines: global memory as it was allocated, then constants, then shared memory by name. */
int trace_compare_objects(const struct object *a, const struct object *b);

/* ---- trace_file.c ---- */

/* Before and after the blocks of a launch, by the host. Sets launch->trace, NULL where nothing is traced. */
void trace_open_launch(struct launch *launch);
void trace_close_launch(struct launch *launch);

/* Bytes of lines that one block may still fill, and whether a block is past those that fit. */
size_t trace_room(const struct launch *launch);
bool trace_is_beyond(const struct launch *launch, uint64_t linear);
/* Takes the lines over. */
void trace_add_block(struct launch *launch, const struct traced_block *block);

/* True when a trace was asked for and could not be written to its end (a full disk). */
bool trace_has_failed(void);

#endif
