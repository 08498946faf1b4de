/*
 * What is told: hazards, as messages and as records; the record of each launch; the trace; and, when the program
 * ends, the summary and the exit status.
 */
#ifndef SIM_REPORT_H
#define SIM_REPORT_H

#include <stdarg.h>

#include "memory/memory.h"

/* ---- who ---- */

/* A launch, as the host asks for it. */
struct request {
	const struct sim_function *function; /* NULL where the program has no tables */
	const char *name;
	const char *file; /* of the launch */
	unsigned line;
	dim3 grid, block;
	size_t dynamic_shared_bytes;
	uint32_t number; /* counts launches, from 1 */
};

/* The thread that does what is reported. */
struct actor {
	const struct request *request;
	uint3 block, thread;
};

/* Of a thread in its block, by its number. */
uint3 thread_index(const struct request *request, uint32_t thread);

/* ---- hazards ---- */

struct hazard {
	enum sim_tool tool;
	const char *kind;     /* as in the hazard record: "out_of_bounds" */
	const char *severity; /* "error", "warning", "info" */
	const char *kernel;   /* name without arguments */
	const char *signature;
	bool has_place; /* block and thread are known */
	uint3 block, thread;
	char file[256];
	unsigned line, column; /* 0: unknown */
	const char *space;     /* "global", "shared", "local", NULL */
	char array[96];        /* tensor or shared array, "" if unknown */
	int64_t index;         /* element of the access's size from the start of the array; INT64_MIN if unknown */
	unsigned bytes;
	uint64_t count;
	bool has_other,
		passed_other; /* passed: without a barrier, a thread comes to this place after the other one */
	uint3 other_thread;
	unsigned other_line, other_column;
	char other_op[32];
	char other_file[256];
	char headline[400];  /* "Invalid __global__ write of size 4 bytes" */
	char advice[400];    /* "" if the evidence allows none */
	uint32_t launch;     /* its number; 0: none */
	bool silent;         /* recorded and counted, not printed */
	char detail[3][200]; /* further lines, "" if unused */
	cudaError_t error;   /* that the launch ends with; cudaSuccess: it goes on */
};

/* A hazard of one thread at `site`, an error, with everything filled in that follows from those. `error` is what the
 * launch will end with. */
struct hazard hazard_of(
	const struct actor *actor, const struct sim_site *site, enum sim_tool tool, const char *kind,
	cudaError_t error);
void hazard_set_location(struct hazard *hazard, const struct sim_site *site);
/* The other side of the conflict: op "write" by `thread` at `site`. */
void hazard_set_other(struct hazard *hazard, uint3 thread, const struct sim_site *site, const char *op);
/* Fills in file, line and function of an instruction, from the debug information simcc always adds. */
void hazard_locate_instruction(struct hazard *hazard, uintptr_t instruction);

/* As messages and records spell them: "shared", "write". */
const char *space_name(enum sim_space space);
const char *op_name(enum sim_op op);

/* Writes its record and counts it. Prints it, unless it is silent, if it is the first of its kind at its place:
 * kernel and lines of source. True if it is; the others are summed up at the end of the program. */
bool report_hazard(const struct hazard *hazard);
/* A misuse of the CUDA API seen on the host (memcheck): `error` is what the call will return; cudaSuccess: it is a call
 * of the C library. */
void report_misuse(cudaError_t error, const char *function, const char *format, va_list arguments)
	__attribute__((format(printf, 3, 0)));
/* A line about a call of the host that is no error yet, with its place in front. */
void say_of_call(const char *format, ...) __attribute__((format(printf, 1, 2)));

/* ---- launches ---- */

/* Writes the record of a finished launch, and keeps it for sim_launch_at; takes its tensors and lines over. */
void report_launch(const struct sim_launch *launch);

/* The launch was refused: a GPU would not accept it. That is an error, told at the end of the program, if it never
 * asked. */
void report_refusal(const struct request *request, cudaError_t error, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
/* What sim_refusal() says; NULL: the last launch was none. */
void set_refusal(const char *format, ...) __attribute__((format(printf, 1, 2)));
/* The program has asked for the error of the launches that were refused. */
void refusals_seen(void);

/* ---- SIM_TRACE: which bytes each block touched between two barriers (README.md has the format) ---- */

struct traced_launch;
struct tracer;

/* Before and after the blocks of a launch, by the host. NULL where nothing is traced; then no other may be called.
 * Blocks after the `failed_order`-th are left out. */
struct traced_launch *trace_open_launch(const struct request *request);
void trace_close_launch(struct traced_launch *traced, uint64_t failed_order, cudaError_t error);

/* By the worker that runs the block, at the start and the end of its part of a launch. */
struct tracer *trace_open_worker(struct traced_launch *traced);
void trace_close_worker(struct tracer *tracer);
/* `order`: in which blocks are run. */
void trace_begin_block(struct tracer *tracer, uint3 block, uint64_t order);
/* What some lanes of a warp did: `count` accesses of the kind that `key` says. */
void trace_accesses(struct tracer *tracer, uint64_t key, const uint64_t *address, unsigned count);
/* What they were of warp `warp` of the block: one request of these lanes. For SIM_TRACE_REQUESTS. */
void trace_instruction(
	struct tracer *tracer, uint32_t warp, uint64_t key, uint32_t lanes, const uint64_t *address, unsigned count);
/* The block is about to pass a barrier: makes lines of what it did since the last one. */
void trace_end_interval(struct tracer *tracer);
/* `has_failed`: it, or one that was run before it. */
void trace_end_block(struct tracer *tracer, bool has_failed);

#endif
