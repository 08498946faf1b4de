/*
 * Are the outputs of chapters 04 and 05 right: every shape and input that breaks kernels, each compared by the
 * program with naive attention in double precision; and the same bits in whatever order threads run.
 */
#include "cases.h"
#include "chapter_run.h"
#include "first_tokens.h"
#include "page.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

static const char *const programs[] = {FA1, FA2};
static const char *const kinds[] = {"random", "large-logits", "very-negative", "constant", "one-hot", "ramp"};
static const int lengths[] = {1, 2, 17, 29, 30, 31, 32, 33, 63, 64, 65, 97, 113, 128, 200, 257};
static const int dims[] = {1, 8, 32, 40, 59, 64, 80, 96, 111, 128};

static const char *const kernels[][2] = {{FA1, "fa1_paper"}, {FA1, "fa1_row"},  {FA2, "fa2_row"},
                                         {FA2, "fa2_tile"},  {FA2, "fa2_slab"}, {FA2, "fa2_split_q"}};

enum {
	WITH_TILE_OPTIONS = 3, /* the tiles of the other kernels are compiled in */
	LENGTHS = sizeof lengths / sizeof lengths[0],
	DIMS = sizeof dims / sizeof dims[0],
	KERNELS = sizeof kernels / sizeof kernels[0]
};

/* In make test two d for each N, one up to 40 for a long N: each N, each d with several N, each kind of input causal and
 * not. */
static bool is_chosen(int n, int d)
{
	return lengths[n] > 100 ? d == (19 - n) % 4 : d == 3 * n % 10 || d == (3 * n + 5) % 10;
}

/* Every N with every d, causal with every second; the input kind goes round, so that each meets many shapes. */
static void every_shape(const char *program)
{
	for (int n = 0; n < LENGTHS; n++)
		for (int d = 0; d < DIMS; d++) {
			if (!thorough() && !is_chosen(n, d))
				continue;
			struct chapter_run run = (lengths[n] > 65 ? run_one_of_many : run_verified)(
				program,
				text("--seq %d --dim %d --heads %d --batch %d --input %s%s", lengths[n], dims[d],
			             lengths[n] <= 97 ? 1 + n % 2 : 1, lengths[n] <= 65 ? 1 + d % 2 : 1,
			             kinds[(n + 2 * d) % 6], (n + d) % 2 ? " --causal" : ""));
			free_chapter_run(&run);
		}
}

Test(results, every_shape_of_fa1, .timeout = 200)
{
	every_shape(FA1);
}

Test(results, every_shape_of_fa2, .timeout = 200)
{
	every_shape(FA2);
}

/* Every kind of input, causal and not, at a ragged shape of several tiles. In make test every second one is causal. */
Test(results, every_input, .timeout = 120)
{
	for (int p = 0; p < 2; p++)
		for (int kind = 0; kind < 6; kind++)
			for (int causal = 0; causal < 2; causal++) {
				if (!thorough() && causal != (kind + p) % 2)
					continue;
				struct chapter_run run = run_one_of_many(
					programs[p],
					text("--seq %d --dim %d --heads %d --input %s%s", thorough() ? 203 : 130,
				             thorough() ? 72 : 40, thorough() ? 2 : 1, kinds[kind],
				             causal ? " --causal" : ""));
				free_chapter_run(&run);
			}
}

/* A case's options, without "--tile-q Br --tile-k Bc" for a kernel whose tiles are compiled in: it says that it has others. */
static const char *options_for(size_t kernel, const char *options)
{
	const char *tiles = strstr(options, " --tile-q "), *rest = tiles;
	if (kernel < WITH_TILE_OPTIONS || !tiles)
		return options;
	for (int word = 0; word < 4; word++)
		rest += 1 + strcspn(rest + 1, " ");
	return text("%.*s%s", (int)(tiles - options), options, rest);
}

/* The cases that mistakes do not survive. */
Test(results, every_case_that_finds_a_mistake, .timeout = 120)
{
	for (size_t k = 0; k < KERNELS; k++)
		for (size_t i = 0; i < FA_CASES; i++) {
			if (fa_cases[i].not_for && strcmp(fa_cases[i].not_for, kernels[k][1]) == 0)
				continue;
			struct chapter_run run = run_verified(
				kernels[k][0],
				text("--kernel %s %s", kernels[k][1], options_for(k, fa_cases[i].options)));
			free_chapter_run(&run);
		}
}

Test(results, a_real_model)
{
	const char *directory = thorough() ? TEST_ROOT "/tests/data/real_qkv" : first_tokens(101);
	for (int p = 0; p < 2; p++) {
		struct chapter_run run = run_verified(programs[p], text("--load %s --causal", directory));
		free_chapter_run(&run);
	}
}

/* Exact means the same function, not the same bits: five tile pairs, five slightly different outputs. */
Test(results, exact_for_any_tile, .timeout = 120)
{
	static const int pairs[][2] = {{32, 32}, {16, 16}, {32, 64}, {64, 32}, {128, 128}};
	const char *directory = scratch_directory();
	for (size_t k = 0; k < WITH_TILE_OPTIONS; k++)
		for (size_t i = 0; i < 5; i++) {
			char *saved = text("%s/%s-%d", directory, kernels[k][1], (int)i);
			struct chapter_run run = run_one_of_many(
				kernels[k][0], text("--kernel %s --heads 1 --seq %d --dim %d --tile-q %d --tile-k %d "
			                            "--save %s",
			                            kernels[k][1], thorough() ? 256 : 130, thorough() ? 64 : 32,
			                            pairs[i][0], pairs[i][1], saved));
			const cJSON *kernel = kernel_named(&run, kernels[k][1]);
			cr_expect_leq(number_at(kernel, "error/max_abs"), number_at(kernel, "error/tolerance"));
			cr_expect_leq(
				number_at(kernel, "error/max_abs"), 3e-6, "%s %dx%d", kernels[k][1], pairs[i][0],
				pairs[i][1]);
			free_chapter_run(&run);
		}
	/* fa1_paper adds up in the order of its key tiles: 32 keys at a time or 128 round differently */
	struct outcome same = run_program(
		LIST("cmp", "-s", text("%s/fa1_paper-0/o.npy", directory), text("%s/fa1_paper-4/o.npy", directory)),
		NOTHING, 10);
	cr_expect_eq(same.status, 1, "tiles of 32 and of 128 keys gave the same bits: is the tile used at all?");
	free_outcome(&same);
}

/* A race shows when threads run in another order. Each kernel, ragged and causal: the same bytes in every order. */
Test(results, same_bits_in_any_order, .timeout = 120)
{
	static const char *const orders[] = {"SIM_ORDER=forward", "SIM_ORDER=reverse", "SIM_ORDER=shuffle:7"};
	const char *directory = scratch_directory();
	for (size_t k = 0; k < KERNELS; k++)
		for (size_t o = 0; o < 3; o++) {
			char *saved = text("%s/%s-%d", directory, kernels[k][1], (int)o);
			struct chapter_run run = run_chapter(
				kernels[k][0], orders[o],
				text("--kernel %s --seq %s --heads 2 --causal --save %s", kernels[k][1],
			             thorough() ? "150 --dim 70" : "130 --dim 30", saved));
			cr_assert_eq(run.status, 0, "%s with %s: %s", kernels[k][1], orders[o], run.err);
			free_chapter_run(&run);
			struct outcome same = run_program(
				LIST("cmp", text("%s/%s-0/o.npy", directory, kernels[k][1]), text("%s/o.npy", saved)),
				NOTHING, 10);
			cr_expect_eq(same.status, 0, "%s with %s: other bits than forward", kernels[k][1], orders[o]);
			free_outcome(&same);
		}
}

/* How P~ goes from lane to lane changes no bit, and neither does how many warps a block has: the same sums in the same
 * order. */
Test(results, steps_that_only_move_numbers_keep_every_bit, .timeout = 120)
{
	static const struct {
		const char *before, *after;
	} steps[] = {{"fa2_tile", "fa2_slab"}, {"fa2_slab", "fa2_split_q"}};
	static const int widths[] = {30, 64, 90, 128};
	const char *directory = scratch_directory();
	for (size_t d = 0; d < sizeof widths / sizeof widths[0]; d++) {
		for (size_t k = WITH_TILE_OPTIONS; k < KERNELS; k++) {
			struct chapter_run run = run_one_of_many(
				FA2, text("--kernel %s --heads 1 --seq 130 --dim %d --causal --save %s/%s",
			                  kernels[k][1], widths[d], directory, kernels[k][1]));
			free_chapter_run(&run);
		}
		for (size_t s = 0; s < sizeof steps / sizeof steps[0]; s++) {
			struct outcome same = run_program(
				LIST("cmp", "-s", text("%s/%s/o.npy", directory, steps[s].before),
			             text("%s/%s/o.npy", directory, steps[s].after)),
				NOTHING, 10);
			cr_expect_eq(same.status, 0, "d=%d: %s and %s", widths[d], steps[s].before, steps[s].after);
			free_outcome(&same);
		}
	}
}

/* Every check of the device, at a shape where tiles, rows and columns are all ragged. */
Test(results, no_hazards, .timeout = 120)
{
	for (int p = 0; p < 2; p++)
		for (int causal = 0; causal < 2; causal++)
			for (int d = 61; d <= 128; d += 67) {
				struct chapter_run run = run_chapter(
					programs[p], "SIM_CHECK=all",
					text("--seq %d --dim %d --heads %d --tile-q 48 "
				             "--tile-k 20%s",
				             thorough() ? 150 : 101, d, thorough() ? 2 : 1,
				             causal ? " --causal" : ""));
				cr_expect_eq(run.status, 0, "%s", run.err);
				cr_expect_str_empty(run.err, "%s", run.err);
				free_chapter_run(&run);
			}
}

/* With --time a program also has times, and verifies twice. */
Test(results, plain_builds_verify)
{
	only_when_thorough();
	static const char *const built[] = {TEST_ROOT "/04_fa1/fa1", TEST_ROOT "/05_fa2/fa2"};
	for (int p = 0; p < 2; p++) {
		struct chapter_run run = run_verified(built[p], "--seq 130 --dim 50 --causal --time --repeat 1");
		const cJSON *kernel = NULL;
		cJSON_ArrayForEach(kernel, cJSON_GetObjectItem(run.json, "kernels"))
			cr_expect(number_at(kernel, "time/median_ms") > 0 && number_at(kernel, "floor/ms") > 0);
		free_chapter_run(&run);
	}
}

/* The demonstration, in make test on a smaller problem (`make` runs the whole one, test-all compares its screen with the
 * page): its last line what to try next, no line over 80 columns. */
Test(results, output_for_people, .timeout = 60)
{
	for (int p = 0; p < 2; p++) {
		struct outcome o = run_line(programs[p], thorough() ? "" : "--seq 101 --heads 2", NOTHING, 60);
		cr_assert_eq(o.status, 0, "%s", o.err);
		cr_assert_null(strstr(o.out, "NOT EQUAL"));
		expect_screen(o.out);
		free_outcome(&o);
	}
}
