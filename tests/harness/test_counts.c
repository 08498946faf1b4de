/* The sums over the launches of a kernel: each number of the device's records is where it belongs. */
#include "measure/counts.h"
#include "sim.h"

#include <criterion/criterion.h>
#include <string.h>

/* Two launches, as the simulated device records them; no number is another's, nor the sum of two others. */
static const struct sim_tensor_count of_first[] = {{"Q", 1000, 0, 0, {500, 0}}, {"O", 0, 700, 40, {40, 600}}};
static const struct sim_tensor_count of_second[] = {{"O", 3000, 5000, 80, {2000, 4000}}};
static const struct sim_launch launches[] = {
	{.kernel = "first",
         .grid = {2, 3, 5},
         .dynamic_shared_bytes = 100,
         .static_shared_bytes = 7,
         .global_load = {1, 2, 4},
         .global_store = {8, 16, 32},
         .global_atomic = {64, 0, 0},
         .shared_load = {1, 2, 4, 8, 16},
         .shared_store = {32, 64, 128, 256, 512},
         .shared_atomic = {1024, 0, 0, 0, 0},
         .footprint = {3, 5},
         .tensors = of_first,
         .tensor_count = 2,
         .barriers = 9,
         .exp = 11,
         .counted = 1},
	{.kernel = "second",
         .grid = {7, 1, 1},
         .dynamic_shared_bytes = 90,
         .static_shared_bytes = 16,
         .global_load = {1000, 2000, 4000},
         .global_store = {8000, 16000, 32000},
         .global_atomic = {64000, 0, 0},
         .shared_load = {10000, 20000, 40000, 80000, 160000},
         .shared_store = {320000, 640000, 1280000, 2560000, 5120000},
         .shared_atomic = {10240000, 0, 0, 0, 0},
         .footprint = {300, 500},
         .tensors = of_second,
         .tensor_count = 1,
         .barriers = 90,
         .exp = 110,
         .counted = 1}};

size_t sim_launch_count(void)
{
	return sizeof launches / sizeof launches[0];
}

int sim_is_counting(void)
{
	return 1;
}

const struct sim_launch *sim_launch_at(size_t index)
{
	return &launches[index];
}

void sim_forget_launches(void) {}

void sim_write_launch_json(FILE *out, const struct sim_launch *launch)
{
	fputs(launch->kernel, out);
}

#define EXPECT_TRAFFIC(traffic, read, written)                                                                       \
	cr_expect((traffic).read_bytes == (read) && (traffic).write_bytes == (written), #traffic)

Test(counts, are_summed_over_launches)
{
	struct counts counts;
	struct error error;
	cr_assert_eq(counts_collect(0, counts_launches(), &counts, &error), 0);
	const struct launch_counts *sum = &counts.total;
	cr_assert(counts.counted && counts.launch_count == 2 && sum->tensor_count == 2);
	EXPECT_TRAFFIC(sum->requested, 1001, 8008);
	EXPECT_TRAFFIC(sum->sectors, 4004, 32032);
	EXPECT_TRAFFIC(sum->footprint, 303, 505);
	cr_expect_eq(sum->requests, 2002 + 16016);
	cr_expect_eq(sum->atomic_bytes, 64064);
	const struct shared_traffic *shared = &sum->shared;
	cr_expect(shared->load_bytes == 10001 && shared->load_requests == 20002 && shared->load_wavefronts == 40004);
	cr_expect(
		shared->store_bytes == 320032 && shared->store_requests == 640064 &&
		shared->store_wavefronts == 1280128);
	cr_expect(shared->ideal_wavefronts == 80008 + 2560256 && shared->conflicts == 160016 + 5120512);
	cr_expect_eq(counts.shared_requested_bytes, 10001 + 320032 + 10241024);
	cr_expect(counts.barriers == 99 && counts.exponentials == 121);
	cr_expect(counts.blocks == 30 && counts.shared_bytes == 107, "of the launch that has most");
	cr_expect_str_eq(sum->tensors[0].name, "Q");
	EXPECT_TRAFFIC(sum->tensors[0].requested, 1000, 0);
	EXPECT_TRAFFIC(sum->tensors[1].requested, 3000, 5700);
	EXPECT_TRAFFIC(sum->tensors[1].footprint, 2040, 4600);
	cr_expect_eq(sum->tensors[1].atomic_bytes, 120);
	cr_expect_str_eq(counts.launches[1].kernel, "second");
	cr_expect(counts.launches[1].index == 1 && counts.launches[1].blocks == 7);
	EXPECT_TRAFFIC(counts.launches[1].requested, 1000, 8000);
	counts_free(&counts);
}
