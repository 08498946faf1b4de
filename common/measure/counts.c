#include "measure/counts.h"

#include <stdlib.h>
#include <string.h>

#ifdef DEVICE_SIM
#include "sim.h"

size_t counts_launches(void)
{
	return sim_launch_count();
}

void counts_forget(void)
{
	sim_forget_launches();
}

void counts_write_launch_json(FILE *out, const struct launch_counts *launch)
{
	sim_write_launch_json(out, sim_launch_at(launch->index));
}

static void add_traffic(struct traffic *sum, uint64_t read_bytes, uint64_t write_bytes)
{
	sum->read_bytes += read_bytes;
	sum->write_bytes += write_bytes;
}

static struct tensor_traffic *find_tensor(struct launch_counts *launch, const char *name)
{
	for (size_t i = 0; i < launch->tensor_count; i++)
		if (strcmp(launch->tensors[i].name, name) == 0)
			return &launch->tensors[i];
	struct tensor_traffic *added = &launch->tensors[launch->tensor_count++];
	*added = (struct tensor_traffic){0};
	snprintf(added->name, sizeof added->name, "%s", name);
	return added;
}

/* Adds one launch to the record of that launch, or to the sum of all. */
static void add_launch(struct launch_counts *sum, const struct sim_launch *launch)
{
	add_traffic(&sum->requested, launch->global_load.bytes, launch->global_store.bytes);
	add_traffic(&sum->sectors, launch->global_load.sectors, launch->global_store.sectors);
	add_traffic(&sum->footprint, launch->footprint.read_bytes, launch->footprint.write_bytes);
	sum->requests += launch->global_load.requests + launch->global_store.requests;
	sum->shared.load_bytes += launch->shared_load.bytes;
	sum->shared.load_requests += launch->shared_load.requests;
	sum->shared.load_wavefronts += launch->shared_load.wavefronts;
	sum->shared.store_bytes += launch->shared_store.bytes;
	sum->shared.store_requests += launch->shared_store.requests;
	sum->shared.store_wavefronts += launch->shared_store.wavefronts;
	sum->shared.ideal_wavefronts += launch->shared_load.ideal_wavefronts + launch->shared_store.ideal_wavefronts;
	sum->shared.conflicts += launch->shared_load.conflicts + launch->shared_store.conflicts;
	sum->atomic_bytes += launch->global_atomic.bytes;
	sum->blocks += (uint64_t)launch->grid[0] * launch->grid[1] * launch->grid[2];
	for (size_t t = 0; t < launch->tensor_count; t++) {
		const struct sim_tensor_count *from = &launch->tensors[t];
		struct tensor_traffic *to = find_tensor(sum, from->name);
		add_traffic(&to->requested, from->read_bytes, from->write_bytes);
		add_traffic(&to->footprint, from->footprint.read_bytes, from->footprint.write_bytes);
		to->atomic_bytes += from->atomic_bytes;
	}
}

static bool allocate(struct counts *counts, size_t first, size_t end)
{
	size_t tensors = 0;
	counts->launches = calloc(end - first + 1, sizeof *counts->launches);
	for (size_t i = first; counts->launches && i < end; i++) {
		size_t touched = sim_launch_at(i)->tensor_count;
		tensors += touched;
		if (!(counts->launches[i - first].tensors = calloc(touched + 1, sizeof(struct tensor_traffic))))
			return false;
		counts->launch_count++;
	}
	counts->total.tensors = calloc(tensors + 1, sizeof(struct tensor_traffic));
	return counts->launches && counts->total.tensors;
}

int counts_collect(size_t first, size_t end, struct counts *counts, struct error *error)
{
	*counts = (struct counts){.counted = sim_is_counting()};
	if (!allocate(counts, first, end)) {
		counts_free(counts);
		return error_set(
			error, EXIT_ENVIRONMENT, "out of memory for the counts of %zu launches", end - first);
	}
	for (size_t i = first; i < end; i++) {
		const struct sim_launch *launch = sim_launch_at(i);
		struct launch_counts *own = &counts->launches[i - first];
		snprintf(own->kernel, sizeof own->kernel, "%s", launch->kernel);
		own->index = i;
		add_launch(own, launch);
		add_launch(&counts->total, launch);
		counts->counted = counts->counted && launch->counted;
		if (own->blocks > counts->blocks)
			counts->blocks = own->blocks;
		size_t shared = launch->dynamic_shared_bytes + launch->static_shared_bytes;
		if (shared > counts->shared_bytes)
			counts->shared_bytes = shared;
		counts->exponentials += launch->exp;
		counts->barriers += launch->barriers;
		counts->shared_requested_bytes +=
			launch->shared_load.bytes + launch->shared_store.bytes + launch->shared_atomic.bytes;
	}
	return 0;
}

#else

size_t counts_launches(void)
{
	return 0;
}

void counts_forget(void) {}

void counts_write_launch_json(FILE *out, const struct launch_counts *launch)
{
	(void)out;
	(void)launch;
}

int counts_collect(size_t first, size_t end, struct counts *counts, struct error *error)
{
	(void)first;
	(void)end;
	(void)error;
	*counts = (struct counts){.counted = false};
	return 0;
}

#endif

void counts_free(struct counts *counts)
{
	for (size_t i = 0; i < counts->launch_count; i++)
		free(counts->launches[i].tensors);
	free(counts->launches);
	free(counts->total.tensors);
	*counts = (struct counts){0};
}
