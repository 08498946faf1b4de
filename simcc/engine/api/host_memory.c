/*
 * The host's own memory, as far as it can be known: what the program has from malloc and new, its static variables, the
 * return addresses on its stack. simcc links a program with --wrap, so that its calls of the C library's functions land
 * here; the engine's own and other libraries' do not.
 */
#include <elf.h>
#include <fcntl.h>
#include <inttypes.h>
#include <link.h>
#include <malloc.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <unwind.h>

#include "api/api.h"

/* ---- blocks of the heap: a hash table by their first byte ---- */

struct block {
	uintptr_t first; /* 0: free; 1: was taken, and a search goes on */
	size_t size;
	bool is_pinned; /* by cudaMallocHost */
};

static struct block *blocks;
static size_t capacity, taken, held; /* a power of two; entries that are not free; those with a block */
static const struct block none;      /* of size 0 */
static bool is_incomplete;           /* the host has no memory for the table: nothing is known */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static struct block *find_block(uintptr_t first)
{
	size_t i = (first >> 4) * 0x9e3779b97f4a7c15u >> 20;
	for (;; i++) {
		struct block *block = &blocks[i & (capacity - 1)];
		if (block->first == first || block->first == 0)
			return block;
	}
}

/* Not on the heap: there a program that writes past the end of a block would overwrite what is to tell of it. */
static void grow(void)
{
	struct block *old = blocks;
	const size_t count = capacity;
	capacity = count == 0 ? 1024 : 4 * held < count ? count : 2 * count;
	if (!(blocks = reserve_pages(capacity * sizeof *blocks))) {
		is_incomplete = true;
		return;
	}
	taken = held;
	for (size_t i = 0; i < count; i++)
		if (old[i].first > 1)
			*find_block(old[i].first) = old[i];
	if (old) /* else errno would change in malloc */
		munmap(old, count * sizeof *old);
}

void sim_add_host_block(void *first, size_t size, bool is_pinned)
{
	pthread_mutex_lock(&lock);
	if (first && !is_incomplete && 2 * taken >= capacity)
		grow();
	if (first && !is_incomplete) {
		struct block *block = find_block((uintptr_t)first);
		taken += block->first == 0;
		held += block->first == 0;
		*block = (struct block){(uintptr_t)first, size, is_pinned};
	}
	pthread_mutex_unlock(&lock);
}

/* False: it is pinned, if that may not be. */
static bool remove_block(const void *first, bool may_be_pinned)
{
	pthread_mutex_lock(&lock);
	struct block *block = first && capacity && !is_incomplete ? find_block((uintptr_t)first) : NULL;
	const bool may_be = !block || block->first == 0 || !block->is_pinned || may_be_pinned;
	if (may_be && block && block->first != 0) {
		block->first = 1;
		held--;
	}
	pthread_mutex_unlock(&lock);
	return may_be;
}

void sim_remove_host_block(const void *first)
{
	remove_block(first, true);
}

/* Size 0: none holds it. Most copies begin where a block does, which is found at once. */
static struct block block_holding(uintptr_t address)
{
	struct block nearest = none;
	pthread_mutex_lock(&lock);
	if (capacity && !is_incomplete)
		nearest = *find_block(address);
	for (size_t i = 0; nearest.first != address && i < capacity && !is_incomplete; i++)
		if (blocks[i].first <= address && blocks[i].first > nearest.first)
			nearest = blocks[i];
	pthread_mutex_unlock(&lock);
	return address - nearest.first < nearest.size ? nearest : none;
}

/* ---- the C library's functions ---- */

/* Is this no memory of the C library's? Then it is reported, and the function does nothing. */
static bool is_foreign(const void *pointer, const char *function)
{
	const bool is_device = (uintptr_t)pointer - sim_arena_first < sim_arena_span;
	if (!is_device && remove_block(pointer, false))
		return false;
	sim_api_hazard(
		cudaSuccess, function,
		is_device ? "%p is device memory: cudaFree frees it"
			  : "%p is from cudaMallocHost: cudaFreeHost frees it",
		pointer);
	return true;
}

/* The symbols are those of the linker and of C++: new, delete, and their forms for arrays and with a size. */
#define ALLOCATES(symbol, parameters, arguments, size)                                                               \
	void *__real_##symbol parameters;                                                                            \
	void *__wrap_##symbol parameters;                                                                            \
	void *__wrap_##symbol parameters                                                                             \
	{                                                                                                            \
		void *const first = __real_##symbol arguments;                                                       \
		sim_add_host_block(first, size, false);                                                              \
		return first;                                                                                        \
	}
#define FREES(symbol, parameters, arguments, name)                                                                   \
	void __real_##symbol parameters;                                                                             \
	void __wrap_##symbol parameters;                                                                             \
	void __wrap_##symbol parameters                                                                              \
	{                                                                                                            \
		if (!is_foreign(pointer, name))                                                                      \
			__real_##symbol arguments;                                                                   \
	}
ALLOCATES(malloc, (size_t size), (size), size)
ALLOCATES(calloc, (size_t count, size_t size), (count, size), count *size)
ALLOCATES(aligned_alloc, (size_t alignment, size_t size), (alignment, size), size)
ALLOCATES(_Znwm, (size_t size), (size), size)
ALLOCATES(_Znam, (size_t size), (size), size)
FREES(free, (void *pointer), (pointer), "free()")
FREES(_ZdlPv, (void *pointer), (pointer), "delete")
FREES(_ZdaPv, (void *pointer), (pointer), "delete[]")
FREES(_ZdlPvm, (void *pointer, size_t size), (pointer, size), "delete")
FREES(_ZdaPvm, (void *pointer, size_t size), (pointer, size), "delete[]")

void *__real_realloc(void *pointer, size_t size);
void *__wrap_realloc(void *pointer, size_t size);
void *__wrap_realloc(void *pointer, size_t size)
{
	void *const first = is_foreign(pointer, "realloc()") ? malloc(size) : __real_realloc(pointer, size);
	sim_add_host_block(first, size, false);
	return first;
}

/* ---- static variables: the program's symbols, if it has not been stripped of them ---- */

static struct block *variables; /* by address */
static size_t variable_count;
static uintptr_t base;

static int find_base(struct dl_phdr_info *info, size_t size, void *unused)
{
	(void)size, (void)unused;
	base = info->dlpi_addr; /* the program itself comes first */
	return 1;
}

static int compare_blocks(const void *a, const void *b)
{
	const struct block *one = a, *other = b;
	return (one->first > other->first) - (one->first < other->first);
}

static void read_symbols(void)
{
	struct stat status;
	const int file = open("/proc/self/exe", O_RDONLY | O_CLOEXEC);
	const char *image = MAP_FAILED;
	if (file >= 0 && fstat(file, &status) == 0)
		image = mmap(NULL, (size_t)status.st_size, PROT_READ, MAP_PRIVATE, file, 0);
	if (file >= 0)
		close(file);
	if (image == MAP_FAILED)
		return;
	const Elf64_Ehdr *header = (const void *)image;
	const Elf64_Shdr *section = (const void *)(image + header->e_shoff);
	dl_iterate_phdr(find_base, NULL);
	for (unsigned i = 0; i < header->e_shnum; i++) {
		const Elf64_Sym *symbols = (const void *)(image + section[i].sh_offset);
		const size_t count = section[i].sh_type == SHT_SYMTAB ? section[i].sh_size / sizeof *symbols : 0;
		if (count == 0 || !(variables = malloc(count * sizeof *variables)))
			continue;
		for (size_t s = 0; s < count; s++)
			if (ELF64_ST_TYPE(symbols[s].st_info) == STT_OBJECT && symbols[s].st_size > 0)
				variables[variable_count++] =
					(struct block){base + symbols[s].st_value, symbols[s].st_size, false};
		qsort(variables, variable_count, sizeof *variables, compare_blocks);
	}
	munmap((void *)image, (size_t)status.st_size);
}

static struct block variable_holding(uintptr_t address)
{
	static pthread_once_t once = PTHREAD_ONCE_INIT;
	extern char _end[];
	if (address - (uintptr_t)__executable_start >= (uintptr_t)(_end - __executable_start))
		return none;
	pthread_once(&once, read_symbols);
	size_t low = 0, high = variable_count;
	while (low < high) { /* the first that starts behind the address */
		const size_t middle = low + (high - low) / 2;
		if (variables[middle].first <= address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low > 0 && address - variables[low - 1].first < variables[low - 1].size)
		return variables[low - 1];
	return none;
}

/* ---- the stack: no variable holds a return address ---- */

struct extent {
	uintptr_t first;
	size_t bytes;
	bool has_return_address;
};

static _Unwind_Reason_Code look_for(struct _Unwind_Context *context, void *data)
{
	struct extent *extent = data;
	const uintptr_t place = _Unwind_GetCFA(context) - sizeof(uintptr_t); /* of where this function goes on */
	extent->has_return_address |= place - extent->first < extent->bytes && extent->first < place &&
	                              *(const uintptr_t *)place == _Unwind_GetIP(context);
	return _URC_NO_REASON;
}

static bool has_return_address(uintptr_t first, size_t bytes)
{
	struct extent extent = {first, bytes, false};
	if (first > (uintptr_t)__builtin_frame_address(0))
		_Unwind_Backtrace(look_for, &extent);
	return extent.has_return_address;
}

/* ---- copies ---- */

/*
 * What the block of the heap has now: getline() and the like give a block of the program's back inside the C library, or
 * let it grow. That is asked only when a copy does not fit what is known, because it reads what the C library has put in
 * front of the block, if it still is one. 0: it is none any more. Where the program has written past the block's end, it
 * has overwritten what tells whether the block is in use: a size that no block has.
 */
static size_t size_now(const struct block *block)
{
	enum { HEADER = 2 * sizeof(size_t), HAS_OWN_PAGES = 2, FLAGS = 7, LEAST = 32 };
	if (block->is_pinned)
		return block->size;
	if (!is_mapped(block->first - HEADER, HEADER))
		return 0;
	const size_t header = ((const size_t *)block->first)[-1], page = (size_t)sysconf(_SC_PAGESIZE);
	const bool has_own_pages = header & HAS_OWN_PAGES;
	if (!has_own_pages && !is_mapped(block->first - HEADER + (header & ~(size_t)FLAGS), HEADER))
		return 0;
	const size_t usable = malloc_usable_size((void *)block->first);
	/* The C library rounds sizes up: what lies in that is past the end. A larger block has grown. */
	const size_t rounded = (block->size + sizeof(size_t) + HEADER - 1) / HEADER * HEADER - sizeof(size_t);
	if (has_own_pages ? usable >= block->size + page
	                  : usable > (rounded < LEAST - sizeof(size_t) ? LEAST - sizeof(size_t) : rounded))
		return usable;
	if (usable >= block->size)
		return block->size;
	const uintptr_t behind = block->first - HEADER + (header & ~(size_t)FLAGS);
	const size_t next = has_own_pages ? LEAST : ((const size_t *)behind)[1] & ~(size_t)FLAGS;
	return next < LEAST || next % HEADER != 0 || next > UINT32_MAX ? block->size : 0;
}

cudaError_t check_host_extent(const char *function, const char *role, const void *pointer, size_t bytes)
{
	const uintptr_t first = (uintptr_t)pointer;
	const char *what = "a static variable";
	struct block block = variable_holding(first);
	if (block.size == 0) {
		what = "a block of the heap";
		block = block_holding(first);
		if (block.size > 0 && bytes > block.size - (first - block.first))
			block.size = size_now(&block);
	}
	if (!sim_options()->check[SIM_MEMCHECK])
		block.size = 0; /* a GPU's driver knows no such end */
	if (block.size > 0 && bytes > block.size - (first - block.first))
		return sim_api_hazard(
			cudaErrorInvalidValue, function,
			"%s: %zu bytes from byte %zu of %s of the host end %zu bytes past its end (it has %zu)", role,
			bytes, first - block.first, what, bytes - (block.size - (first - block.first)), block.size);
	if (sim_options()->check[SIM_MEMCHECK] && has_return_address(first, bytes))
		return sim_api_hazard(
			cudaErrorInvalidValue, function,
			"%s: %zu bytes from %p leave the function's variables on the host's stack", role, bytes,
			pointer);
	if (!is_mapped(first, bytes))
		return sim_api_hazard(
			cudaErrorInvalidValue, function, "%s: %zu bytes from %p are not all memory of the program",
			role, bytes, pointer);
	return cudaSuccess;
}
