/* The floor against figures worked out by hand: an H200, B=1 H=8 N=16384 d=64. */
#include "measure/floors.h"

#include <criterion/criterion.h>
#include <string.h>

static const double heads = 8, N = 16384, d = 64;

Test(floors, forward_on_an_h200)
{
	const struct gpu *gpu = gpu_find("h200");
	struct floor_work work = {
		.hbm_bytes = 4 * 4 * heads * N * d, .flop = 4 * heads * N * N * d, .exponentials = heads * N * N};
	struct floor floor = floor_compute(&work, gpu);
	cr_assert_str_eq(floor.bound_by, "fp32");
	cr_assert_float_eq(floor.ms, 8.22, 0.05);
	work.flop = 0;
	floor = floor_compute(&work, gpu);
	cr_assert_str_eq(floor.bound_by, "exp");
	cr_assert_float_eq(floor.ms, 0.514, 0.003);
	work.exponentials = 0;
	floor = floor_compute(&work, gpu);
	cr_assert_str_eq(floor.bound_by, "hbm");
	cr_assert_float_eq(floor.ms, 0.028, 0.0005);
	work.flop = 10 * heads * N * N * d;
	cr_assert_float_eq(floor_compute(&work, gpu).ms, 20.5, 0.15);
}

/* 7.2 ms counts all of S and P; what L2 could hold back is 0.6 % of it. */
Test(floors, naive_traffic_on_an_h200)
{
	const struct gpu *gpu = gpu_find("h200");
	double square = 4 * heads * N * N;
	struct floor_work work = {.hbm_bytes = 4 * 4 * heads * N * d + 2 * floor_intermediate_bytes(square, gpu)};
	struct floor floor = floor_compute(&work, gpu);
	cr_assert_float_eq(floor.ms, 7.2, 0.08);
	cr_assert_float_eq(floor_intermediate_bytes((double)gpu->l2_bytes, gpu), 0, 0);
	cr_assert_float_eq(floor_intermediate_bytes((double)gpu->l2_bytes + 100, gpu), 200, 0);
}

Test(floors, few_blocks_fill_few_sms)
{
	const struct gpu *gpu = gpu_find("h100");
	struct floor_work work = {.flop = 1e12, .blocks = 8};
	double few = floor_compute(&work, gpu).ms;
	work.blocks = 1024;
	double many = floor_compute(&work, gpu).ms;
	work.blocks = 0;
	cr_assert_float_eq(few / many, 132.0 / 8.0, 1e-9);
	cr_assert_float_eq(floor_compute(&work, gpu).ms, many, 0);
	work = (struct floor_work){.hbm_bytes = 1e9, .blocks = 1};
	double one = floor_compute(&work, gpu).ms;
	work.blocks = 0;
	cr_assert_float_eq(one, floor_compute(&work, gpu).ms, 0, "one block may use all of the HBM bandwidth");
}

Test(floors, shared_bytes_are_a_lower_bound)
{
	/* 32 lanes that read one word ask for 128 bytes, 4 of them distinct. */
	cr_assert_float_eq(floor_shared_bytes(128), 4, 0);
	const struct gpu *gpu = gpu_find("h100");
	struct floor_work work = {.shared_bytes = gpu->shared_bytes_per_s};
	struct floor floor = floor_compute(&work, gpu);
	cr_assert_str_eq(floor.bound_by, "shared");
	cr_assert_float_eq(floor.ms, 1000, 1e-6);
}
