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

int trace_compare_objects(const struct object *a, const struct object *b)
{
	int order = (a->space > b->space) - (a->space < b->space);
	if (order == 0 && a->space == SIM_SHARED) /* numbered as a linker found them */
		order = strcmp(a->name, b->name);
	return order != 0 ? order : (a->number > b->number) - (a->number < b->number);
}
