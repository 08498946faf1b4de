/*
 * SIM_TRACE has two rooms, and trace_objects.c beneath them. trace.c belongs to a worker: it collects what one block
 * does in one interval and turns it into lines. trace_file.c belongs to the host: it puts the blocks of a launch in
 * order, keeps to the limit and writes the file. So the file is the same whichever worker ran a block, and whenever.
 */
#ifndef SIM_TRACE_H
#define SIM_TRACE_H

#include "report/output.h"

/* The lines of one block, all of them or the first ones. */
struct traced_block {
	uint64_t linear; /* x + width * (y + height * z): their order in the file */
	uint64_t order;  /* in which it was run */
	char *text;      /* whole lines; owned */
	size_t length;
	uint32_t *objects; /* the numbers of what they name; owned */
	size_t object_count;
	bool cut;   /* there would be more, but for the limit */
	bool stays; /* trace_file.c's */
};

/* What a line names: an allocation, a variable, a shared array, or dynamic shared memory. */
struct object {
	uint32_t number; /* as in object_numbered */
	enum sim_space space;
	const char *name;
	uintptr_t first; /* shared memory: in this worker */
	size_t size;
};

/* ---- trace_objects.c ---- */

/* Shared arrays by index, then dynamic shared memory, then allocations by index. The number of a launch's objects. */
struct object trace_object(const struct request *launch, uint32_t number);
size_t trace_object_count(void);
/* The order in lines: global memory as it was allocated, then constants, then shared memory by name. */
int trace_compare_objects(const struct object *a, const struct object *b);

uint32_t trace_find_object(enum sim_space space, uintptr_t address);

/* ---- trace_requests.c: of one worker ---- */

struct requests;
struct requests *requests_open(const struct request *launch); /* NULL: nobody asked */
void requests_close(struct requests *requests);
/* A request of a warp of the block: the addresses of its active lanes. */
void requests_add(
	struct requests *requests, uint32_t number, uint64_t key, uint32_t lanes, const uint64_t *address,
	unsigned count);
bool requests_any(const struct requests *requests, uint32_t number);
/* Writes what a warp has done as the end of a JSON object, and forgets it. */
void requests_write(struct requests *requests, uint32_t number, FILE *out);
void requests_forget(struct requests *requests);

/* ---- trace_file.c ---- */

const struct request *trace_request(const struct traced_launch *traced);
/* Bytes of lines that one block may still fill, and whether a block is past those that fit. */
size_t trace_room(const struct traced_launch *traced);
bool trace_is_beyond(const struct traced_launch *traced, uint64_t linear, uint64_t order);
/* Takes the lines over. */
void trace_add_block(struct traced_launch *traced, const struct traced_block *block);
/* The block that was run as the `order`-th has ended without an error. */
void trace_can_fail_no_more(struct traced_launch *traced, uint64_t order);

#endif
