/*
 * decode on packed sequences, a step of several texts at once: verified by the program, its counts against closed forms
 * worked out here; each sequence to the bit what it is alone, for as many bytes; and what is refused.
 */
#include "variants_run.h"

#include "json.h"
#include "page.h"
#include "program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 5 };

struct shape {
	const char *lengths;
	uint64_t each[MOST], H, G, d, S;
};

/* One token; more splits than a sequence has keys; shorter than a tile, a tile, one more; groups of 1, 3, 8 and 32. */
static const struct shape shapes[] = {
	{"1", {1}, 1, 1, 1, 1},
	{"1,1,1,1,1", {1, 1, 1, 1, 1}, 9, 3, 64, 44},
	{"3,17,100", {3, 17, 100}, 6, 2, 80, 5},
	{"32,33,31", {32, 33, 31}, 8, 1, 128, 3},
	{"97", {97}, 2, 2, 59, 7},
	{"129,1,64", {129, 1, 64}, 3, 3, 1, 70},
	{"20,40", {20, 40}, 32, 1, 20, 2},
};

static const struct change {
	uint64_t W; /* 0: no window */
	bool sink;
	const char *others;
} changes[] = {
	{0, false, ""},
	{1, false, ""},
	{20, false, ""},
	{0, false, "--softcap 2"},
	{0, true, "--alibi"},
	{7, true, ""},
	{20, true, "--softcap 5 --alibi"},
};

enum { SHAPES = sizeof shapes / sizeof shapes[0], CHANGES = sizeof changes / sizeof changes[0] };

/* Verified, and each tensor moved as often as the sequences alone would move it. */
static void expect_right(const struct shape *s, const struct change *change, const char *more)
{
	char *options = text(
		"--kernel decode --lengths %s --heads %d --kv-heads %d --dim %d --splits %d%s%s %s %s", s->lengths,
		(int)s->H, (int)s->G, (int)s->d, (int)s->S, change->W ? text(" --window %d", (int)change->W) : "",
		change->sink ? " --sink" : "", change->others, more);
	struct chapter_run run = run_one_of_many(VARIANTS, options);
	const cJSON *kernel = kernel_named(&run, "decode");
	uint64_t z = 0, seen = 0;
	for (; z < MOST && s->each[z]; z++)
		seen += change->W && change->W < s->each[z] ? change->W : s->each[z];
	uint64_t Hd = z * s->H * s->d, cache = seen * s->G * s->d, states = s->S * z * s->H;
	expect_elements(options, kernel, "Q", s->S * Hd, 0);
	expect_elements(options, kernel, "K", cache, 0);
	expect_elements(options, kernel, "V", cache, 0);
	expect_elements(options, kernel, "O of splits", s->S * Hd, s->S * Hd);
	expect_elements(options, kernel, "m of splits", states, states);
	expect_elements(options, kernel, "l of splits", states, states);
	expect_elements(options, kernel, "O", 0, Hd);
	expect_elements(options, kernel, "sink", change->sink ? 32 * z * s->H : 0, 0);
	expect_elements(options, kernel, "starts", 2 * 32 * z * s->H * s->S, 0);
	cr_expect_eq(
		number_at(kernel, "model/elements"), 2 * cache + (s->S + 1) * Hd + 2 * states * (s->d + 2), "%s",
		options);
	uint64_t blocks = z * (s->G * s->S > s->H ? s->G * s->S : s->H);
	cr_expect_eq(number_at(kernel, "blocks"), blocks, "%s", options);
	const cJSON *K = json_named(json_get(json_get(kernel, "hbm"), "tensors"), "K");
	cr_expect_eq(number_at(K, "footprint/read_bytes"), 4.0 * (double)cache, "%s: distinct keys", options);
	free_chapter_run(&run);
}

Test(lengths, every_shape, .timeout = 120)
{
	for (size_t c = 0; c < CHANGES; c++)
		for (size_t s = thorough() ? 0 : c % 2; s < SHAPES; s += thorough() ? 1 : 2)
			expect_right(&shapes[s], &changes[c], "");
}

Test(lengths, every_input, .timeout = 120)
{
	static const char *const kinds[] = {"large-logits", "very-negative", "constant", "one-hot", "ramp"};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (size_t c = thorough() ? 0 : CHANGES - 3; c < CHANGES; c++)
			expect_right(&shapes[2 + k % 2], &changes[c], text("--input %s --seed %zu", kinds[k], 2 + k));
}

Test(lengths, clean_in_every_check_and_order, .timeout = 60)
{
	expect_any_order(
		VARIANTS,
		"--kernel decode --lengths 3,40,1 --heads 6 --kv-heads 2 --dim 40 --splits 7 --window 20 --softcap 5 "
		"--sink");
}

/* ---- the same numbers ---- */

enum { SEQUENCES = 3 };
static const size_t each[SEQUENCES] = {5, 130, 15};
static const float sinks[H] = {0.5f, -1.0f, 2.0f, 0.0f, -3.0f, 1.0f};

static const char *const modifiers[] = {
	"--splits 7", "--splits 30 --window 20", "--splits 1 --sink --alibi",
	"--splits 7 --softcap 5 --alibi --sink --window 50"};

enum { MODIFIERS = sizeof modifiers / sizeof modifiers[0] };

Test(lengths, packed_sequences_are_each_as_alone, .timeout = 120)
{
	const char *all = save_tokens(0, TOKENS, sinks);
	for (size_t i = 0; i < MODIFIERS; i++) {
		char *line = text("--lengths 5,130,15 --load %s %s", all, modifiers[i]);
		struct npy packed = output_of("decode", line, "SIM_ORDER=shuffle:1");
		cr_expect(packed.rank == 3 && packed.shape[0] == SEQUENCES && packed.shape[1] == H, "%s", line);
		size_t first = 0;
		for (size_t s = 0; s < SEQUENCES; first += each[s++]) {
			const char *own = save_tokens(first, each[s], sinks);
			struct npy alone = output_of("decode", text("--load %s %s", own, modifiers[i]), NULL);
			cr_expect_arr_eq(
				alone.values, packed.values + s * H * DIM, H * DIM * sizeof(float),
				"%s: sequence %zu", line, s);
			free(alone.values);
		}
		free(packed.values);
	}
}

/* Also of the inputs that the program makes. */
Test(lengths, one_sequence_is_as_many_tokens, .timeout = 120)
{
	static const char *const kinds[] = {"random", "large-logits", "very-negative", "constant", "one-hot", "ramp"};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++) {
		char *more =
			text("--heads 6 --kv-heads 2 --dim 59 --input %s %s", kinds[k], modifiers[k % MODIFIERS]);
		struct npy one = output_of("decode", text("--lengths 97 %s", more), NULL),
			   seq = output_of("decode", text("--seq 97 %s", more), NULL);
		cr_expect(one.rank == 3 && seq.rank == 3, "%s", more);
		cr_expect_arr_eq(one.values, seq.values, H * DIM * sizeof(float), "%s", more);
		free(one.values);
		free(seq.values);
	}
}

/* ---- what is refused, and what is said ---- */

Test(lengths, what_does_not_go_together_is_refused)
{
	expect_refusal(
		VARIANTS, "--lengths 3,,4", 2, "--lengths: expected 1 to 64 whole numbers above 0, as 3,17,200");
	expect_refusal(VARIANTS, "--lengths 0", 2, "--lengths: expected 1 to 64 whole numbers above 0");
	expect_refusal(VARIANTS, text("--lengths 3 --explain %s/page", scratch_directory()), 2, "not with --explain");
	expect_refusal(
		VARIANTS, text("--load %s --lengths 5,130,16", save_tokens(0, TOKENS, sinks)), 2,
		"expected 151 for N");
}

Test(lengths, reports_tell_of_it)
{
	struct outcome o = run_line(
		VARIANTS, "--kernel decode --lengths 3,17,80 --dim 8 --splits 12 --window 8 --sink", NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "scores: window 8, sink\npacked: 3 sequences of 3,17,80 tokens\n"), "%s", o.out);
	cr_expect(strstr(o.out, "17 splits have no key."), "%s", o.out);
	expect_screen(o.out);
	free_outcome(&o);
	struct chapter_run packed = run_verified(VARIANTS, "--kernel decode --lengths 3,17");
	cr_expect_eq(number_at(packed.json, "problem/seq"), 20);
	cr_expect_eq(number_at(packed.json, "problem/lengths/0"), 3);
	cr_expect_eq(number_at(packed.json, "problem/lengths/1"), 17);
	free_chapter_run(&packed);
}
