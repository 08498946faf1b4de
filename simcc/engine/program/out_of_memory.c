#include <errno.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "program/program.h"

__thread struct lane *sim_lane __attribute__((tls_model("local-exec")));

void out_of_memory(void)
{
	static atomic_flag is_said = ATOMIC_FLAG_INIT;
	static __thread bool is_ending;
	if (is_ending) /* what is done at the end has no memory either */
		_exit(3);
	is_ending = true;
	while (atomic_flag_test_and_set(&is_said)) /* by another thread, which is ending the program */
		pause();
	fprintf(stderr, "the simulated device is out of host memory\n");
	sim_lane = NULL; /* what the program does when it ends is done by its host */
	exit(3);
}

void *need(void *memory)
{
	if (!memory)
		out_of_memory();
	return memory;
}

void need_room(void *array, size_t *capacity, size_t count, size_t size)
{
	if (count <= *capacity)
		return;
	size_t wanted = *capacity ? 2 * *capacity : 16;
	if (wanted < count)
		wanted = count;
	void *memory;
	memcpy(&memory, array, sizeof memory);
	memory = need(realloc(memory, wanted * size));
	memcpy(array, &memory, sizeof memory);
	*capacity = wanted;
}

void *reserve_pages(size_t bytes)
{
	void *range = mmap(NULL, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	return range == MAP_FAILED ? NULL : range;
}

bool is_mapped(uintptr_t first, size_t bytes)
{
	const uintptr_t page = first & ~(uintptr_t)(sysconf(_SC_PAGESIZE) - 1);
	return msync((void *)page, first + bytes - page, MS_ASYNC) == 0 || errno != ENOMEM;
}
