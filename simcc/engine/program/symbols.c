/* The tables that simcc wrote into the program (tables.h), looked up by address and by name. */
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "program/program.h"

extern struct sim_function __start_sim_functions[] __attribute__((weak));
extern struct sim_function __stop_sim_functions[] __attribute__((weak));
extern const char __start_sim_fences[] __attribute__((weak));
extern const struct sim_stub __start_sim_stubs[] __attribute__((weak));
extern const struct sim_stub __stop_sim_stubs[] __attribute__((weak));
extern const char __stop_sim_text[] __attribute__((weak));
extern struct sim_shared __start_sim_shared[] __attribute__((weak));
extern struct sim_shared __stop_sim_shared[] __attribute__((weak));

__thread char sim_dynamic_shared[DYNAMIC_SHARED_MAX] __attribute__((aligned(1024), tls_model("local-exec")));

uint8_t *sim_site_notes;

static struct sim_function **functions; /* sorted by address */
static size_t function_count;
static pthread_once_t once = PTHREAD_ONCE_INIT;

static int compare_functions(const void *a, const void *b)
{
	const struct sim_function *first = *(struct sim_function *const *)a,
				  *second = *(struct sim_function *const *)b;
	return (first->address > second->address) - (first->address < second->address);
}

static void prepare_tables(void)
{
	if (site_count() >> SITE_INDEX_BITS != 0) {
		fprintf(stderr,
		        "the simulated device counts programs of up to 16 million accesses; this one has more\n");
		_exit(3);
	}
	sim_site_notes = need(calloc(site_count(), sizeof *sim_site_notes));
	function_count = (size_t)(__stop_sim_functions - __start_sim_functions);
	functions = need(malloc((function_count + 1) * sizeof *functions));
	for (size_t i = 0; i < function_count; i++)
		functions[i] = &__start_sim_functions[i];
	qsort(functions, function_count, sizeof *functions, compare_functions);
}

const struct sim_function *sim_function_holding(const void *address)
{
	pthread_once(&once, prepare_tables);
	size_t low = 0, high = function_count;
	while (low < high) { /* the last function that starts at or before address */
		size_t middle = low + (high - low) / 2;

		if ((uintptr_t)functions[middle]->address <= (uintptr_t)address)
			low = middle + 1;
		else
			high = middle;
	}
	if (low == 0)
		return NULL;
	return (uintptr_t)address < (uintptr_t)__stop_sim_text ? functions[low - 1] : NULL;
}

const struct sim_stub *sim_stub_at(const void *address)
{
	const struct sim_stub *stub = __start_sim_stubs;
	while (stub < __stop_sim_stubs && stub->stub != address)
		stub++;
	return stub < __stop_sim_stubs ? stub : NULL;
}

const struct sim_function *sim_function_at(const void *address)
{
	const struct sim_function *function = sim_function_holding(address);
	return function && function->address == address ? function : NULL;
}

const struct sim_function *sim_function_signed(const char *signature)
{
	for (struct sim_function *f = __start_sim_functions; f < __stop_sim_functions; f++)
		if (strcmp(f->signature, signature) == 0)
			return f;
	return NULL;
}

int sim_is_counting(void)
{
	return &__stop_sim_sites[0] > &__start_sim_sites[0];
}

bool sim_has_fences(void)
{
	return __start_sim_fences != NULL;
}

size_t sim_static_shared_bytes(const struct sim_function *function)
{
	size_t bytes = 0;
	for (uint32_t i = 0; function && i < function->shared_count; i++) {
		const struct sim_shared *array = function->shared[i];
		size_t align = array->align > 16 ? array->align : 1; /* simcc aligns every array to 16: not CUDA's */
		bytes = (bytes + align - 1) / align * align + array->size;
	}
	return bytes;
}

size_t sim_function_count(void)
{
	return (size_t)(__stop_sim_functions - __start_sim_functions);
}

const struct sim_function *sim_function_number(size_t index)
{
	return &__start_sim_functions[index];
}

size_t sim_shared_count_all(void)
{
	return (size_t)(__stop_sim_shared - __start_sim_shared);
}

const struct sim_shared *sim_shared_at(size_t index)
{
	return &__start_sim_shared[index];
}

/* Where the array of this record lies, says the program when it starts. */
void sim_place_shared(struct sim_shared *array, const void *address);
void sim_place_shared(struct sim_shared *array, const void *address)
{
	array->offset = (int64_t)((uintptr_t)address - sim_thread_pointer());
}

uintptr_t sim_shared_address(const struct sim_shared *array)
{
	return sim_thread_pointer() + (uintptr_t)array->offset;
}

const struct sim_shared *sim_shared_holding(uintptr_t address)
{
	for (struct sim_shared *array = __start_sim_shared; array < __stop_sim_shared; array++)
		if (address - sim_shared_address(array) < array->size)
			return array;
	return NULL;
}
