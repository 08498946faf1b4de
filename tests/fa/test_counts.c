/*
 * What the kernels of chapters 04 and 05 move, against closed forms worked out here, apart from the chapters' own
 * (guarded loads, each element once a visit). Per tensor, all heads.
 */
#include "chapter_run.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

struct shape {
	uint64_t B, H, N, d, Br, Bc; /* Br, Bc 0: the kernel's own */
	bool causal;
};

static const struct shape shapes[] = {
	{1, 1, 1, 1, 16, 16, false},
	{1, 1, 1, 128, 1, 1, true},
	{1, 2, 2, 8, 32, 64, true},
	{2, 3, 33, 40, 16, 8, false},
	{2, 1, 33, 40, 16, 8, true},
	{1, 1, 97, 59, 100, 13, false},
	{1, 1, 97, 59, 13, 100, true},
	{1, 1, 128, 64, 64, 32, true},
	{1, 1, 200, 80, 48, 40, true},
	{1, 3, 65, 31, 7, 11, false},
	{1, 1, 257, 31, 11, 7, true},
	{1, 1, 130, 111, 17, 31, true},
	{1, 1, 70, 128, 64, 48, false},
	{1, 1, 300, 8, 256, 5, true},
	/* only in make test-all */
	{1, 2, 128, 64, 32, 32, true},
	{1, 1, 128, 64, 32, 64, true},
	{1, 1, 200, 80, 64, 24, false},
	{1, 1, 257, 96, 128, 32, true},
	{1, 3, 257, 31, 7, 11, false},
	{1, 1, 130, 128, 64, 48, false},
	{1, 1, 300, 33, 256, 5, true},
};

static size_t shape_count(void)
{
	return thorough() ? sizeof shapes / sizeof shapes[0] : 14;
}

/* All kernels of a program on a shape, one run. */
static char *options_of(const struct shape *s)
{
	return text(
		"--batch %d --heads %d --seq %d --dim %d --tile-q %d --tile-k %d%s", (int)s->B, (int)s->H, (int)s->N,
		(int)s->d, (int)s->Br, (int)s->Bc, s->causal ? " --causal" : "");
}

static uint64_t tiles(uint64_t N, uint64_t step)
{
	return N / step + (N % step != 0);
}

static void expect_moved(const char *what, const cJSON *kernel, const char *tensor, uint64_t read, uint64_t written)
{
	struct moved moved = elements_of(kernel, tensor);
	cr_expect_eq(
		moved.read, read, "%s: reads %d elements of %s, expected %d", what, (int)moved.read, tensor,
		(int)read);
	cr_expect_eq(
		moved.written, written, "%s: writes %d elements of %s, expected %d", what, (int)moved.written, tensor,
		(int)written);
}

/* Algorithm 1 visits each of the Tc key tiles once, and Q, O, l, m with each; the first visit only writes. */
static void expect_paper(const struct shape *s, const struct chapter_run *run)
{
	char *what = text("fa1_paper %s", options_of(s));
	const cJSON *kernel = kernel_named(run, "fa1_paper");
	uint64_t heads = s->B * s->H, Nd = heads * s->N * s->d, Tc = tiles(s->N, s->Bc);
	expect_moved(what, kernel, "Q", Tc * Nd, 0);
	expect_moved(what, kernel, "K", Nd, 0);
	expect_moved(what, kernel, "V", Nd, 0);
	expect_moved(what, kernel, "O", (Tc - 1) * Nd, Tc * Nd);
	expect_moved(what, kernel, "l", (Tc - 1) * heads * s->N, Tc * heads * s->N);
	expect_moved(what, kernel, "m", (Tc - 1) * heads * s->N, Tc * heads * s->N);
	cr_expect_eq(number_at(kernel, "model/elements"), (3 * Tc + 1) * Nd, "%s", what);
	cr_expect_eq(number_at(kernel, "blocks"), heads, "%s", what);
	cr_expect_eq(number_at(kernel, "shared_bytes"), 4 * s->Bc * (2 * s->d + s->Br), "%s", what);
}

/* fa1_row reads all keys for each tile of Br query rows, masked or not; one block a head. */
static void expect_row(const struct shape *s, const struct chapter_run *run, const char *name)
{
	char *what = text("%s %s", name, options_of(s));
	const cJSON *kernel = kernel_named(run, name);
	uint64_t heads = s->B * s->H, Nd = heads * s->N * s->d, Tr = tiles(s->N, s->Br);
	expect_moved(what, kernel, "Q", Nd, 0);
	expect_moved(what, kernel, "K", Tr * Nd, 0);
	expect_moved(what, kernel, "V", Tr * Nd, 0);
	expect_moved(what, kernel, "O", 0, Nd);
	expect_moved(what, kernel, "LSE", 0, heads * s->N);
	cr_expect_eq(number_at(kernel, "blocks"), heads, "%s", what);
}

Test(counts, fa1_to_the_element, .timeout = 120)
{
	for (size_t i = 0; i < shape_count(); i++) {
		struct chapter_run run = run_one_of_many(FA1, options_of(&shapes[i]));
		expect_paper(&shapes[i], &run);
		expect_row(&shapes[i], &run, "fa1_row");
		free_chapter_run(&run);
	}
}

/* Keys that query tile i loads, summed over i: whole tiles up to the diagonal. Counted by walking, not by formula. */
static uint64_t walk_keys(const struct shape *s, uint64_t Br, uint64_t Bc)
{
	uint64_t keys = 0;
	for (uint64_t row = 0; row < s->N; row += Br)
		for (uint64_t key = 0; key < s->N; key += Bc) {
			uint64_t last_row = row + Br < s->N ? row + Br - 1 : s->N - 1;
			if (!s->causal || key <= last_row)
				keys += key + Bc < s->N ? Bc : s->N - key;
		}
	return keys;
}

static void expect_fa2(
	const struct shape *s, const struct chapter_run *run, const char *name, uint64_t Br, uint64_t Bc)
{
	char *what = text("%s %s", name, options_of(s));
	const cJSON *kernel = kernel_named(run, name);
	uint64_t heads = s->B * s->H, Nd = heads * s->N * s->d, keys = heads * walk_keys(s, Br, Bc);
	expect_moved(what, kernel, "Q", Nd, 0);
	expect_moved(what, kernel, "K", keys * s->d, 0);
	expect_moved(what, kernel, "V", keys * s->d, 0);
	expect_moved(what, kernel, "O", 0, Nd);
	expect_moved(what, kernel, "LSE", 0, heads * s->N);
	cr_expect_eq(number_at(kernel, "model/elements"), 2 * Nd + 2 * keys * s->d, "%s", what);
	cr_expect_eq(number_at(kernel, "blocks"), heads * tiles(s->N, Br), "%s", what);
	cr_expect_eq(number_at(kernel, "launches/0/grid/0"), tiles(s->N, Br), "%s", what);
	cr_expect_eq(number_at(kernel, "launches/0/grid/1"), s->H, "%s", what);
	cr_expect_eq(number_at(kernel, "launches/0/grid/2"), s->B, "%s", what);
}

Test(counts, fa2_to_the_element, .timeout = 120)
{
	for (size_t i = 0; i < shape_count(); i++) {
		const struct shape *s = &shapes[i];
		struct chapter_run run = run_one_of_many(FA2, options_of(s));
		expect_fa2(s, &run, "fa2_row", s->Br, s->Bc);
		uint64_t rows_of_warp = s->d <= 64 ? 32 : 16, keys = s->d <= 96 ? 64 : 32;
		expect_fa2(s, &run, "fa2_tile", rows_of_warp, keys);
		expect_fa2(s, &run, "fa2_slab", rows_of_warp, keys);
		expect_fa2(s, &run, "fa2_split_q", 4 * rows_of_warp, keys);
		free_chapter_run(&run);
	}
}

/* Br = Bc dividing N, causal: N d (T + 3). */
Test(counts, causal_saves_what_the_formula_says)
{
	struct chapter_run run = run_verified(
		FA2, "--kernel fa2_row --heads 1 --seq 256 --dim 64 --tile-q 32 "
		     "--tile-k 32 --causal");
	cr_assert_eq(number_at(kernel_named(&run, "fa2_row"), "model/elements"), 256 * 64 * (8 + 3));
	free_chapter_run(&run);
}

/* The published table, naive against flash: what is requested of Q, K, V, O, LSE apart. */
Test(counts, table_of_flash_against_naive, .timeout = 240)
{
	static const struct {
		int N;
		uint64_t elements;
	} rows[] = {{256, 98304}, {512, 327680}, {1024, 1179648}, {2048, 4456448}, {4096, 17301504}};
	for (size_t i = 0; i < (thorough() ? sizeof rows / sizeof rows[0] : 2); i++) {
		struct chapter_run run = run_one_of_many(
			FA2, text("--kernel fa2_row --heads 1 --seq %d --dim 64 --tile-q 128 "
		                  "--tile-k 128",
		                  rows[i].N));
		const cJSON *kernel = kernel_named(&run, "fa2_row");
		uint64_t sum = 0;
		for (const char *tensor = "Q\0K\0V\0O\0"; *tensor; tensor += 2)
			sum += elements_of(kernel, tensor).read + elements_of(kernel, tensor).written;
		cr_expect_eq(sum, rows[i].elements, "N=%d: %d elements", rows[i].N, (int)sum);
		cr_expect_eq(elements_of(kernel, "LSE").written, (uint64_t)rows[i].N);
		free_chapter_run(&run);
	}
}

/* The paper's figure of HBM against block size: 3 Tc + 1 units of N d; in make test at a quarter of its N and Bc. */
Test(counts, figure_of_block_sizes)
{
	static const struct {
		int d, Br, Bc, units;
	} rows[] = {{32, 32, 512, 7}, {64, 64, 256, 13}, {64, 64, 64, 49}, {64, 64, 128, 25}};
	const int N = thorough() ? 1024 : 256;
	for (size_t i = 0; i < (thorough() ? sizeof rows / sizeof rows[0] : 2); i++) {
		struct chapter_run run = run_one_of_many(
			FA1, text("--kernel fa1_paper --heads 1 --seq %d --dim %d --tile-q %d --tile-k %d", N,
		                  rows[i].d, rows[i].Br, rows[i].Bc * N / 1024));
		const cJSON *kernel = kernel_named(&run, "fa1_paper");
		uint64_t sum = 0;
		for (const char *tensor = "Q\0K\0V\0O\0"; *tensor; tensor += 2)
			sum += elements_of(kernel, tensor).read + elements_of(kernel, tensor).written;
		cr_expect_eq(sum, (uint64_t)(rows[i].units * N * rows[i].d), "Bc=%d: %d", rows[i].Bc, (int)sum);
		free_chapter_run(&run);
	}
}

/* Warps that split the queries: at least 8 times fewer shared loads for an FMA, no avoidable conflicts. */
Test(counts, shared_memory_of_split_q)
{
	static const int dims[] = {64, 111, 32, 40, 59, 80, 96, 128};
	for (size_t i = 0; i < (thorough() ? sizeof dims / sizeof dims[0] : 2); i++)
		for (int causal = 0; causal < 2; causal++) {
			/* 512 and 256: tiles of both kernels visit the same pairs, causal too, but for the diagonal's
			 * corners */
			char *options =
				text("--heads 1 --seq %d --dim %d --tile-q %d --tile-k %d%s", thorough() ? 512 : 256,
			             dims[i], dims[i] <= 64 ? 128 : 64, dims[i] <= 96 ? 64 : 32,
			             causal ? " --causal" : "");
			struct chapter_run run = run_one_of_many(FA2, options);
			const cJSON *row = kernel_named(&run, "fa2_row"), *split = kernel_named(&run, "fa2_split_q");
			double of_row = number_at(row, "launches/0/shared/load/requests"),
			       of_split = number_at(split, "launches/0/shared/load/requests");
			cr_expect_leq(of_split, of_row / 8, "%s: %g loads against %g", options, of_split, of_row);
			double loads = number_at(split, "launches/0/shared/load/wavefronts"),
			       ideal = number_at(split, "launches/0/shared/load/ideal_wavefronts"),
			       stores = number_at(split, "launches/0/shared/store/conflicts");
			/* reads of P~ take half of it, those of K, V and Q all */
			cr_expect_lt(loads, ideal, "%s: %g wavefronts, ideal %g", options, loads, ideal);
			cr_expect_leq(stores, 0.05 * ideal, "%s: %g conflicts of stores", options, stores);
			/* an SM starts 4 multiply-adds of a warp a clock and serves 1 wavefront: at d = 64 enough for
			 * the peak */
			double wavefronts = loads + number_at(split, "launches/0/shared/store/wavefronts");
			cr_expect_leq(
				wavefronts, (dims[i] == 64 ? 0.25 : 0.45) * of_row, "%s: %g wavefronts, fa2_row %g",
				options, wavefronts, of_row);
			free_chapter_run(&run);
		}
}

/* Shared loads and wavefronts of one lane's product of a tile, worked out by hand at d = 64, where a lane has 8 rows, 8 keys
 * and 8 columns: 16 loads per 4 columns of scores, 64 times; 2 per key for P~ V by shuffles; 16 per 4 keys from a slab. */
Test(counts, a_step_of_the_ladder_changes_what_it_says)
{
	struct chapter_run run = run_one_of_many(FA2, "--heads 1 --seq 128 --dim 64");
	const double warps_and_tiles = 4 * 2, scores = 16 * 16, by_shuffles = 2 * 64, by_slab = 16 * 16;
	const cJSON *tile = kernel_named(&run, "fa2_tile"), *slab = kernel_named(&run, "fa2_slab"),
		    *split = kernel_named(&run, "fa2_split_q");
	cr_expect_eq(number_at(tile, "launches/0/shared/load/requests"), warps_and_tiles * (scores + by_shuffles));
	const cJSON *const padded[] = {slab, split};
	for (int i = 0; i < 2; i++)
		cr_expect_eq(
			number_at(padded[i], "launches/0/shared/load/requests"),
			warps_and_tiles * (scores + by_slab));
	/* without padding 8 keys meet in the same banks: a pass of 8 lanes takes 8 wavefronts, a load of K 32 */
	double of_k = warps_and_tiles * 16 * 8, of_tile = number_at(tile, "launches/0/shared/load/conflicts");
	cr_expect_geq(of_tile, of_k * (32 - 4), "%g conflicts", of_tile);
	cr_expect_leq(number_at(slab, "launches/0/shared/load/conflicts"), 0.1 * of_tile);
	/* four warps share each tile of K and V */
	for (const char *tensor = "K\0V\0"; *tensor; tensor += 2)
		cr_expect_eq(elements_of(slab, tensor).read, 4 * elements_of(split, tensor).read);
	free_chapter_run(&run);
}

/* 16-byte loads where rows start at 16 bytes, scalar ones elsewhere: a request for 4 columns, or for one. */
Test(counts, wide_loads_where_d_allows)
{
	struct chapter_run wide = run_verified(FA2, "--kernel fa2_split_q --heads 1 --seq 128 --dim 64"),
			   narrow = run_verified(FA2, "--kernel fa2_split_q --heads 1 --seq 128 --dim 63");
	const cJSON *w = kernel_named(&wide, "fa2_split_q"), *n = kernel_named(&narrow, "fa2_split_q");
	cr_expect_eq(
		number_at(w, "launches/0/global/load/bytes"), 512 * number_at(w, "launches/0/global/load/requests"));
	cr_expect_leq(
		number_at(n, "launches/0/global/load/bytes"), 128 * number_at(n, "launches/0/global/load/requests"));
	free_chapter_run(&wide);
	free_chapter_run(&narrow);
}
