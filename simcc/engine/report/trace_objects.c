/* What the lines of a trace name. */
#include <string.h>

#include "report/trace.h"

size_t trace_object_count(void)
{
	return sim_shared_count_all() + 1 + sim_allocation_count();
}

struct object trace_object(const struct request *launch, uint32_t number)
{
	const size_t arrays = sim_shared_count_all();
	if (number < arrays) {
		const struct sim_shared *array = sim_shared_at(number);
		return (struct object){number, SIM_SHARED, array->name, sim_shared_address(array), array->size};
	}
	if (number == arrays)
		return (struct object){
			number, SIM_SHARED, "dynamic shared memory", (uintptr_t)sim_dynamic_shared,
			launch->dynamic_shared_bytes};
	const struct sim_allocation *allocation = sim_allocation_at(number - arrays - 1);

	return (struct object){
		number, allocation->is_constant ? SIM_CONSTANT : SIM_GLOBAL, allocation->name, allocation->first,
		allocation->size};
}

uint32_t trace_find_object(enum sim_space space, uintptr_t address)
{
	const size_t arrays = sim_shared_count_all();
	if (space != SIM_SHARED)
		return (uint32_t)arrays + 1 + sim_memory_find(address)->index;
	if (address - (uintptr_t)sim_dynamic_shared < DYNAMIC_SHARED_MAX)
		return (uint32_t)arrays;
	return (uint32_t)(sim_shared_holding(address) - sim_shared_at(0));
}

int trace_compare_objects(const struct object *a, const struct object *b)
{
	int order = (a->space > b->space) - (a->space < b->space);
	if (order == 0 && a->space == SIM_SHARED) /* numbered as a linker found them */
		order = strcmp(a->name, b->name);
	return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}
