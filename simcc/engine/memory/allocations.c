/*
 * Device memory. One large reserved range of addresses; each allocation starts in a slot of its own (1 MB) and is
 * followed by at least as much emptiness as it is long, so that an index that runs away meets nobody's data. Where
 * the range has no room for that, one empty slot must do; with less there is no allocation.
 * Freed ranges are not used again until the range is exhausted: a late access is recognized as one.
 *
 * A new allocation holds bytes 0xff: as floats NaN, so that nothing it held before a run can pass for a result.
 * Allocating does not touch what is larger than a slot: such a range is mapped, as often as it takes, to private
 * copies of one file of 0xff, and the operating system makes each page when it is touched.
 */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "memory/memory.h"

extern struct sim_variable __start_sim_variables[] __attribute__((weak));
extern struct sim_variable __stop_sim_variables[] __attribute__((weak));

#define SLOT_BYTES ((size_t)1 << SLOT_SHIFT)

uintptr_t sim_arena_first;
uintptr_t sim_arena_span;
size_t sim_memory_refused;
struct slot *sim_slots;
struct sim_allocation **sim_slot_allocations;

/* All there ever were, by index. Read without the lock, while another thread of the host may add one: read the count
 * first. */
static struct sim_allocation **_Atomic allocations;
static _Atomic size_t allocation_count;
static size_t allocation_capacity;
static size_t variable_count;
static unsigned cuda_malloc_count;
static size_t next_slot, slot_count;
static size_t allocated, peak;
static size_t fill_file_bytes, fill_mappings;
static int fill_file;
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static _Atomic bool is_open;

/* An old table stays, because somebody may be reading it: in all less than the new one. */
static void make_room(void)
{
	if (allocation_count < allocation_capacity)
		return;
	allocation_capacity = allocation_capacity == 0 ? 64 : 2 * allocation_capacity;
	struct sim_allocation **table = need(calloc(allocation_capacity, sizeof *table));
	if (allocation_count > 0)
		memcpy(table, allocations, allocation_count * sizeof *table);
	allocations = table;
}

static struct sim_allocation *add_allocation(uintptr_t first, size_t size, const char *name)
{
	struct sim_allocation *allocation = need(calloc(1, sizeof *allocation));
	make_room();
	allocation->first = first;
	allocation->size = size;
	allocation->name = need(strdup(name));
	allocation->index = (uint32_t)allocation_count;
	allocations[allocation_count++] = allocation;
	return allocation;
}

static void open_arena(void)
{
	size_t span = (size_t)1 << 42;
	char *first;
	while (!(first = reserve_pages(span))) /* a limit on address space: do with less */
		if ((span >>= 1) < 64 * SLOT_BYTES)
			out_of_memory();
	sim_arena_first = ((uintptr_t)first + SLOT_BYTES - 1) & ~(SLOT_BYTES - 1);
	sim_arena_span = span - SLOT_BYTES;
	slot_count = sim_arena_span >> SLOT_SHIFT;
	sim_slots = need(reserve_pages((slot_count + 1) * sizeof *sim_slots));
	sim_slot_allocations = need(reserve_pages((slot_count + 1) * sizeof *sim_slot_allocations));
	next_slot = 1;
	for (struct sim_variable *v = __start_sim_variables; v < __stop_sim_variables; v++) {
		struct sim_allocation *allocation = add_allocation((uintptr_t)v->address, v->size, v->name);
		allocation->is_variable = true;
		allocation->is_constant = v->is_constant;
		allocation->shape = v->shape;
	}
	variable_count = allocation_count;
	atomic_store_explicit(&is_open, true, memory_order_release);
}

static size_t slots_of(size_t bytes)
{
	return (bytes + SLOT_BYTES - 1) >> SLOT_SHIFT;
}

/* The first of `wanted` free slots, from next_slot on and then from the start; 0 if there is no such run. Slot 0 is
 * never given. */
static size_t find_free_slots(size_t wanted)
{
	for (int round = 0; round < 2; round++) {
		size_t run = 0;
		for (size_t slot = next_slot; slot < slot_count; slot++) {
			run = sim_slots[slot].is_taken ? 0 : run + 1;
			if (run == wanted)
				return slot + 1 - wanted;
		}
		next_slot = 1;
	}
	return 0;
}

/* Slots for an allocation and the emptiness behind it; *taken is how many they are together. */
static size_t find_slots(size_t bytes, size_t *taken)
{
	*taken = 2 * slots_of(bytes);
	size_t slot = find_free_slots(*taken);
	if (slot == 0) {
		*taken = slots_of(bytes) + 1;
		slot = find_free_slots(*taken);
	}
	return slot;
}

/* ---- what new memory holds ---- */

enum { FILL = 0xff, FILL_FILE_MOST = 16 << 20 };
/* Each is an entry in the operating system's list of at most 65530 (vm.max_map_count). */
enum { FILL_MAPPINGS_MOST = 30000 };

static size_t fill_mappings_of(size_t bytes)
{
	return bytes <= SLOT_BYTES ? 0 : (bytes + FILL_FILE_MOST - 1) / FILL_FILE_MOST;
}

/* Writes the file of 0xff as far as `bytes`, or as far as it goes; false where the system has no such files. */
static bool extend_fill_file(size_t bytes)
{
	const size_t wanted = bytes < FILL_FILE_MOST ? slots_of(bytes) << SLOT_SHIFT : FILL_FILE_MOST;
	static char *text = MAP_FAILED;
	if (text == MAP_FAILED && (fill_file = memfd_create("new device memory", MFD_CLOEXEC)) >= 0 &&
	    ftruncate(fill_file, FILL_FILE_MOST) == 0)
		text = mmap(NULL, FILL_FILE_MOST, PROT_READ | PROT_WRITE, MAP_SHARED, fill_file, 0);
	if (text == MAP_FAILED)
		return false;
	if (wanted > fill_file_bytes) {
		memset(text + fill_file_bytes, FILL, wanted - fill_file_bytes);
		fill_file_bytes = wanted;
	}
	return true;
}

static bool map_fill(uintptr_t first, size_t bytes)
{
	const int flags = MAP_PRIVATE | MAP_FIXED | MAP_NORESERVE;
	if (fill_mappings > FILL_MAPPINGS_MOST || !extend_fill_file(bytes))
		return false;
	for (size_t done = 0; done < bytes; done += fill_file_bytes) {
		const size_t part = bytes - done < fill_file_bytes ? bytes - done : fill_file_bytes;
		if (mmap((void *)(first + done), part, PROT_READ | PROT_WRITE, flags, fill_file, 0) == MAP_FAILED)
			return false;
	}
	return true;
}

/* Gives the pages of a range back; it reads as 0 and is as it was when the arena was reserved. */
static void unmap_fill(uintptr_t first, size_t bytes)
{
	const int flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED | MAP_NORESERVE;
	fill_mappings -= fill_mappings_of(bytes);
	if (bytes <= SLOT_BYTES || mmap((void *)first, bytes, PROT_READ | PROT_WRITE, flags, -1, 0) == MAP_FAILED)
		madvise((void *)first, bytes, MADV_DONTNEED);
}

static void fill_new(uintptr_t first, size_t bytes)
{
	fill_mappings += fill_mappings_of(bytes);
	if (bytes <= SLOT_BYTES || !map_fill(first, bytes))
		memset((void *)first, FILL, bytes);
}

/* ---- allocating and freeing ---- */

/* The GPU's memory, or most of this machine's if that is less: every byte may come to be used. */
static size_t memory_limit(void)
{
	const size_t host = (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE) / 4 * 3;
	return sim_options()->gpu->memory_bytes < host ? sim_options()->gpu->memory_bytes : host;
}

void *sim_memory_allocate(size_t bytes)
{
	pthread_once(&once, open_arena);
	pthread_mutex_lock(&lock);
	size_t slot, taken;
	if (bytes > memory_limit() - allocated || bytes > sim_arena_span / 2 ||
	    (slot = find_slots(bytes, &taken)) == 0) {
		sim_memory_refused = bytes;
		pthread_mutex_unlock(&lock);
		return NULL;
	}
	next_slot = slot + taken;
	const uintptr_t first = sim_arena_first + (slot << SLOT_SHIFT);
	char name[32];
	snprintf(name, sizeof name, "alloc%u", cuda_malloc_count++);
	struct sim_allocation *allocation = add_allocation(first, bytes, name);
	allocation->slots = taken;
	if (sim_options()->check[SIM_INITCHECK] && !(allocation->written = reserve_pages(bytes)))
		fprintf(stderr,
		        "========= Note: initcheck does without '%s': no address space for its map of %zu bytes\n",
		        name, bytes);
	for (size_t i = slot; i < slot + taken; i++) {
		const bool is_held = i < slot + slots_of(bytes);
		sim_slots[i] = is_held ? (struct slot){first, bytes, allocation->written, true}
		                       : (struct slot){0, 0, NULL, true};
		sim_slot_allocations[i] = is_held ? allocation : NULL;
	}
	fill_new(first, bytes);
	allocated += bytes;
	if (allocated > peak)
		peak = allocated;
	pthread_mutex_unlock(&lock);
	return (void *)first;
}

/* All of it is written: nothing more to look up. */
static void forget_written(struct sim_allocation *allocation)
{
	const size_t slot = (allocation->first - sim_arena_first) >> SLOT_SHIFT;
	if (!allocation->written)
		return;
	for (size_t i = slot; i < slot + slots_of(allocation->size); i++)
		sim_slots[i].written = NULL;
	munmap(allocation->written, allocation->size);
	allocation->written = NULL;
}

void sim_memory_copied(const void *to, const void *from, size_t bytes)
{
	struct sim_allocation *target = sim_memory_find((uintptr_t)to);
	const struct sim_allocation *source = from ? sim_memory_find((uintptr_t)from) : NULL;
	if (!target || !target->written || bytes == 0)
		return;
	if (source && source->written)
		memmove(target->written + ((uintptr_t)to - target->first),
		        source->written + ((uintptr_t)from - source->first), bytes);
	else if (bytes == target->size)
		forget_written(target);
	else
		memset(target->written + ((uintptr_t)to - target->first), 1, bytes);
}

static void close_marks(struct sim_marks *_Atomic *place);
static void close_all_marks(struct sim_allocation *allocation);

void *shadow_open(struct shadow *shadow, size_t bytes)
{
	static pthread_mutex_t shadow_lock = PTHREAD_MUTEX_INITIALIZER;
	pthread_mutex_lock(&shadow_lock);
	if (!shadow->first) {
		shadow->bytes = bytes;
		__atomic_store_n(&shadow->first, reserve_pages(bytes), __ATOMIC_RELEASE);
	}
	pthread_mutex_unlock(&shadow_lock);
	return shadow->first;
}

static void close_shadow(struct shadow *shadow)
{
	if (shadow->first)
		munmap(shadow->first, shadow->bytes);
	*shadow = (struct shadow){NULL, 0};
}

static void release(struct sim_allocation *allocation)
{
	size_t slot = (allocation->first - sim_arena_first) >> SLOT_SHIFT;
	for (size_t i = slot; i < slot + allocation->slots; i++)
		sim_slots[i] = (struct slot){0, 0, NULL, false};
	unmap_fill(allocation->first, allocation->size);
	forget_written(allocation);
	close_shadow(&allocation->race);
	close_shadow(&allocation->race_of_bytes);
	close_shadow(&allocation->race_of_atomics);
	close_marks(&allocation->read_marks);
	close_marks(&allocation->write_marks);
	close_all_marks(allocation);
	allocation->freed = true;
	allocated -= allocation->size;
}

void sim_memory_free(struct sim_allocation *allocation)
{
	pthread_mutex_lock(&lock);
	release(allocation);
	pthread_mutex_unlock(&lock);
}

struct sim_allocation *sim_memory_find(uintptr_t address)
{
	if (!atomic_load_explicit(&is_open, memory_order_acquire)) /* each access comes here */
		pthread_once(&once, open_arena);
	if (address - sim_arena_first < sim_arena_span) {
		struct sim_allocation *allocation = sim_slot_allocations[(address - sim_arena_first) >> SLOT_SHIFT];
		return allocation && address - allocation->first < allocation->size ? allocation : NULL;
	}
	for (size_t i = 0; i < variable_count; i++)
		if (address - allocations[i]->first < allocations[i]->size)
			return allocations[i];
	return NULL;
}

struct sim_allocation *sim_memory_nearest(uintptr_t address, size_t *distance, bool *before)
{
	struct sim_allocation *nearest = NULL;
	for (size_t i = 0; i < allocation_count; i++) {
		struct sim_allocation *a = allocations[i];
		bool is_before = address < a->first;
		size_t away = is_before ? a->first - address : address - (a->first + a->size);
		if (!a->freed && (!nearest || away < *distance)) {
			nearest = a;
			*distance = away;
			*before = is_before;
		}
	}
	return nearest;
}

void sim_device_memory(uintptr_t *first, size_t *bytes)
{
	pthread_once(&once, open_arena);
	*first = sim_arena_first;
	*bytes = sim_arena_span;
}

bool sim_memory_is_device(uintptr_t address)
{
	pthread_once(&once, open_arena);
	return address - sim_arena_first < sim_arena_span || sim_memory_find(address);
}

void sim_memory_reset(void)
{
	pthread_mutex_lock(&lock);
	for (size_t i = variable_count; i < allocation_count; i++)
		if (!allocations[i]->freed)
			release(allocations[i]);
	pthread_mutex_unlock(&lock);
}

size_t sim_memory_free_bytes(void)
{
	return memory_limit() - allocated;
}

size_t sim_allocated_bytes(void)
{
	return allocated;
}

size_t sim_peak_bytes(void)
{
	return peak;
}

void sim_reset_peak(void)
{
	peak = allocated;
}

size_t sim_allocation_count(void)
{
	pthread_once(&once, open_arena);
	return allocation_count;
}

struct sim_allocation *sim_allocation_at(size_t index)
{
	return allocations[index];
}

/* FNV-1a over words of 8 bytes: whoever wants to can find another content with the same sum, but not by accident. */
static uint64_t checksum(const struct sim_allocation *allocation)
{
	const uint64_t prime = UINT64_C(0x100000001b3);
	const char *bytes = (const char *)allocation->first;
	uint64_t sum = UINT64_C(0xcbf29ce484222325), word;
	size_t at = 0;
	for (; at + sizeof word <= allocation->size; at += sizeof word) {
		memcpy(&word, bytes + at, sizeof word);
		sum = (sum ^ word) * prime;
		sum ^= sum >> 32;
	}
	for (; at < allocation->size; at++)
		sum = (sum ^ (unsigned char)bytes[at]) * prime;
	return sum;
}

void sim_memory_launch_wrote(struct sim_allocation *allocation)
{
	if (!allocation->watched)
		return;
	allocation->left_by_launch = true;
	allocation->left = checksum(allocation);
}

void sim_name_allocation(const void *device_pointer, const char *name)
{
	struct sim_allocation *allocation = sim_memory_find((uintptr_t)device_pointer);
	if (!allocation || allocation->first != (uintptr_t)device_pointer)
		return;
	free((char *)allocation->name);
	allocation->name = need(strdup(name));
	allocation->named = true;
}

/* ---- footprints: one bit for each byte of an allocation, for reads and for writes ---- */

/* A page is 512 words, the marks of 32 KB. Pages with marks are listed by a byte each, so that a launch that touches
 * little of a large allocation pays for little. */
enum { PAGE_SHIFT = 9, PAGE_WORDS = 1 << PAGE_SHIFT };

struct sim_marks {
	_Atomic uint64_t *words;
	_Atomic uint8_t *pages;
	size_t page_count;
};

/* Of the words, whole pages of them. */
static size_t marks_bytes(size_t bytes)
{
	return ((bytes >> (6 + PAGE_SHIFT)) + 1) * PAGE_WORDS * sizeof(uint64_t);
}

static struct sim_marks *open_marks(struct sim_marks *_Atomic *place, size_t bytes)
{
	struct sim_marks *marks = need(calloc(1, sizeof *marks)), *expected = NULL;
	marks->page_count = (bytes >> (6 + PAGE_SHIFT)) + 1;
	marks->words = need(reserve_pages(marks_bytes(bytes)));
	marks->pages = need(calloc(marks->page_count, sizeof *marks->pages));
	if (!atomic_compare_exchange_strong(place, &expected, marks)) { /* another worker was first */
		munmap((void *)marks->words, marks->page_count * PAGE_WORDS * sizeof *marks->words);
		free((void *)marks->pages);
		free(marks);
		return expected;
	}
	return marks;
}

static void close_marks(struct sim_marks *_Atomic *place)
{
	struct sim_marks *marks = *place;
	if (!marks)
		return;
	munmap((void *)marks->words, marks->page_count * PAGE_WORDS * sizeof *marks->words);
	free((void *)marks->pages);
	free(marks);
	*place = NULL;
}

static void close_all_marks(struct sim_allocation *allocation)
{
	if (allocation->by_launches.words)
		munmap(allocation->by_launches.words, marks_bytes(allocation->size));
	allocation->by_launches.words = NULL;
}

static void mark(const struct sim_marks *marks, size_t offset, size_t length)
{
	size_t word = offset >> 6, last = (offset + length - 1) >> 6;
	uint64_t bits = ~(uint64_t)0 << (offset & 63);
	for (; word <= last; word++, bits = ~(uint64_t)0) {
		if (word == last)
			bits &= ~(uint64_t)0 >> (63 - ((offset + length - 1) & 63));
		/* Most bytes are touched more than once: look before the costly locked instruction. */
		if ((atomic_load_explicit(&marks->words[word], memory_order_relaxed) & bits) != bits) {
			atomic_fetch_or_explicit(&marks->words[word], bits, memory_order_relaxed);
			atomic_store_explicit(&marks->pages[word >> PAGE_SHIFT], 1, memory_order_relaxed);
		}
	}
}

void sim_mark_footprint(struct sim_allocation *allocation, uintptr_t address, size_t length, enum sim_op op)
{
	size_t offset = address - allocation->first;
	if (op != SIM_OP_STORE) {
		struct sim_marks *marks = allocation->read_marks;
		mark(marks ? marks : open_marks(&allocation->read_marks, allocation->size), offset, length);
	}
	if (op != SIM_OP_LOAD) {
		struct sim_marks *marks = allocation->write_marks;
		mark(marks ? marks : open_marks(&allocation->write_marks, allocation->size), offset, length);
	}
}

/* How many there are; they are gone then, but for those in *all, of the launches before. */
static uint64_t take_marks(struct sim_marks *marks, struct all_marks *all)
{
	uint64_t count = 0;
	for (size_t page = 0; marks && page < marks->page_count; page++) {
		_Atomic uint64_t *words = &marks->words[page << PAGE_SHIFT];
		if (!marks->pages[page])
			continue;
		for (size_t i = 0; i < PAGE_WORDS; i++)
			count += (uint64_t)__builtin_popcountll(words[i]);
		for (size_t i = page << PAGE_SHIFT; all->words && i < (page + 1) << PAGE_SHIFT; i++) {
			all->bytes += (uint64_t)__builtin_popcountll(marks->words[i] & ~all->words[i]);
			all->words[i] |= marks->words[i];
		}
		memset((void *)words, 0, PAGE_WORDS * sizeof *words);
		marks->pages[page] = 0;
	}
	return count;
}

struct sim_footprint sim_take_footprint(struct sim_allocation *allocation)
{
	struct sim_footprint footprint;
	footprint.read_bytes = take_marks(allocation->read_marks, &(struct all_marks){NULL, 0});
	footprint.write_bytes = take_marks(allocation->write_marks, &allocation->by_launches);
	if (footprint.write_bytes == allocation->size && !allocation->is_variable)
		forget_written(allocation);
	return footprint;
}

void sim_watch(const void *device_pointer)
{
	struct sim_allocation *allocation = sim_memory_find((uintptr_t)device_pointer);
	if (!allocation || allocation->watched)
		return;
	allocation->watched = true;
	allocation->by_launches.words = need(reserve_pages(marks_bytes(allocation->size)));
}

int sim_is_as_left(const void *device_pointer)
{
	const struct sim_allocation *allocation = sim_memory_find((uintptr_t)device_pointer);
	return !sim_is_counting() || !allocation || !allocation->watched ||
	       (allocation->left_by_launch && allocation->left == checksum(allocation));
}

uint64_t sim_bytes_of_launches(const void *device_pointer)
{
	const struct sim_allocation *allocation = sim_memory_find((uintptr_t)device_pointer);
	return allocation ? allocation->by_launches.bytes : 0;
}
