/*
 * Chapter 02's program: every shape and kind of input verified and counted, T4 by hand, -inf, real scores, and what
 * it says to input that cannot be used.
 */
#include "json.h"
#include "page.h"
#include "program.h"

#include "problem/npy.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define PROGRAM TEST_BUILD "/chapters/online_softmax"
#define CHAPTER TEST_ROOT "/02_online_softmax"

static const char *const kernel_names[] = {"softmax_three_pass", "softmax_online", "softmax_dot"};

enum { KERNELS = 3 };

static struct outcome run(const char *line)
{
	return run_line(PROGRAM, line, NOTHING, 120);
}

/* Passes over x that each kernel makes, and everything else it asks for. */
static void check_counts(const cJSON *json, const char *line, double rows, double cols, double dim)
{
	for (size_t i = 0; i < KERNELS; i++) {
		const cJSON *kernel = json_named(json_get(json, "kernels"), kernel_names[i]);
		cr_assert(kernel, "%s: no %s", line, kernel_names[i]);
		cr_expect(cJSON_IsTrue(json_get(kernel, "verified")), "%s: %s: not verified", line, kernel_names[i]);
		double passes = 3.0 - (double)i;
		cr_expect_eq(
			json_read_of(kernel, "x"), 4 * passes * rows * cols, "%s: %s: reads of x", line,
			kernel_names[i]);
		bool is_dot = i == 2;
		cr_expect_eq(
			json_written_of(kernel, "y"), 4 * rows * (is_dot ? dim : cols), "%s: %s: y", line,
			kernel_names[i]);
		cr_expect_eq(json_written_of(kernel, "m"), 4 * rows);
		cr_expect_eq(json_written_of(kernel, "l"), 4 * rows);
		if (is_dot)
			cr_expect_eq(json_read_of(kernel, "V"), 4 * rows * cols * dim, "%s: reads of V", line);
		double elements = is_dot ? rows * cols * (1 + dim) + rows * dim : (passes + 1) * rows * cols;
		cr_expect_eq(
			json_number_of(json_get(kernel, "model"), "elements"), elements, "%s: %s: closed form", line,
			kernel_names[i]);
	}
}

/* Every pair of these (in make test every fourth, but for tables of more than 12,000: each comes twice and more as rows
 * and as columns), with widths of V and blocks that go round. */
static const int extents[] = {1, 2, 17, 29, 30, 31, 32, 33, 63, 64, 65, 97, 113, 128, 200, 257};
static const int dims[] = {1, 8, 59, 64, 128};
static const int blocks[] = {1, 32, 100, 1024, 7};

enum { EXTENTS = sizeof extents / sizeof extents[0] };

Test(program, every_shape)
{
	for (size_t r = 0; r < EXTENTS; r++)
		for (size_t c = 0; c < EXTENTS; c++) {
			int rows = extents[r], cols = extents[c];
			if (!thorough() && ((r + c + r / 4) % 4 != 0 || rows * cols > 12000))
				continue;
			bool large = rows * cols > 2000; /* there, small blocks would only take time */
			int dim = large ? 8 + (int)(r % 3) : dims[(r + c) % 5];
			int block = large ? 100 + 57 * (int)(c % 3) : blocks[(r + 2 * c) % 5];
			const char *line =
				text("--rows %d --cols %d --dim %d --block %d --seed %zu", rows, cols, dim, block, c);
			cJSON *json = run_json_with(PROGRAM, line, large ? without_racecheck() : NULL, 0);
			check_counts(json, line, rows, cols, dim);
			cJSON_Delete(json);
		}
}

Test(program, every_kind_of_input)
{
	expect_every_kind(
		PROGRAM,
		LIST("--dim 8 --rows 1 --cols 1 --block 1",
	             thorough() ? "--dim 8 --rows 3 --cols 257 --block 1" : "--dim 8 --rows 3 --cols 33 --block 1",
	             "--dim 8 --rows 17 --cols 113 --block 32", "--dim 8 --rows 2 --cols 3000 --block 1024"));
}

/* By hand: -inf anywhere, huge scores, equal ones, the largest at the end, alone, and with many blocks. */
Test(program, scores_by_hand)
{
	static const char *const values[] = {
		"5",          "-inf",        "-inf,-inf,-inf,-inf,-inf",
		"-inf,1,2",   "1,-inf,2",    "1,2,-inf",
		"1e30,-1e30", "-1e30,1e30",  "1e30,1e30,1e30,-1e30",
		"7,7,7,7,7",  "1,2,3,4,100", "-inf,-inf,-inf,3",
		"-0,0",       "3e38,-3e38",  "-3e38,-inf,3e38,1",
	};
	for (size_t i = 0; i < sizeof values / sizeof values[0]; i++)
		for (int block = 1; block <= 4; block++) {
			const char *line = text("--values %s --block %d --dim 4", values[i], block);
			cJSON *json = run_json(PROGRAM, line, 0);
			double cols = json_number_of(json_get(json, "problem"), "cols");
			check_counts(json, line, 1, cols, 4);
			cJSON_Delete(json);
		}
}

static const float *load(const char *path, size_t expected)
{
	struct npy array;
	struct error error;
	cr_assert_eq(npy_read(path, true, &array, &error), 0, "%s", error.message);
	cr_assert_eq(shape_elements(array.shape, array.rank), expected, "%s", path);
	return array.values;
}

Test(program, a_row_of_nothing_is_zero)
{
	const char *directory = scratch_directory();
	struct error error;
	const float x[] = {1, 2, 3, -INFINITY, -INFINITY, -INFINITY, -INFINITY, 0, -INFINITY};
	const float v[] = {1, 2, 3, 4, 5, 6};
	cr_assert_eq(npy_write(text("%s/x.npy", directory), x, (const size_t[]){3, 3}, 2, &error), 0);
	cr_assert_eq(npy_write(text("%s/v.npy", directory), v, (const size_t[]){3, 2}, 2, &error), 0);
	for (size_t i = 0; i < KERNELS; i++) {
		struct outcome o = run(
			text("--load %s --save %s/out --kernel %s --block 2 --quiet", directory, directory,
		             kernel_names[i]));
		size_t width = i == 2 ? 2 : 3;
		cr_assert_eq(o.status, 0, "%s", o.err);
		const float *y = load(text("%s/out/y.npy", directory), 3 * width);
		const float *m = load(text("%s/out/m.npy", directory), 3);
		const float *l = load(text("%s/out/l.npy", directory), 3);
		for (size_t c = 0; c < width; c++)
			cr_expect_eq(y[width + c], 0.0f, "%s", kernel_names[i]);
		cr_expect(m[0] == 3.0f && m[1] == -INFINITY && m[2] == 0.0f);
		cr_expect(l[1] == 0.0f && l[2] == 1.0f);
		cr_expect_float_eq(l[0], 1 + exp(-1) + exp(-2), 1e-6);
		if (i == 2)
			cr_expect(y[4] == 3.0f && y[5] == 4.0f, "the row that sees only column 1 has its value");
		free_outcome(&o);
	}
}

/* T4 of plots/published.tsv */
Test(program, trace_by_hand)
{
	cJSON *json = run_json(PROGRAM, "--trace --values 1,2,3,6,2,1 --block 3", 0);
	const cJSON *trace = json_get(json, "trace"), *softmax = json_get(json, "softmax");
	static const double expected[2][3] = {{3, 1.503215, 0}, {6, 1.099894, 0.049787}};
	static const double weights[] = {0.006126, 0.016652, 0.045265, 0.909178, 0.016652, 0.006126};
	cr_assert_eq(cJSON_GetArraySize(trace), 2);
	for (int i = 0; i < 2; i++) {
		const cJSON *update = cJSON_GetArrayItem(trace, i);
		cr_expect_eq(json_number_of(update, "block"), i);
		cr_expect_eq(json_number_of(update, "m"), expected[i][0]);
		cr_expect_float_eq(json_number_of(update, "l"), expected[i][1], 1e-6);
		cr_expect_float_eq(json_number_of(update, "correction"), expected[i][2], 1e-6);
	}
	cr_assert_eq(cJSON_GetArraySize(softmax), 6);
	for (int j = 0; j < 6; j++)
		cr_expect_float_eq(cJSON_GetArrayItem(softmax, j)->valuedouble, weights[j], 5e-7);
	cJSON_Delete(json);

	struct outcome o = run("--trace --values 1,2,3,6,2,1 --block 3");
	cr_assert_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "0.04979") && strstr(o.out, "1.50321") && strstr(o.out, "1.09989"), "%s", o.out);
	cr_expect(strstr(o.out, "0.006126 0.016652 0.045265 0.909178 0.016652 0.006126"), "%s", o.out);
	free_outcome(&o);
}

/* Blocks of any size: other steps, the same end. */
Test(program, trace_in_blocks_of_any_size)
{
	for (int block = 1; block <= 9; block++) {
		cJSON *json = run_json(PROGRAM, text("--trace --values=-inf,2,-1e30,6,2,1,6 --block %d", block), 0);
		const cJSON *trace = json_get(json, "trace");
		int count = cJSON_GetArraySize(trace);
		cr_expect_eq(count, (7 + block - 1) / block);
		const cJSON *last = cJSON_GetArrayItem(trace, count - 1);
		cr_expect_eq(json_number_of(last, "m"), 6);
		cr_expect_float_eq(json_number_of(last, "l"), 2 + 2 * exp(-4) + exp(-5), 1e-6);
		cJSON_Delete(json);
	}
	cJSON *json = run_json(PROGRAM, "--trace --values=-inf,-inf,1 --block 1", 0);
	const cJSON *first = cJSON_GetArrayItem(json_get(json, "trace"), 0);
	cr_expect(cJSON_IsNull(json_get(first, "m")), "JSON has no -inf");
	cr_expect_eq(json_number_of(first, "l"), 0);
	cr_expect_eq(json_number_of(first, "correction"), 0);
	cJSON_Delete(json);
}

/* The trace of a row of real scores ends where softmax_online ends, and softmax_dot gives that row's attention. */
Test(program, trace_of_real_scores)
{
	const char *directory = scratch_directory(), *real = TEST_ROOT "/tests/data/real_qkv";
	const float *q = load(text("%s/q.npy", real), 2 * 512 * 64), *k = load(text("%s/k.npy", real), 2 * 512 * 64),
		    *v = load(text("%s/v.npy", real), 2 * 512 * 64);
	const size_t row = 700, head = 1;
	double m = -INFINITY, l = 0.0, o[64] = {0}, x[512];
	for (size_t j = 0; j < 512; j++) {
		double dot = 0.0;
		for (size_t c = 0; c < 64; c++)
			dot += (double)q[row * 64 + c] * (double)k[(head * 512 + j) * 64 + c];
		x[j] = dot / 8.0;
		m = fmax(m, x[j]);
	}
	for (size_t j = 0; j < 512; j++)
		l += exp(x[j] - m);
	for (size_t j = 0; j < 512; j++)
		for (size_t c = 0; c < 64; c++)
			o[c] += exp(x[j] - m) / l * (double)v[(head * 512 + j) * 64 + c];

	cJSON *json =
		run_json(PROGRAM, text("--trace --load %s --row 700 --block 100 --save %s/out", real, directory), 0);
	const cJSON *trace = json_get(json, "trace");
	cr_assert_eq(cJSON_GetArraySize(trace), 6);
	const cJSON *last = cJSON_GetArrayItem(trace, 5);
	cr_expect_float_eq(json_number_of(last, "m"), m, 1e-5);
	cr_expect_float_eq(json_number_of(last, "l"), l, 1e-4);
	cr_expect_eq((float)json_number_of(last, "m"), load(text("%s/out/m.npy", directory), 1)[0]);
	cr_expect_eq((float)json_number_of(last, "l"), load(text("%s/out/l.npy", directory), 1)[0]);
	const float *y = load(text("%s/out/y.npy", directory), 64);
	for (size_t c = 0; c < 64; c++)
		cr_expect_float_eq(y[c], o[c], 1e-4);
	cJSON_Delete(json);
}

static void write_x(const char *directory, float odd)
{
	const float x[] = {1, odd, 3, 4}, v[] = {1, 2};
	struct error error;
	cr_assert_eq(npy_write(text("%s/x.npy", directory), x, (const size_t[]){2, 2}, 2, &error), 0);
	cr_assert_eq(npy_write(text("%s/v.npy", directory), v, (const size_t[]){2, 1}, 2, &error), 0);
}

static void expect_refused(const char *line, int status, const char *part)
{
	expect_refusal(PROGRAM, line, status, part);
}

Test(program, refuses_what_it_cannot_use)
{
	expect_refused("--rows 0", 2, "--rows: expected a whole number from 1");
	expect_refused("--cols x", 2, "--cols");
	expect_refused("--block 0", 2, "--block: expected a whole number from 1");
	expect_refused("--dim 129", 2, "--dim: expected a whole number from 1 to 128");
	expect_refused("--seq 5", 2, "--seq: does not apply to this chapter");
	expect_refused("--causal", 2, "--causal: does not apply");
	expect_refused("--kernel softmax", 2, "--kernel: expected one of softmax_three_pass");
	expect_refused("--values 1,nan,2", 2, "--values: expected finite numbers or -inf between commas, got 'nan'");
	expect_refused("--values 1,inf", 2, "got 'inf'");
	expect_refused("--values 1,0x10", 2, "got '0x10'");
	expect_refused("--values 1,2e", 2, "got '2e'");
	expect_refused("--values 1e39", 2, "got '1e39'");
	expect_refused("--values -1e39,-inf", 2, "got '-1e39'");
	expect_refused("--values 1,,2", 2, "got ''");
	expect_refused("--values 1,2 --cols 3", 2, "expected 3 for C");
	expect_refused("--values 1,2 --rows 2", 2, "expected 2 for R");
	expect_refused("--values 1 --load .", 2, "--values: not with --load");
	expect_refused("--row 1", 2, "--row: expected --trace");
	expect_refused("--trace --row 9 --rows 9", 2, "--row: expected a whole number from 0 to 8, got '9'");
	expect_refused("--load " TEST_ROOT "/tests/data/real_qkv --row 1024", 2, "from 0 to 1023, got '1024'");
	expect_refused("--load " TEST_ROOT "/tests/data/real_qkv --cols 5", 2, "expected 5 for C");
	expect_refused("--load /no/such", 2, "x.npy: cannot be read");
	expect_refused("--sweep --cols 5", 2, "--cols: not with --sweep");
	expect_refused("--cols 100000 --rows 1 --block 100000 --kernel softmax_dot", 3, "400,032");
	expect_refused("--rows 200000000 --cols 200000000", 3, "memory");
}

Test(program, refuses_files_with_nan_but_not_with_minus_infinity)
{
	const char *directory = scratch_directory();
	write_x(directory, NAN);
	expect_refused(text("--load %s", directory), 2, "x.npy: NaN at (0, 1), expected finite numbers or -Inf");
	write_x(directory, INFINITY);
	expect_refused(text("--load %s", directory), 2, "x.npy: Inf at (0, 1)");
	write_x(directory, -INFINITY);
	struct outcome o = run(text("--load %s --quiet", directory));
	cr_expect_eq(o.status, 0, "%s", o.err);
	free_outcome(&o);
	const float v[] = {1, -INFINITY};
	struct error error;
	npy_write(text("%s/v.npy", directory), v, (const size_t[]){2, 1}, 2, &error);
	expect_refused(text("--load %s", directory), 2, "v.npy: -Inf at (1, 0), expected finite numbers");
	expect_refused(text("--load %s --dim 2", directory), 2, "v.npy");
}

/* A default run with a block that softmax_dot cannot hold: it is skipped with the limit, the others run. */
Test(program, skips_what_does_not_fit)
{
	cJSON *json = run_json(PROGRAM, "--rows 1 --cols 100000 --block 100000 --dim 1", 0);
	const cJSON *kernels = json_get(json, "kernels");
	cr_expect(strstr(json_string_of(json_named(kernels, "softmax_dot"), "skipped"), "232,448"));
	cr_expect(cJSON_IsTrue(json_get(json_named(kernels, "softmax_online"), "verified")));
	cJSON_Delete(json);
}

/* 99 KB fit an rtx4090 only because the launcher opts in; the hazards stay silent. */
Test(program, opts_in_to_large_shared_memory)
{
	cJSON *json = run_json(PROGRAM, "--rows 1 --cols 20000 --block 20000 --dim 4 --gpu rtx4090", 0);
	const cJSON *dot = json_named(json_get(json, "kernels"), "softmax_dot");
	cr_expect(cJSON_IsTrue(json_get(dot, "verified")));
	cr_expect_eq(json_number_of(dot, "shared_bytes"), 80032);
	cJSON_Delete(json);
}

/* No result depends on the order in which the device runs its threads. */
Test(program, any_order_of_threads)
{
	expect_any_order(PROGRAM, "--rows 3 --cols 257 --block 100");
}

Test(program, merge_is_associative)
{
	struct outcome o = run_program(LIST(TEST_BUILD "/online_softmax/merge"), NOTHING, 60);
	cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect_str_eq(o.out, "10 kinds of scores in 5 orders, 0 wrong\n");
	cr_expect_str_empty(o.err);
	free_outcome(&o);
}

/* `make` in the chapter: the demonstration, verified, ends with the next thing to try. */
Test(program, demonstration)
{
	expect_demonstration(
		CHAPTER, LIST("softmax_three_pass   3.00     2.00  ", "softmax_online       2.00     5.25  ",
	                      "softmax_dot          1.00     5.38  "));
}

Test(program, readme_shows_what_it_prints)
{
	expect_printed(CHAPTER "/README.md");
}
