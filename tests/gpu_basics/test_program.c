/*
 * Chapter 00's program: ragged shapes and every kind of input verified, and every count of every kernel equal to its closed
 * form: bytes, requests, sectors, wavefronts, barriers.
 */
#include "json.h"
#include "page.h"
#include "program.h"

#include "problem/npy.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM TEST_BUILD "/chapters/gpu"
#define CHAPTER TEST_ROOT "/00_gpu"

enum { KERNELS = 8, WHO = 0, COPY, STRIDED, FLOAT4, TRANSPOSE, PADDED, SUM, SHUFFLE };

static const char *const kernel_names[KERNELS] = {
	"who_am_i", "copy", "copy_strided", "copy_float4", "transpose", "transpose_padded", "sum", "sum_shuffle"};

static struct outcome run(const char *line)
{
	return run_line(PROGRAM, line, NOTHING, 120);
}

/* ---- what each kernel asks for, worked out here once more ---- */

struct memory {
	size_t requests, sectors, wavefronts;
};

struct asked {
	struct memory load, store, shared_load, shared_store;
	size_t barriers;
};

static size_t up(size_t count, size_t size)
{
	return (count + size - 1) / size;
}

/* Sectors of the floats first ... end-1 of a tensor that begins at a sector. */
static size_t sectors_of(size_t first, size_t end)
{
	return (end - 1) / 8 - first / 8 + 1;
}

/* A matrix of rows by columns, read or written along its rows in runs of 32 that do not cross the end of a row. */
static struct memory along_rows(size_t rows, size_t columns)
{
	struct memory memory = {rows * up(columns, 32), 0, 0};
	for (size_t row = 0; row < rows; row++)
		for (size_t c = 0; c < columns; c += 32)
			memory.sectors +=
				sectors_of(row * columns + c, row * columns + (c + 32 < columns ? c + 32 : columns));
	return memory;
}

/* The warps of a grid that is counted down the columns: distinct sectors of 32 elements each. */
static struct memory down_columns(size_t rows, size_t columns)
{
	size_t count = rows * columns;
	struct memory memory = {up(count, 32), 0, 0};
	for (size_t first = 0; first < count; first += 32) {
		size_t seen[32], found = 0;
		for (size_t i = first; i < first + 32 && i < count; i++) {
			size_t sector = (i % rows * columns + i / rows) / 8, s = 0;
			while (s < found && seen[s] != sector)
				s++;
			if (s == found)
				seen[found++] = sector;
		}
		memory.sectors += found;
	}
	return memory;
}

static struct asked asked_of(int kernel, size_t R, size_t C)
{
	size_t RC = R * C, quarters = RC / 4, rest = RC % 4, tiles = up(R, 32) * up(C, 32);
	struct memory in_one_piece = {up(RC, 32), up(RC, 8), 0}, none = {0, 0, 0}, sums = {R, R, 0};
	struct memory wide = {up(quarters, 32) + rest, up(quarters, 2) + rest, 0};
	struct memory rows_of_tiles = {R * up(C, 32), 0, R * up(C, 32)};
	struct memory columns_of_tiles = {C * up(R, 32), 0, kernel == PADDED ? C * up(R, 32) : RC};
	switch (kernel) {
	case WHO: return (struct asked){none, {5 * up(RC, 32), 5 * up(RC, 8), 0}, none, none, 0};
	case COPY: return (struct asked){in_one_piece, in_one_piece, none, none, 0};
	case STRIDED: return (struct asked){down_columns(R, C), down_columns(R, C), none, none, 0};
	case FLOAT4: return (struct asked){wide, wide, none, none, 0};
	case TRANSPOSE:
	case PADDED:
		return (struct asked){along_rows(R, C), along_rows(C, R), columns_of_tiles, rows_of_tiles, tiles};
	case SUM:
		/* Warps at the eight levels: 4 2 1 1 1 1 1 1, two loads and a store each; before them 8 stores, then a load. */
		return (struct asked){along_rows(R, C), sums, {25 * R, 0, 25 * R}, {20 * R, 0, 20 * R}, 8 * R};
	default: return (struct asked){along_rows(R, C), sums, {7 * R, 0, 7 * R}, {8 * R, 0, 8 * R}, R};
	}
}

static void check_memory(
	const cJSON *launch, const char *space, const char *direction, struct memory expected, const char *what)
{
	const cJSON *count = json_get(json_get(launch, space), direction);
	bool shared = strcmp(space, "shared") == 0;
	cr_expect_eq(
		json_number_of(count, "requests"), (double)expected.requests, "%s: %s: %s requests", what, space,
		direction);
	if (!shared)
		cr_expect_eq(
			json_number_of(count, "sectors"), (double)expected.sectors,
			"%s: %s sectors: %g, expected %zu", what, direction, json_number_of(count, "sectors"),
			expected.sectors);
	else
		cr_expect_eq(
			json_number_of(count, "wavefronts"), (double)expected.wavefronts,
			"%s: %s wavefronts: %g, expected %zu", what, direction, json_number_of(count, "wavefronts"),
			expected.wavefronts);
}

static void check_counts(const cJSON *json, const char *line, size_t R, size_t C)
{
	for (int i = 0; i < KERNELS; i++) {
		const cJSON *kernel = json_named(json_get(json, "kernels"), kernel_names[i]);
		const char *what = text("%s: %s", line, kernel_names[i]);
		cr_assert(kernel, "%s: not there", what);
		cr_expect(cJSON_IsTrue(json_get(kernel, "verified")), "%s: not verified", what);
		double RC = (double)R * (double)C, written = i >= SUM ? (double)R : RC;
		if (i != WHO) {
			cr_expect_eq(json_read_of(kernel, "x"), 4 * RC, "%s: x", what);
			cr_expect_eq(json_written_of(kernel, "y"), 4 * written, "%s: y", what);
		} else
			cr_expect_eq(json_written_of(kernel, "lane"), 4 * RC, "%s: lane", what);
		double elements = i == WHO ? 5 * RC : RC + written;
		cr_expect_eq(
			json_number_of(json_get(kernel, "model"), "elements"), elements, "%s: closed form", what);
		const cJSON *footprint = json_get(json_get(kernel, "hbm"), "footprint");
		cr_expect_eq(
			json_number_of(footprint, "read_bytes") + json_number_of(footprint, "write_bytes"),
			4 * elements, "%s: footprint", what);

		const cJSON *launch = cJSON_GetArrayItem(json_get(kernel, "launches"), 0);
		struct asked asked = asked_of(i, R, C);
		check_memory(launch, "global", "load", asked.load, what);
		check_memory(launch, "global", "store", asked.store, what);
		check_memory(launch, "shared", "load", asked.shared_load, what);
		check_memory(launch, "shared", "store", asked.shared_store, what);
		cr_expect_eq(json_number_of(launch, "barriers"), (double)asked.barriers, "%s: barriers", what);
	}
}

static const size_t extents[] = {1, 2, 3, 7, 8, 17, 29, 31, 32, 33, 63, 64, 65, 97, 113, 128, 255, 256, 257};

enum { EXTENTS = sizeof extents / sizeof extents[0] };

/* Every pair of rows and columns. In make test every seventh: each extent twice and more as rows and as columns. */
Test(program, every_shape)
{
	for (size_t a = 0; a < EXTENTS; a++)
		for (size_t b = 0; b < EXTENTS; b++) {
			size_t R = extents[a], C = extents[b];
			if (!thorough() && (2 * a + b) % 7 != 0)
				continue;
			const char *line = text("--rows %zu --cols %zu --seed %zu", R, C, a);
			cJSON *json = run_json_with(PROGRAM, line, R * C > 5000 ? without_racecheck() : NULL, 0);
			check_counts(json, line, R, C);
			cJSON_Delete(json);
		}
}

Test(program, every_kind_of_input)
{
	expect_every_kind(
		PROGRAM, LIST("--rows 1 --cols 1", "--rows 33 --cols 17", "--rows 2 --cols 1025",
	                      thorough() ? "--rows 1 --cols 70000" : "--rows 1 --cols 7000"));
}

/* The tolerance of a sum finds one element too few: faults.edits plants it. Here: it is no wider than it has to be. */
Test(program, the_tolerance_of_a_sum)
{
	static const char *const shapes[] = {"--rows 64 --cols 33", "--rows 64 --cols 1000", "--rows 8 --cols 20000"};
	for (size_t s = 0; s < sizeof shapes / sizeof shapes[0]; s++) {
		cJSON *json = run_json_with(PROGRAM, text("%s --kernel sum", shapes[s]), without_racecheck(), 0);
		const cJSON *kernel = cJSON_GetArrayItem(json_get(json, "kernels"), 0);
		const cJSON *output = cJSON_GetArrayItem(json_get(kernel, "outputs"), 0);
		double ratio = json_number_of(output, "max_abs") / json_number_of(output, "tolerance");
		cr_expect(ratio > 1e-4 && ratio <= 0.75, "%s: error / tolerance is %g", shapes[s], ratio);
		cr_expect(json_number_of(output, "tolerance") < 0.1, "%s", shapes[s]);
		cJSON_Delete(json);
	}
}

/* ---- options, files, refusals ---- */

/* Six numbers by hand, through files. */
Test(program, load_and_save)
{
	const char *directory = scratch_directory();
	const float x[] = {1, 2, 3, 4, 5, 6};
	static const struct {
		const char *kernel;
		float y[6];
		size_t rank, shape[2];
	} cases[] = {
		{"copy_strided", {1, 2, 3, 4, 5, 6}, 2, {2, 3}},
		{"copy_float4", {1, 2, 3, 4, 5, 6}, 2, {2, 3}},
		{"transpose", {1, 4, 2, 5, 3, 6}, 2, {3, 2}},
		{"transpose_padded", {1, 4, 2, 5, 3, 6}, 2, {3, 2}},
		{"sum", {6, 15}, 1, {2}},
		{"sum_shuffle", {6, 15}, 1, {2}},
	};
	struct error error;
	struct npy y;
	cr_assert_eq(npy_write(text("%s/x.npy", directory), x, (const size_t[]){2, 3}, 2, &error), 0);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		const char *out = text("%s/%s", directory, cases[i].kernel);
		struct outcome o = run(text("--load %s --save %s --kernel %s", directory, out, cases[i].kernel));
		cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
		cr_assert_eq(npy_read(text("%s/y.npy", out), false, &y, &error), 0, "%s", error.message);
		cr_assert_eq(y.rank, cases[i].rank);
		size_t count = 1;
		for (size_t axis = 0; axis < y.rank; axis++) {
			cr_expect_eq(y.shape[axis], cases[i].shape[axis], "%s", cases[i].kernel);
			count *= y.shape[axis];
		}
		for (size_t t = 0; t < count; t++)
			cr_expect_eq(y.values[t], cases[i].y[t], "%s: element %zu", cases[i].kernel, t);
		free(y.values);
		free_outcome(&o);
	}
}

Test(program, threads_say_where_they_are)
{
	cJSON *json = run_json(PROGRAM, "--rows 3 --cols 100", 0);
	const cJSON *threads = json_get(json, "threads"), *each;
	static const double expected[][5] = {{0, 0, 0, 0, 0},    {1, 0, 1, 0, 1},      {31, 0, 31, 0, 31},
	                                     {32, 0, 32, 1, 0},  {255, 0, 255, 7, 31}, {256, 1, 0, 0, 0},
	                                     {299, 1, 43, 1, 11}};
	cr_assert_eq(cJSON_GetArraySize(threads), 7);
	size_t t = 0;
	cJSON_ArrayForEach(each, threads)
	{
		static const char *const keys[] = {"element", "block", "thread", "warp", "lane"};
		for (size_t k = 0; k < 5; k++)
			cr_expect_eq(json_number_of(each, keys[k]), expected[t][k], "%s of row %zu", keys[k], t);
		cr_expect_eq(json_number_of(each, "grid"), 2.0);
		t++;
	}
	cJSON_Delete(json);
}

static void expect_refused(const char *line, int status, const char *part)
{
	expect_refusal(PROGRAM, line, status, part);
}

Test(program, refuses_what_it_cannot_use)
{
	const char *directory = scratch_directory();
	const float bad[] = {1, NAN, 2, 3};
	struct error error;
	expect_refused("--rows 0", 2, "--rows: expected a whole number from 1");
	expect_refused("--cols -3", 2, "--cols: expected a whole number from 1");
	expect_refused("--cols 2x", 2, "--cols");
	expect_refused("--seq 5", 2, "--seq: does not apply to this chapter");
	expect_refused(
		"--kernel transposed", 2, "--kernel: expected one of who_am_i, copy, copy_strided, copy_float4");
	expect_refused("--sweep --cols 5", 2, "--cols: not with --sweep");
	expect_refused("--rows 100000000 --cols 100000", 3, "memory");
	expect_refused("--rows 2097121 --cols 1 --kernel transpose", 3, "a grid has at most 65535 blocks in y");
	expect_refused(text("--load %s", directory), 2, "x.npy: cannot be read");
	npy_write(text("%s/x.npy", directory), bad, (const size_t[]){2, 2}, 2, &error);
	expect_refused(text("--load %s", directory), 2, "x.npy: NaN at (0, 1)");
}

/* In a default run a kernel that cannot run the shape is left out, and says why. */
Test(program, leaves_out_what_does_not_fit)
{
	if (!thorough())
		skip_test("two million rows: make test-all");
	struct outcome o = run_line(PROGRAM, "--rows 2097121 --cols 1", LIST("SIM_CHECK=memcheck"), 300);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "a grid has at most 65535 blocks in y"), "%s", o.out);
	free_outcome(&o);
}

Test(program, runs_on_every_gpu)
{
	static const char *const gpus[] = {"a100", "a100-80", "h100", "h200", "rtx4090"};
	for (size_t i = 0; i < sizeof gpus / sizeof gpus[0]; i++) {
		cJSON *json = run_json(PROGRAM, text("--rows 40 --cols 50 --gpu %s", gpus[i]), 0);
		check_counts(json, gpus[i], 40, 50);
		cJSON_Delete(json);
	}
}

Test(program, any_order_of_threads)
{
	expect_any_order(PROGRAM, "--rows 65 --cols 130");
}

/* ---- what it prints ---- */

Test(program, demonstration)
{
	expect_demonstration(
		CHAPTER, LIST("; 8 times as many are delivered.\n", "of the tile takes 32 wavefronts.\n"));
	struct outcome o = run("--verbose");
	const char *const rows[] = {
		"  copy                 8,192      4.00 ", "  copy_strided         8,192     32.00 ",
		"  copy_float4          2,048     16.00 ",
		"  transpose            8,192      4.00     8,192     1.00    32.00          1\n",
		"  transpose_padded     8,192      4.00     8,192     1.00     1.00          1\n"};
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		cr_expect(strstr(o.out, rows[i]), "no '%s':\n%s", rows[i], o.out);
	free_outcome(&o);
}

Test(program, verbose_is_a_page)
{
	struct outcome o = run("--rows 40 --cols 50 --verbose");
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "Which thread writes an element, in a grid of 8 blocks\n"), "%s", o.out);
	expect_page(o.out);
	free_outcome(&o);
}

/* make no-barrier: the hazard is found also where the sum is right, as in the reverse order. */
Test(program, a_missing_barrier_is_shown)
{
	static const char *const kernels[] = {"transpose", "transpose_padded", "sum", "sum_shuffle"};
	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
		if (!thorough() && strcmp(kernels[i], "sum_shuffle") != 0)
			continue;
		for (size_t reverse = 0; reverse < 2; reverse++) {
			struct outcome o =
				make_in(CHAPTER, LIST("no-barrier", text("KERNEL=%s", kernels[i])),
			                LIST(reverse ? "SIM_ORDER=reverse" : "SIM_ORDER=forward"));
			cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
			cr_expect(strstr(o.out, "FAILED"), "%s: %s%s", kernels[i], o.out, o.err);
			cr_expect(
				strstr(o.err, "a __syncthreads() is missing between these two accesses"), "%s",
				o.err);
			bool right = !strstr(o.err, "is wrong");
			cr_expect(right == (reverse == (i >= 2)), "%s: %s", kernels[i], o.err);
			cr_expect(
				!strstr(o.out, "right in this run only by luck") == !right, "%s: %s%s", kernels[i],
				o.out, o.err);
			free_outcome(&o);
		}
	}
}

/* A kernel without a barrier, and no kernel. */
Test(program, no_barrier_needs_a_barrier)
{
	static const char *const kernels[] = {"copy", "nothing", ""};
	for (size_t i = 0; i < sizeof kernels / sizeof kernels[0]; i++) {
		struct outcome o = make_in(CHAPTER, LIST("no-barrier", text("KERNEL=%s", kernels[i])), NOTHING);
		cr_expect_eq(o.status, 2, "%s: exit %d: %s", kernels[i], o.status, o.err);
		cr_expect(strstr(o.err, "expected a kernel of this chapter that has a barrier\n"), "%s", o.err);
		free_outcome(&o);
	}
}

Test(program, readme_shows_what_it_prints)
{
	expect_printed(CHAPTER "/README.md");
	expect_printed(CHAPTER "/attention.md");
}
