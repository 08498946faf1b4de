/*
 * The device's memory: allocations of global memory with what is known of each byte, the shared memory of a block,
 * and the record of an access, which is how the rest of the engine hears of one.
 */
#ifndef SIM_MEMORY_H
#define SIM_MEMORY_H

#include <stdatomic.h>

#include "program/program.h"

enum sim_space { SIM_GLOBAL, SIM_CONSTANT, SIM_SHARED, SIM_LOCAL };

/* ---- allocations ---- */

/* Memory beside an allocation, for a checker's notes; it is given back with the allocation. */
struct shadow {
	void *first; /* NULL until asked for */
	size_t bytes;
};

/* Bytes that several launches have written: a bit for each, of a watched allocation; else NULL. */
struct all_marks {
	uint64_t *words;
	uint64_t bytes; /* how many */
};

struct sim_allocation {
	uintptr_t first;  /* address of the first byte */
	size_t size;      /* bytes asked for */
	const char *name; /* "Q", "alloc3", or the symbol of a variable; owned */
	bool named;       /* by sim_name_allocation, or a variable */
	bool freed;
	bool is_constant, is_variable;
	bool watched, left_by_launch; /* sim_watch, and whether a launch has written to it since */
	struct all_marks by_launches; /* what of it launches have written since */
	uint64_t left;                /* a checksum of what the last such launch left there */
	size_t slots;                 /* with the emptiness behind it */
	uint32_t index;               /* in order of allocation; variables come first */
	uint8_t *written;             /* initcheck: as in struct slot */
	struct shadow race, race_of_bytes, race_of_atomics;         /* racecheck */
	struct sim_marks *_Atomic read_marks, *_Atomic write_marks; /* footprint, this launch; NULL until touched */
	const struct sim_shape *shape;                              /* of a variable, where it is known */
};

/* What hooks look up: the allocation of each slot of the range of addresses that device memory lies in. */
struct slot {
	uintptr_t first;
	size_t size;      /* 0: nothing there */
	uint8_t *written; /* initcheck: a byte for each of the allocation, 1 once it is written; NULL: all of it is */
	uint64_t is_taken; /* by an allocation, or by the emptiness behind one. 8 bytes: a slot's place is a shift */
};
enum { SLOT_SHIFT = 20 };
extern uintptr_t sim_arena_first, sim_arena_span;
extern struct slot *sim_slots;
extern struct sim_allocation **sim_slot_allocations;

/* The end of a launch that has written to the allocation. */
void sim_memory_launch_wrote(struct sim_allocation *allocation);

/* cudaMalloc: 256-byte aligned. NULL when the chosen GPU's memory is full; sim_memory_refused are the bytes of the last
 * time. */
void *sim_memory_allocate(size_t bytes);
extern size_t sim_memory_refused;
/* Gives back an allocation, which is not freed yet and no variable. */
void sim_memory_free(struct sim_allocation *allocation);
/* cudaDeviceReset: frees every allocation. */
void sim_memory_reset(void);
size_t sim_memory_free_bytes(void);

/* The allocation or variable that holds the byte at address, freed ones included; NULL if none. */
struct sim_allocation *sim_memory_find(uintptr_t address);
/* The live allocation closest to an address that lies in none, and how many bytes lie between; NULL if none. */
struct sim_allocation *sim_memory_nearest(uintptr_t address, size_t *distance, bool *before);
/* True when address lies where device memory lives (allocations and the space between them). */
bool sim_memory_is_device(uintptr_t address);
/* All there ever were, by index. */
size_t sim_allocation_count(void);
struct sim_allocation *sim_allocation_at(size_t index);

/* The host has written [to, to + bytes), from [from, ...) or, where that is no device memory, from elsewhere: what is
 * known to be written moves along. Does nothing where `to` is not device memory. */
void sim_memory_copied(const void *to, const void *from, size_t bytes);

/* `bytes` bytes of an allocation's shadow, 0 at first; NULL where a limit on address space forbids. */
void *shadow_open(struct shadow *shadow, size_t bytes);
static inline void *shadow_if_open(const struct shadow *shadow)
{
	return __atomic_load_n(&shadow->first, __ATOMIC_ACQUIRE);
}

/* Marks bytes [address, address + length) of an allocation as touched by this launch. */
void sim_mark_footprint(struct sim_allocation *allocation, uintptr_t address, size_t length, enum sim_op op);
/* Counts the marks of an allocation and clears them. */
struct sim_footprint sim_take_footprint(struct sim_allocation *allocation);

/* ---- shared memory: thread-local storage of the pthread that runs the block ---- */

/* What hooks look up. In the map (an entry for 4 bytes) 0 is no array's, SHARED_MAP_RAGGED an array's last, partly
 * used entry, SHARED_MAP_AWAITED one into which an asynchronous copy is under way. */
struct shared_view {
	uintptr_t first, span; /* where shared memory may lie */
	uint16_t *map;
	uint8_t *written; /* initcheck: a byte for each, 1 once it is written; NULL: off */
};
enum { SHARED_MAP_AWAITED = 0xfffe, SHARED_MAP_RAGGED = 0xffff };

struct shared_memory {
	struct shared_view view;
	bool mapped; /* the map is that of `function` */
	const struct sim_function *function;
	size_t dynamic_bytes; /* that the map was made for */
};

/* Thread-local storage is taken from a pthread's stack: how much of it the program's shared arrays may need. */
size_t shared_memory_of_the_program(void);
void shared_open(struct shared_memory *shared);
/* The map becomes that of a kernel (NULL: unknown) and of so many bytes of dynamic shared memory. */
void shared_set_kernel(struct shared_memory *shared, const struct sim_function *function, size_t dynamic_bytes);
/* Only kernels use it: no device function that another kernel may call by its address, or from another object. */
bool shared_is_of_kernels(const struct sim_shared *array);
/* Shared memory holds nothing at the start of a block: NaN, so that what the last block left cannot help. */
void shared_empty(const struct shared_memory *shared);

/* ---- records ---- */

/*
 * A record is an address and a key. Equal keys mean: the same access of the source, reached by the same calls.
 *
 *     63      32 31   30 29  28    27      26     24 23        0
 *     call path | space |  op  | volatile | log2 size | site index
 */
enum {
	KEY_SIZE_SHIFT = SITE_INDEX_BITS,
	KEY_VOLATILE_SHIFT = 27, /* of an atomic: it has the scope of a block */
	KEY_OP_SHIFT = 28,
	KEY_SPACE_SHIFT = 30,
	KEY_PATH_SHIFT = 32
};

static inline uint32_t key_site(uint64_t key)
{
	return key & ((1u << SITE_INDEX_BITS) - 1);
}
static inline unsigned key_size(uint64_t key)
{
	return 1u << (key >> KEY_SIZE_SHIFT & 7);
}
static inline bool key_is_volatile(uint64_t key)
{
	return key >> KEY_VOLATILE_SHIFT & 1;
}
static inline enum sim_op key_op(uint64_t key)
{
	return (enum sim_op)(key >> KEY_OP_SHIFT & 3);
}
static inline enum sim_space key_space(uint64_t key)
{
	return (enum sim_space)(key >> KEY_SPACE_SHIFT & 3);
}

/*
 * Of space SIM_LOCAL are records of asynchronous copies alone (../run/copies_entry.c). A store has arrived: nobody counts
 * it, and racecheck takes it for the write of shared memory that it is. A load is a copy's of global memory, as wide as the
 * copy, so that the lanes of a statement are one request; how many of the last bytes it leaves out stands above the address.
 */
enum { LEFT_OUT_SHIFT = 56 };

static inline uint64_t as_space(uint64_t key, enum sim_space space)
{
	return (key & ~((uint64_t)3 << KEY_SPACE_SHIFT)) | (uint64_t)space << KEY_SPACE_SHIFT;
}
static inline unsigned bytes_read(uint64_t key, uint64_t address)
{
	return key_size(key) - (unsigned)(address >> LEFT_OUT_SHIFT);
}
static inline uintptr_t address_read(uint64_t address)
{
	return address & ((UINT64_C(1) << LEFT_OUT_SHIFT) - 1);
}

enum { WINDOW = 128 }; /* records a lane holds; 32 lanes of them fit the L1 and L2 caches */

/* What a store wrote, in 4-byte words; words past its end are 0. */
struct stored {
	uint32_t word[4];
};

/* What one lane has done that is not worked off yet. */
struct window {
	uint32_t count;   /* records */
	uint16_t pending; /* racecheck: place + 1 of a store whose value is not there yet; 0: none */
	uint64_t *keys;
	uint64_t *addresses;
	struct stored *values; /* racecheck: what stores wrote; NULL: off */
};

/* What the pending stores have written, now that they have. */
void window_capture(struct window *window);

#endif
