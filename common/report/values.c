/* The numbers that columns.h declares. */
#include "problem/attention.h"
#include "report/columns.h"

#include <math.h>
#include <string.h>

enum { WARP_LANES = 32 };

/* NAN where nothing is counted, and where there is nothing to divide by. */
static double counted(const struct kernel_result *kernel, uint64_t value)
{
	return kernel->counts.counted ? (double)value : (double)NAN;
}

static double ratio(double many, double count)
{
	return count > 0.0 ? many / count : (double)NAN;
}

static const struct shared_traffic *shared_of(const struct kernel_result *kernel)
{
	return &kernel->counts.total.shared;
}

static double shared_requests(const struct kernel_result *kernel)
{
	return (double)(shared_of(kernel)->load_requests + shared_of(kernel)->store_requests);
}

static double shared_wavefronts(const struct kernel_result *kernel)
{
	return (double)(shared_of(kernel)->load_wavefronts + shared_of(kernel)->store_wavefronts);
}

static double multiplications(const struct kernel_result *kernel)
{
	return kernel->forms.flop / 2;
}

double value_blocks(const struct kernel_result *kernel)
{
	return counted(kernel, kernel->counts.blocks);
}

double value_block_bytes(const struct kernel_result *kernel)
{
	return counted(kernel, kernel->counts.shared_bytes);
}

double value_requested_bytes(const struct kernel_result *kernel)
{
	const struct traffic *requested = &kernel->counts.total.requested;
	return counted(kernel, requested->read_bytes + requested->write_bytes);
}

double value_footprint_bytes(const struct kernel_result *kernel)
{
	const struct traffic *footprint = &kernel->counts.total.footprint;
	return counted(kernel, footprint->read_bytes + footprint->write_bytes);
}

double value_statistics(const struct kernel_result *kernel)
{
	return counted(kernel, kernel->statistic_bytes / sizeof(float));
}

double value_exponentials(const struct kernel_result *kernel)
{
	return counted(kernel, kernel->counts.exponentials);
}

double value_memory_bytes(const struct kernel_result *kernel)
{
	return (double)kernel->peak_bytes;
}

double value_square_bytes(const struct kernel_result *kernel)
{
	uint64_t bytes = 0;
	for (const struct tensor *tensor = kernel->kernel->tensors; tensor->name; tensor++)
		if (strcmp(tensor->shape, "BHNN") == 0)
			bytes += sizeof(float) * attention_rows(kernel->problem) * kernel->problem->seq;
	return (double)bytes;
}

double value_sectors_per_request(const struct kernel_result *kernel)
{
	const struct launch_counts *total = &kernel->counts.total;
	return ratio((double)(total->sectors.read_bytes + total->sectors.write_bytes), (double)total->requests);
}

double value_wavefronts(const struct kernel_result *kernel)
{
	return ratio(shared_wavefronts(kernel), shared_requests(kernel));
}

double value_ideal_wavefronts(const struct kernel_result *kernel)
{
	return ratio((double)shared_of(kernel)->ideal_wavefronts, shared_requests(kernel));
}

double value_shared_loads(const struct kernel_result *kernel)
{
	return shared_of(kernel)->load_requests ? (double)shared_of(kernel)->load_requests : (double)NAN;
}

double value_shared_stores(const struct kernel_result *kernel)
{
	return shared_of(kernel)->store_requests ? (double)shared_of(kernel)->store_requests : (double)NAN;
}

double value_store_wavefronts(const struct kernel_result *kernel)
{
	return shared_of(kernel)->store_requests ? (double)shared_of(kernel)->store_wavefronts : (double)NAN;
}

double value_conflicts(const struct kernel_result *kernel)
{
	return counted(kernel, shared_of(kernel)->conflicts);
}

double value_fma_per_load(const struct kernel_result *kernel)
{
	return ratio(multiplications(kernel) / WARP_LANES, (double)shared_of(kernel)->load_requests);
}

double value_wavefronts_per_fma(const struct kernel_result *kernel)
{
	return kernel->counts.counted ? ratio(shared_wavefronts(kernel), multiplications(kernel) / WARP_LANES)
	                              : (double)NAN;
}

double value_shared_floats_per_fma(const struct kernel_result *kernel)
{
	double floats = (double)kernel->counts.shared_requested_bytes / sizeof(float);
	return floats > 0.0 ? ratio(floats, multiplications(kernel)) : (double)NAN;
}

double value_floor_ms(const struct kernel_result *kernel)
{
	return kernel->has_floor ? kernel->floor.ms : (double)NAN;
}

double value_time_ms(const struct kernel_result *kernel)
{
	return kernel->time.runs ? kernel->time.median_ms : (double)NAN;
}

double value_teraflops(const struct kernel_result *kernel)
{
	return kernel->time.runs ? 1e-9 * kernel->forms.flop / kernel->time.median_ms : (double)NAN;
}
