/*
 * What a program brings along: its SIM_* environment, the tables that simcc wrote into it (../tables.h), and what the
 * engine does when the machine has no memory for it.
 */
#ifndef SIM_PROGRAM_H
#define SIM_PROGRAM_H

#include <cuda_runtime_api.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "../../gpus.h"
#include "sim.h"
#include "tables.h"

/* Compiled twice; the program takes the one that its CPU can run. Only for static functions: by another name clang's
 * callers elsewhere would not find it. */
#if defined __x86_64__ && defined __GLIBC__ /* whose loader chooses */
#define FASTER_CLONE __attribute__((target_clones("avx2", "default")))
#else
#define FASTER_CLONE
#endif

/* ---- numbers of every device ---- */

enum {
	WARP_SIZE = 32,
	MAX_THREADS = 1024, /* of a block */
	MAX_WARPS = MAX_THREADS / WARP_SIZE,
	DYNAMIC_SHARED_MAX = 256 * 1024,
};

/* The lanes of a warp, as a mask: the last one of a block may have fewer than 32. */
static inline uint32_t lanes_of(uint32_t lane_count)
{
	return lane_count == WARP_SIZE ? ~0u : (1u << lane_count) - 1;
}
static inline bool is_same_warp(uint32_t thread, uint32_t other)
{
	return thread / WARP_SIZE == other / WARP_SIZE;
}

/* ---- out of memory ---- */

/*
 * The engine cannot do without its own memory: a count or a check that quietly misses something is worse than none.
 * So nobody handles a NULL; the program ends with one line and status 3. (Device memory is another thing: cudaMalloc
 * returns an error. And where a limit on address space forbids a reservation in proportion to an allocation,
 * racecheck and initcheck go without, and say so.)
 */
_Noreturn void out_of_memory(void);
/* `memory`, which is not NULL. */
void *need(void *memory);
/* Makes room for `count` elements of `size` bytes; `array` is the address of the pointer to them. */
void need_room(void *array, size_t *capacity, size_t count, size_t size);
/* Address space that reads as 0, in which the system makes a page when it is touched; NULL where a limit forbids. */
void *reserve_pages(size_t bytes);
/* Is all of it memory of the program? */
bool is_mapped(uintptr_t first, size_t bytes);

/* ---- the environment, read once ---- */

enum sim_order { SIM_ORDER_FORWARD, SIM_ORDER_REVERSE, SIM_ORDER_SHUFFLE };

struct sim_options {
	const struct gpu *gpu;
	enum sim_order order;
	uint64_t order_seed;
	int threads; /* CPU threads over which blocks are spread */
	double timeout_s;
	bool check[SIM_TOOLS];
	bool check_given;        /* SIM_CHECK is set */
	const char *report_path; /* NULL, "-" or a file */
	const char *trace_path;  /* the same */
	size_t trace_limit;      /* bytes */
	bool trace_requests;     /* of each warp */
};

/* Parses the environment at the first call; a bad value is one line on stderr and exit 2. */
const struct sim_options *sim_options(void);

/* ---- functions ---- */

/* The function whose first instruction is at address, or that holds it; NULL if none. */
const struct sim_function *sim_function_at(const void *address);
const struct sim_function *sim_function_holding(const void *address);
const struct sim_function *sim_function_signed(const char *signature);
size_t sim_function_count(void);
const struct sim_function *sim_function_number(size_t index);
/* Bytes of static shared memory; 0 for NULL. */
size_t sim_static_shared_bytes(const struct sim_function *function);

/* Does device code execute a fence anywhere? */
bool sim_has_fences(void);

/* The kernel whose stub is at the address; NULL: none is. */
const struct sim_stub *sim_stub_at(const void *address);

/* ---- shared arrays ---- */

size_t sim_shared_count_all(void);
const struct sim_shared *sim_shared_at(size_t index);
const struct sim_shared *sim_shared_holding(uintptr_t address); /* of the calling pthread; NULL if none */
uintptr_t sim_shared_address(const struct sim_shared *array);   /* in the calling pthread */
extern __thread char sim_dynamic_shared[] __attribute__((tls_model("local-exec")));

/* Of the calling pthread. */
static inline uintptr_t sim_thread_pointer(void)
{
	uintptr_t pointer;
#ifdef __x86_64__
	__asm__("movq %%fs:0, %0" : "=r"(pointer));
#else
	__asm__("mrs %0, tpidr_el0" : "=r"(pointer));
#endif
	return pointer;
}

/* The thread of a kernel that is running on this pthread; NULL on a host thread and in a worker's scheduler. */
extern __thread struct lane *sim_lane __attribute__((tls_model("local-exec")));

/* ---- sites: by number, which is what a record of an access has room for. From 1; 0: none is known ---- */

extern struct sim_site __start_sim_sites[] __attribute__((weak));
extern struct sim_site __stop_sim_sites[] __attribute__((weak));
extern const char __executable_start[] __attribute__((visibility("hidden"))); /* the linker's */

enum { SITE_INDEX_BITS = 24, NO_SITE = 0 };

static inline uint32_t site_of(const struct sim_site *record)
{
	return record ? (uint32_t)(record - __start_sim_sites) + 1 : NO_SITE;
}

static inline const struct sim_site *site_at(uint32_t site)
{
	return site == NO_SITE ? NULL : &__start_sim_sites[site - 1];
}

/* Numbers are below this. */
static inline uint32_t site_count(void)
{
	return (uint32_t)(&__stop_sim_sites[0] - &__start_sim_sites[0]) + 1;
}

/* The call of the engine, the C library or a device function that device code is about to do; NULL in a plain build. */
extern __thread const struct sim_site *sim_call_site __attribute__((tls_model("local-exec")));
#define CALL_SITE() site_of(sim_call_site)

/* What is noted of a site: a thread reads here plainly what it then does an atomic to; a shuffle that has delivered a
 * value; an atomicCAS. */
enum site_note { SITE_READS_BEFORE_ATOMIC = 1, SITE_DELIVERS = 2, SITE_COMPARES = 3 };
extern uint8_t *sim_site_notes;

static inline void note_at_site(uint32_t site, enum site_note note)
{
	if (sim_site_notes[site] != note)
		__atomic_store_n(&sim_site_notes[site], note, __ATOMIC_RELAXED);
}

#endif
