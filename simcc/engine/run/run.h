/*
 * Running a kernel. What the API asks for comes first; then what device code calls, which the headers of sim_cuda/
 * and the plugin know by symbol.
 */
#ifndef SIM_RUN_H
#define SIM_RUN_H

#include "count/count.h"

/* invoke(arguments) calls a kernel once, in the place of one thread. */
struct invocation {
	void (*invoke)(void *);
	void *arguments;
};

/* Runs a kernel that a GPU would accept to its end, and reports what it did. Sets the request's number. One at a
 * time. The error it ended with. */
cudaError_t run_kernel(struct request *request, const struct invocation *invocation);

/* ---- for device code: called by fibers only; `site` is NO_SITE in plain builds ---- */

/* An atomic of the calling thread, of 2^width bytes; does not return if it is not allowed. */
enum {
	SIM_ATOMIC_BLOCK = 1,      /* of the scope of its block */
	SIM_ATOMIC_OVERWRITES = 2, /* atomicExch: a read only where its result is used */
	SIM_ATOMIC_EXCHANGES = 4,  /* atomicExch and atomicCAS: so locks are taken */
};
void sim_atomic_access(const void *pointer, unsigned width, unsigned kind, uint32_t site);
/* What it did, which the thread learns of the word. */
void sim_note_change(const void *pointer, uint64_t from, uint64_t to, unsigned kind);

/* An access of 2^width bytes that the engine is going to do. */
void sim_access(const void *pointer, unsigned width, enum sim_op op, uint32_t site);

/* __nanosleep: gives the other threads a turn. So does an atomic in a plain build, now and then: there no window
 * fills up, and a loop that waits for another thread would wait for ever. */
void sim_take_turns(void);

void sim_block_barrier(uint32_t site);
enum sim_reduce { SIM_REDUCE_COUNT, SIM_REDUCE_AND, SIM_REDUCE_OR };
int sim_block_reduce(enum sim_reduce kind, int predicate, uint32_t site);

/* `intrinsic` is the name of the CUDA function that was called. Lanes meet in calls of one function only. */
void sim_warp_sync(unsigned mask, uint32_t site);
enum sim_shuffle { SIM_SHUFFLE_INDEX, SIM_SHUFFLE_UP, SIM_SHUFFLE_DOWN, SIM_SHUFFLE_XOR };
uint64_t sim_warp_shuffle(
	const char *intrinsic, enum sim_shuffle kind, unsigned mask, uint64_t bits, int operand, int width,
	uint32_t site);
/* The lanes of mask whose predicate holds. */
unsigned sim_warp_ballot(const char *intrinsic, unsigned mask, int predicate, uint32_t site);
unsigned sim_warp_active_mask(uint32_t site);

/* Of --fast builds, which have no sites: a place in the source is a number of simcc's, hashed with the places of the
 * calls that led to it. Entering one returns what leaving it sets again; on the host neither does anything. */
unsigned sim_warp_active_mask_at(uint64_t place);
uint64_t sim_place_enter(uint64_t place);
void sim_place_leave(uint64_t before);

/* __threadfence() and __threadfence_block(), for racecheck. */
void sim_note_fence(bool block_only);

/* Ends the launch: __trap() (which has a site) and a failed assert (which has a file and a line). `error` becomes
 * sticky; the message says why. */
void sim_device_abort(cudaError_t error, uint32_t site, const char *file, unsigned line, const char *format, ...)
	__attribute__((format(printf, 5, 6), noreturn));
/* Output of printf in a kernel; it appears in block order when the launch ends. */
void sim_device_write(const char *text, size_t length);
/* Adds to the launch's count of exponentials. */
void sim_count_exp(void);

#endif
