/* The floor of an H200 at B=1 H=8 N=16384 d=64, and worked out by hand. */
#include "measure/floors.h"

#include <criterion/criterion.h>
#include <string.h>

static const double heads = 8, N = 16384, d = 64;

Test(floors, forward_on_an_h200)
{
	const struct gpu *gpu = gpu_find("h200");
	struct floor_work work = {
		.input_bytes = 3 * 4 * heads * N * d,
		.written_bytes = 4 * heads * N * d,
		.flop = 4 * heads * N * N * d,
		.exponentials = heads * N * N};
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
	/* Q, K and V, 100.7 MB at 4.8 TB/s; O, 33.6 MB, may stay in L2 */
	cr_assert_float_eq(floor.ms, 0.02097, 0.00001);
	work.flop = 10 * heads * N * N * d;
	cr_assert_float_eq(floor_compute(&work, gpu).ms, 20.5, 0.15);
}

/* A cache that writes back may keep what was written, up to its size, whatever it belongs to. An intermediate that a
 * launch hands on is read again as far as L2 cannot hold it; what is waiting at the end is one L2 full, of outputs and
 * intermediates together. */
Test(floors, what_l2_keeps)
{
	const struct gpu *gpu = gpu_find("h100");
	const double l2 = 50.0 * 1024 * 1024, square = 3 * l2;
	const struct {
		double input, written, handed, hbm;
	} cases[] = {
		{1000, 4000, 0, 1000},
		{1000, l2, 0, 1000},
		{1000, l2 + 4000, 0, 5000},
		{1000, 3 * l2, 0, 1000 + 2 * l2},
		{0, 4000, 0, 0},
		/* S and P of naive attention: 2 x 2 L2 read again; 6.5 L2 written, 5.5 of them to HBM */
		{l2 / 4, 2 * square + l2 / 2, square, l2 / 4 + 4 * l2 + 5.5 * l2},
		/* both fit by themselves, not at the end together: half an L2 is written, nothing read again */
		{l2 / 4, l2 + l2 / 2, l2 / 2, l2 / 4 + l2 / 2},
	};
	cr_assert_eq((double)gpu->l2_bytes, l2);
	cr_assert_float_eq(floor_handed_bytes(l2, gpu), 0, 0);
	cr_assert_float_eq(floor_handed_bytes(l2 + 100, gpu), 100, 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct floor_work work = {
			.input_bytes = cases[i].input,
			.written_bytes = cases[i].written,
			.handed_bytes = 2 * floor_handed_bytes(cases[i].handed, gpu)};
		struct floor floor = floor_compute(&work, gpu);
		cr_expect_float_eq(floor.ms / 1e3 * gpu->hbm_bytes_per_s, cases[i].hbm, 1e-3, "case %zu", i);
		/* Of equal times the memory's is named, also where all are 0. */
		cr_expect_str_eq(floor.bound_by, "hbm", "case %zu", i);
		cr_expect_str_eq(floor.full_bound_by, "hbm", "case %zu", i);
	}
}

/* The cost and the occupancy are two numbers; the floor of a run has both in one. Few blocks fill few of 132 SMs, and
 * one may use all of the HBM bandwidth. What bounds the few need not bound all. Kills: a full floor held against the
 * other. */
Test(floors, cost_and_occupancy_apart)
{
	const struct gpu *gpu = gpu_find("h100");
	static const struct {
		double hbm, fp32, exp, shared; /* milliseconds of all SMs */
		size_t blocks, busy;
		double ms, full_ms;
		const char *bound_by, *full_bound_by;
	} cases[] = {
		{1, 2, 5, 3, 13, 13, 5 * 132 / 13.0, 5, "exp", "exp"},
		{1, 0.5, 0, 0, 2, 2, 0.5 * 132 / 2, 1, "fp32", "hbm"},
		{0, 0, 0, 7, 8, 8, 7 * 132 / 8.0, 7, "shared", "shared"},
		{1, 0, 0, 0, 1, 1, 1, 1, "hbm", "hbm"},
		{0, 4, 0, 0, 1000, 132, 4, 4, "fp32", "fp32"},
		{0, 4, 0, 0, 0, 132, 4, 4, "fp32", "fp32"}, /* not known: no limit */
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct floor_work work = {
			.input_bytes = 1e-3 * cases[i].hbm * gpu->hbm_bytes_per_s,
			.flop = 1e-3 * cases[i].fp32 * gpu->fp32_flop_per_s,
			.exponentials = 1e-3 * cases[i].exp * gpu->exp_per_s,
			.shared_bytes = 1e-3 * cases[i].shared * gpu->shared_bytes_per_s,
			.blocks = cases[i].blocks};
		struct floor floor = floor_compute(&work, gpu);
		cr_expect_float_eq(floor.ms, cases[i].ms, 1e-9, "case %zu: %g", i, floor.ms);
		cr_expect_float_eq(floor.full_ms, cases[i].full_ms, 1e-9, "case %zu: %g", i, floor.full_ms);
		cr_expect_float_eq(floor.memory_ms, cases[i].hbm, 1e-9, "case %zu: %g", i, floor.memory_ms);
		cr_expect_str_eq(floor.bound_by, cases[i].bound_by, "case %zu", i);
		cr_expect_str_eq(floor.full_bound_by, cases[i].full_bound_by, "case %zu", i);
		cr_expect(floor.busy_sms == cases[i].busy && floor.sms == 132, "case %zu", i);
	}
	/* 32 lanes that read one word ask for 128 bytes, 4 of them distinct. */
	cr_expect_float_eq(floor_shared_bytes(128), 4, 0);
}

/* Kills: roofs of another GPU, which no run on the simulated device asks for. */
Test(floors, a_device_is_a_gpu_of_the_table_or_none)
{
	static const struct {
		const char *driver_name;
		int sms, gigabytes;
		const char *gpu;
	} devices[] = {
		{"NVIDIA H100 80GB HBM3", 132, 80, "h100"},
		{"NVIDIA H100 PCIe", 114, 80, NULL},
		{"NVIDIA H200", 132, 141, "h200"},
		{"NVIDIA GH200 480GB", 132, 96, NULL},
		{"NVIDIA A100-SXM4-40GB", 108, 40, "a100"},
		{"NVIDIA A100-SXM4-80GB", 108, 80, "a100-80"},
		{"NVIDIA A100-SXM4-80GB MIG 1g.10gb", 14, 10, NULL},
		{"NVIDIA GeForce RTX 4090", 128, 24, "rtx4090"},
		{"NVIDIA GeForce RTX 4090 Laptop GPU", 76, 16, NULL},
		{"NVIDIA GeForce RTX 3060", 28, 12, NULL},
	};
	for (size_t i = 0; i < sizeof devices / sizeof devices[0]; i++) {
		size_t bytes = (size_t)devices[i].gigabytes * 1000000000;
		const struct gpu *gpu = gpu_of_device(devices[i].driver_name, devices[i].sms, bytes);
		cr_expect_str_eq(
			gpu ? gpu->name : "none", devices[i].gpu ? devices[i].gpu : "none", "%s",
			devices[i].driver_name);
	}
}
