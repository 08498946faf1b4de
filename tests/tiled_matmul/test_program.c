/*
 * Chapter 03's program: ragged shapes and every kind of input verified, all counts equal to their closed forms, and
 * the numbers its lesson rests on: sectors, wavefronts, shared reads.
 */
#include "json.h"
#include "page.h"
#include "program.h"

#include "problem/npy.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM TEST_BUILD "/chapters/tiled_matmul"
#define CHAPTER TEST_ROOT "/03_tiled_matmul"

enum { KERNELS = 7, TILED = 2, PADDED = 3, COLUMN = 4, SQUARE = 5, REGISTERS = 6 };

static const char *const kernel_names[KERNELS] = {"matmul_naive",    "matmul_coalesced", "matmul_tiled",
                                                  "matmul_padded",   "matmul_column",    "matmul_square",
                                                  "matmul_registers"};

static struct outcome run(const char *line)
{
	return run_line(PROGRAM, line, NOTHING, 120);
}

static double tiles(double extent, double tile)
{
	return ceil(extent / tile);
}

/* What each kernel asks for of A, B and C, in elements, worked out here once more. */
static void check_counts(const cJSON *json, const char *line, double m, double n, double k)
{
	for (size_t i = 0; i < KERNELS; i++) {
		const cJSON *kernel = json_named(json_get(json, "kernels"), kernel_names[i]);
		cr_assert(kernel, "%s: no %s", line, kernel_names[i]);
		cr_expect(cJSON_IsTrue(json_get(kernel, "verified")), "%s: %s: not verified", line, kernel_names[i]);
		double tile = i >= SQUARE ? 128 : 32;
		double a = i < TILED ? m * n * k : m * k * tiles(n, tile);
		double b = i < TILED ? m * n * k : k * n * tiles(m, tile);
		cr_expect_eq(json_read_of(kernel, "A"), 4 * a, "%s: %s: A", line, kernel_names[i]);
		cr_expect_eq(json_read_of(kernel, "B"), 4 * b, "%s: %s: B", line, kernel_names[i]);
		cr_expect_eq(json_written_of(kernel, "C"), 4 * m * n, "%s: %s: C", line, kernel_names[i]);
		const cJSON *footprint = json_get(json_get(kernel, "hbm"), "footprint");
		cr_expect_eq(json_number_of(footprint, "read_bytes"), 4 * (m * k + k * n));
		const cJSON *of_a = json_named(json_get(json_get(kernel, "hbm"), "tensors"), "A");
		cr_expect_eq(
			json_number_of(json_get(of_a, "footprint"), "read_bytes"), 4 * m * k,
			"%s: %s: footprint of A", line, kernel_names[i]);
		cr_expect_eq(
			json_number_of(json_get(kernel, "model"), "elements"), a + b + m * n, "%s: %s: closed form",
			line, kernel_names[i]);
	}
}

static const int extents[] = {1, 2, 17, 29, 30, 31, 32, 33, 63, 64, 65, 97, 113, 128, 200, 257};

enum { EXTENTS = sizeof extents / sizeof extents[0] };

/* Every pair of m and n; k goes round, so that each pair of n and k, and of m and k, comes as well. In make test
 * every fourth pair, but for products of more than a million: each extent twice and more as m, as n and as k. */
Test(program, every_shape)
{
	for (size_t a = 0; a < EXTENTS; a++)
		for (size_t b = 0; b < EXTENTS; b++) {
			int m = extents[a], n = extents[b], k = extents[(a + b) % EXTENTS];
			if (!thorough() && ((a + b + a / 4) % 4 != 0 || m * n * k > 1000000))
				continue;
			const char *line = text("--m %d --n %d --k %d --seed %zu", m, n, k, a);
			const char *checks = m * n * k > 100000 ? without_racecheck() : NULL;
			cJSON *json = run_json_with(PROGRAM, line, checks, 0);
			check_counts(json, line, m, n, k);
			cJSON_Delete(json);
		}
}

Test(program, every_kind_of_input)
{
	static const char *const kinds[] = {"random", "large-logits", "very-negative", "constant", "one-hot", "ramp"};
	const char *const shapes[] = {
		"--m 1 --n 1 --k 1", "--m 33 --n 17 --k 113", "--m 65 --n 130 --k 2",
		thorough() ? "--m 2 --n 3 --k 1000" : "--m 2 --n 3 --k 200"};
	for (size_t i = 0; i < sizeof kinds / sizeof kinds[0]; i++)
		for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
			struct outcome o = run_line(
				PROGRAM, text("%s --input %s --quiet", shapes[s], kinds[i]),
				LIST(without_racecheck()), 120);
			cr_expect_eq(o.status, 0, "%s %s: %s%s", shapes[s], kinds[i], o.out, o.err);
			free_outcome(&o);
		}
}

struct memory {
	double requests, sectors, wavefronts, ideal, conflicts;
};

static struct memory traffic(const cJSON *json, size_t kernel, const char *space, const char *direction)
{
	const cJSON *entry = json_named(json_get(json, "kernels"), kernel_names[kernel]);
	const cJSON *launch = cJSON_GetArrayItem(json_get(entry, "launches"), 0);
	const cJSON *count = json_get(json_get(launch, space), direction);
	bool is_shared = strcmp(space, "shared") == 0;
	return (struct memory){
		.requests = json_number_of(count, "requests"),
		.sectors = is_shared ? 0 : json_number_of(count, "sectors"),
		.wavefronts = is_shared ? json_number_of(count, "wavefronts") : 0,
		.ideal = is_shared ? json_number_of(count, "ideal_wavefronts") : 0,
		.conflicts = is_shared ? json_number_of(count, "conflicts") : 0,
	};
}

/* 128 x 128 x 128: 512 warps of 32 elements of C, 128 steps of k. */
Test(program, what_each_step_changes)
{
	cJSON *json = run_json(PROGRAM, "--m 128 --n 128 --k 128", 0);
	const double steps = 512 * 128;
	/* Down a column: 32 sectors of A and one of B; along a row: one of A and 4 of B. */
	cr_expect_eq(traffic(json, 0, "global", "load").sectors, steps * (32 + 1));
	cr_expect_eq(traffic(json, 0, "global", "store").sectors, 512 * 32);
	cr_expect_eq(traffic(json, 1, "global", "load").sectors, steps * (1 + 4));
	cr_expect_eq(traffic(json, 1, "global", "store").sectors, 512 * 4);

	/* 16 blocks, 4 tiles, 32 warps: 2048 stores of A's tile, as many of B's. */
	struct memory conflicts = traffic(json, TILED, "shared", "store"),
		      padded = traffic(json, PADDED, "shared", "store");
	cr_expect_eq(conflicts.requests, 2 * 2048);
	cr_expect_eq(conflicts.wavefronts, 2048 * (32 + 1));
	cr_expect_eq(conflicts.conflicts, 2048 * 31);
	cr_expect_eq(padded.wavefronts, 2 * 2048);
	cr_expect_eq(padded.wavefronts, padded.ideal);
	for (size_t i = TILED; i <= PADDED; i++) {
		struct memory reads = traffic(json, i, "shared", "load");
		cr_expect_eq(reads.requests, 2 * steps, "two reads an FMA");
		cr_expect_eq(reads.wavefronts, reads.ideal, "reads are broadcasts or rows");
	}

	/* 16 blocks, 4 warps, 128 steps: a read of B and 8 of A for 8 FMA a thread. One block, 8 warps: 16 for 64. */
	struct memory column = traffic(json, COLUMN, "shared", "load"),
		      square = traffic(json, SQUARE, "shared", "load");
	cr_expect_eq(column.requests, 16 * 4 * 128 * (1 + 8));
	cr_expect_eq(square.requests, 8 * 128 * (8 + 8));
	for (size_t i = COLUMN; i <= SQUARE; i++)
		for (int stores = 0; stores < 2; stores++) {
			struct memory free_of_conflicts = traffic(json, i, "shared", stores ? "store" : "load");
			cr_expect_eq(free_of_conflicts.wavefronts, free_of_conflicts.requests, "%s", kernel_names[i]);
		}

	/* One block, 8 warps, 128 steps: four 16-byte reads for 64 FMA a thread; no conflicts. The two of A are at
	 * one address for 16 lanes side by side, so they take two passes; the two of B take four. */
	struct memory reads = traffic(json, REGISTERS, "shared", "load"),
		      stores = traffic(json, REGISTERS, "shared", "store");
	cr_expect_eq(reads.requests, 8 * 128 * 4);
	cr_expect_eq(reads.requests * 32 / (128.0 * 128 * 128), 1.0 / 16);
	cr_expect_eq(reads.ideal, 4 * reads.requests, "16 bytes for each of 32 lanes");
	cr_expect_eq(reads.wavefronts, (2 * 2 + 2 * 4) * reads.requests / 4);
	cr_expect_eq(reads.conflicts, 0);
	cr_expect_eq(stores.wavefronts, stores.requests);
	cJSON_Delete(json);
}

Test(program, loads_and_saves)
{
	const char *directory = scratch_directory();
	const float a[] = {1, 2, 3, 4, 5, 6}, b[] = {7, 8, 9, 10, 11, 12}, c[] = {58, 64, 139, 154};
	struct error error;
	struct npy got;
	npy_write(text("%s/a.npy", directory), a, (const size_t[]){2, 3}, 2, &error);
	npy_write(text("%s/b.npy", directory), b, (const size_t[]){3, 2}, 2, &error);
	for (size_t i = 0; i < KERNELS; i++) {
		struct outcome o = run(
			text("--load %s --save %s/out --kernel %s --quiet", directory, directory, kernel_names[i]));
		cr_assert_eq(o.status, 0, "%s", o.err);
		cr_assert_eq(npy_read(text("%s/out/c.npy", directory), false, &got, &error), 0, "%s", error.message);
		cr_expect(got.rank == 2 && got.shape[0] == 2 && got.shape[1] == 2);
		cr_expect_arr_eq(got.values, c, sizeof c);
		free(got.values);
		free_outcome(&o);
	}
}

/* Every output of zeros passes where zeros are right: then nothing says that the kernel is right. */
Test(program, a_run_that_judges_nothing_is_not_verified)
{
	const char *directory = scratch_directory();
	const float zeros[6] = {0};
	struct error error;
	npy_write(text("%s/a.npy", directory), zeros, (const size_t[]){2, 3}, 2, &error);
	npy_write(text("%s/b.npy", directory), zeros, (const size_t[]){3, 2}, 2, &error);
	const char *line = text("--load %s --kernel matmul_tiled", directory);
	cJSON *json = run_json(PROGRAM, line, 1);
	const cJSON *kernel = json_get(json, "kernels")->child, *output = json_get(kernel, "outputs")->child;
	cr_expect(cJSON_IsFalse(json_get(kernel, "verified")));
	cr_expect(cJSON_IsFalse(json_get(output, "judged")));
	cr_expect_eq(json_number_of(output, "power"), 0.0);
	cJSON_Delete(json);
	struct outcome o = run(text("%s --quiet", line));
	cr_expect_eq(o.status, 1);
	cr_expect(strstr(o.out, "FAILED") && strstr(o.out, "nothing could be judged"), "%s", o.out);
	free_outcome(&o);
}

static void expect_refused(const char *line, int status, const char *part)
{
	expect_refusal(PROGRAM, line, status, part);
}

Test(program, refuses_what_it_cannot_use)
{
	const char *directory = scratch_directory();
	const float a[] = {1, 2, 3, 4, 5, 6}, bad[] = {1, -INFINITY, 2, 3};
	struct error error;
	expect_refused("--m 0", 2, "--m: expected a whole number from 1");
	expect_refused("--n -3", 2, "--n: expected a whole number from 1");
	expect_refused("--k 2x", 2, "--k");
	expect_refused("--seq 5", 2, "--seq: does not apply to this chapter");
	expect_refused("--rows 5", 2, "--rows: does not apply");
	expect_refused("--kernel tiled", 2, "--kernel: expected one of matmul_naive, matmul_coalesced, matmul_tiled");
	expect_refused("--sweep --m 5", 2, "--m: not with --sweep");
	expect_refused("--m 1000000 --n 1000000", 3, "memory");
	expect_refused(text("--load %s", directory), 2, "a.npy: cannot be read");
	npy_write(text("%s/a.npy", directory), a, (const size_t[]){2, 3}, 2, &error);
	npy_write(text("%s/b.npy", directory), a, (const size_t[]){2, 3}, 2, &error);
	expect_refused(text("--load %s", directory), 2, "b.npy: shape (2, 3), expected 3 for k");
	npy_write(text("%s/b.npy", directory), bad, (const size_t[]){2, 2}, 2, &error);
	npy_write(text("%s/a.npy", directory), a, (const size_t[]){3, 2}, 2, &error);
	expect_refused(text("--load %s", directory), 2, "b.npy: -Inf at (0, 1), expected finite numbers");
	expect_refused(text("--load %s --m 4", directory), 2, "expected 4 for m");
}

/* A refusal of the device (here: of a block of threads that shared memory cannot hold) cannot happen: 16 KB a block.
 * Every GPU of the table runs every kernel. */
Test(program, runs_on_every_gpu)
{
	static const char *const gpus[] = {"a100", "a100-80", "h100", "h200", "rtx4090"};
	for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
		cJSON *json = run_json(PROGRAM, text("--m 40 --n 50 --k 60 --gpu %s", gpus[i]), 0);
		check_counts(json, gpus[i], 40, 50, 60);
		cJSON_Delete(json);
	}
}

Test(program, any_order_of_threads)
{
	static const char *const orders[] = {"SIM_ORDER=reverse", "SIM_ORDER=shuffle:7"};
	for (size_t i = 0; i < 2; i++) {
		struct outcome o = run_program(
			LIST(PROGRAM, "--m", "65", "--n", "130", "--k", "33", "--quiet"), LIST(orders[i]), 60);
		cr_expect_eq(o.status, 0, "%s: %s%s", orders[i], o.out, o.err);
		free_outcome(&o);
	}
}

/* What `make` in the chapter shows: verified, with the one table, ends with the next thing to try. In make test of a
 * smaller product. */
Test(program, demonstration)
{
	struct outcome o = run("--m 128 --n 128 --k 128 --verbose");
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect_null(strstr(o.out, "NOT EQUAL"));
	/* Half of the stores of matmul_tiled have 32 wavefronts, the others one; padding leaves one each. */
	const char *tiled = strstr(o.out, "\n  tiled "), *padded = strstr(o.out, "\n  padded ");
	cr_assert(tiled && padded, "%s", o.out);
	cr_expect(strstr(tiled, " 4.00        1.00   16.50   1.00    2.00 ") < padded, "%s", o.out);
	cr_expect(strstr(tiled, " 4.00        1.00   16.50   1.00    2.00 "), "%s", o.out);
	cr_expect(strstr(padded, " 4.00        1.00    1.00   1.00    2.00 "), "%s", o.out);
	expect_page(o.out);
	free_outcome(&o);
	if (thorough())
		expect_demonstration(CHAPTER, LIST("\nTiles cut the bytes requested ", "With padding all do.\n"));
}

Test(program, readme_shows_what_it_prints)
{
	only_when_thorough();
	struct outcome o =
		run_program(LIST(TEST_ROOT "/tools/pages", "readme", "--check", CHAPTER "/README.md"), NOTHING, 120);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	free_outcome(&o);
}
