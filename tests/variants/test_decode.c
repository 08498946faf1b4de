/*
 * The decode kernel: windows, caps, biases and sinks of one decoded token. Each verified by the program against the double
 * reference, its counts against closed forms worked out here; a window is a shorter cache, and a sink far below every score
 * is none, to the bit; all of it is the last row of forward; and what does not go together is refused.
 */
#include "variants_run.h"

#include "json.h"
#include "page.h"
#include "program.h"
#include "worse.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

struct change {
	uint64_t W; /* 0: no window */
	bool sink;
	const char *others;
};

static const struct change changes[] = {
	{1, false, ""},
	{7, false, ""},
	{33, false, ""},
	{5000, false, ""},
	{0, false, "--softcap 2"},
	{0, false, "--alibi"},
	{0, true, ""},
	{1, true, "--alibi"},
	{20, true, "--softcap 5 --alibi"},
};

enum { CHANGES = sizeof changes / sizeof changes[0] };

struct shape {
	uint64_t n, H, G, d, S;
};

static uint64_t keys_seen(const struct shape *s, const struct change *change)
{
	return change->W && change->W < s->n ? change->W : s->n;
}

/* Runs that kernel alone, verified, and compares what it moves. */
static void expect_right(const struct shape *s, const struct change *change, const char *more)
{
	char *options = text(
		"--kernel decode --seq %d --heads %d --kv-heads %d --dim %d --splits %d%s%s %s %s", (int)s->n,
		(int)s->H, (int)s->G, (int)s->d, (int)s->S, change->W ? text(" --window %d", (int)change->W) : "",
		change->sink ? " --sink" : "", change->others, more);
	struct chapter_run run = run_one_of_many(VARIANTS, options);
	const cJSON *kernel = kernel_named(&run, "decode");
	uint64_t Hd = s->H * s->d, cache = keys_seen(s, change) * s->G * s->d;
	expect_elements(options, kernel, "Q", s->S * Hd, 0);
	expect_elements(options, kernel, "K", cache, 0);
	expect_elements(options, kernel, "V", cache, 0);
	expect_elements(options, kernel, "O of splits", s->S * Hd, s->S * Hd);
	expect_elements(options, kernel, "m of splits", s->S * s->H, s->S * s->H);
	expect_elements(options, kernel, "l of splits", s->S * s->H, s->S * s->H);
	expect_elements(options, kernel, "O", 0, Hd);
	expect_elements(options, kernel, "sink", change->sink ? 32 * s->H : 0, 0);
	cr_expect_eq(
		number_at(kernel, "model/elements"), 2 * cache + (s->S + 1) * Hd + 2 * s->S * s->H * (s->d + 2), "%s",
		options);
	const cJSON *K = json_named(json_get(json_get(kernel, "hbm"), "tensors"), "K");
	cr_expect_eq(number_at(K, "footprint/read_bytes"), 4.0 * (double)cache, "%s: distinct keys", options);
	free_chapter_run(&run);
}

/* One token; more splits than keys that are seen; groups of 1, 3, 8 and 32; nothing divides anything. */
Test(decode, every_modifier, .timeout = 120)
{
	static const struct shape shapes[] = {
		{1, 1, 1, 1, 1},   {1, 9, 3, 64, 44},   {2, 2, 1, 8, 70},     {33, 4, 4, 59, 5},
		{97, 9, 3, 80, 7}, {113, 8, 1, 80, 13}, {257, 2, 2, 128, 64}, {200, 32, 1, 20, 3},
	};
	size_t count = sizeof shapes / sizeof shapes[0];
	for (size_t c = 0; c < CHANGES; c++)
		for (size_t s = thorough() ? 0 : c % 2; s < count; s += thorough() ? 1 : 2)
			expect_right(&shapes[s], &changes[c], "");
}

Test(decode, every_input, .timeout = 120)
{
	static const char *const kinds[] = {"large-logits", "very-negative", "constant", "one-hot", "ramp"};
	static const struct shape shapes[] = {{70, 6, 2, 16, 5}, {3, 8, 1, 40, 5}};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (size_t c = thorough() ? 0 : 4; c < CHANGES; c++)
			expect_right(
				&shapes[(k + c) % 2], &changes[c], text("--input %s --seed %zu", kinds[k], 2 + k));
}

/* A cap far below every score makes them equal, one far above changes none. */
Test(decode, extremes)
{
	static const char *const options[] = {
		"--softcap 1e-30",
		"--softcap 1e30",
		"--softcap 1e-45 --sink",
		"--softcap 1e-30 --input large-logits",
		"--softcap 50 --input large-logits",
		"--alibi --scale 0",
		"--alibi --scale -3 --sink",
		"--alibi --input very-negative",
	};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		expect_right(
			&(struct shape){70, 7, 7, 16, 5},
			&(struct change){0, strstr(options[i], "--sink") != NULL, options[i]}, "");
}

Test(decode, clean_in_every_check_and_order, .timeout = 60)
{
	expect_any_order(
		VARIANTS,
		"--kernel decode --seq 97 --heads 6 --kv-heads 2 --dim 40 --splits 7 --window 50 --softcap 5 --alibi "
		"--sink");
	expect_any_order(
		VARIANTS, "--kernel decode --seq 3 --heads 8 --kv-heads 1 --dim 33 --splits 7 --window 2 --sink");
}

/* ---- the same numbers ---- */

static const float small_sinks[H] = {0.5f, -1.0f, 2.0f, 0.0f, -3.0f, 1.0f};

static void expect_same(const char *a, const char *b)
{
	struct npy one = output_of("decode", a, NULL), other = output_of("decode", b, "SIM_ORDER=shuffle:1");
	cr_expect(one.rank == 3 && one.shape[0] == 1 && one.shape[1] == H && one.shape[2] == DIM, "%s", a);
	cr_expect_arr_eq(one.values, other.values, H * DIM * sizeof(float), "%s: O differs from that of %s", b, a);
	free(one.values);
	free(other.values);
}

/* The keys before the window might as well not be there; also when most splits have none. */
Test(decode, a_window_is_a_shorter_cache, .timeout = 60)
{
	const char *all = save_tokens(0, 97, small_sinks);
	static const size_t windows[] = {1, 20, 64, 97};
	for (size_t w = 0; w < sizeof windows / sizeof windows[0]; w++)
		for (int S = 1; S <= 30; S += 29) {
			const char *own = save_tokens(97 - windows[w], windows[w], small_sinks);
			expect_same(
				text("--splits %d --load %s", S, own),
				text("--splits %d --load %s --window %zu", S, all, windows[w]));
			expect_same(
				text("--splits %d --alibi --sink --load %s", S, own),
				text("--splits %d --alibi --sink --load %s --window %zu", S, all, windows[w]));
		}
}

/* Far below every score they are none; far above they take all the weight. */
Test(decode, sinks_of_any_size, .timeout = 60)
{
	static const float sinks[][H] = {
		{-1e30f, 0.0f, 1e30f, -50.0f, 1e4f, 88.0f}, {-3e38f, -3e38f, 3e38f, 3e38f, -1e4f, -88.0f}};
	for (size_t i = 0; i < 2; i++) {
		const char *directory = save_tokens(0, 97, sinks[i]);
		for (const char *options = "--splits 7\0--splits 200\0--splits 9 --window 3\0"; *options;
		     options += strlen(options) + 1) {
			char *line = text("--load %s --sink %s", directory, options);
			struct npy O = output_of("decode", line, NULL),
				   without = output_of("decode", text("--load %s --splits 7", directory), NULL);
			for (size_t e = 0; e < DIM; e++)
				cr_expect_eq(O.values[(2 + i) * DIM + e], 0.0f, "%s", line);
			if (strcmp(options, "--splits 7") == 0)
				cr_expect_arr_eq(O.values, without.values, DIM * sizeof(float), "%s", line);
			free(O.values);
			free(without.values);
		}
	}
}

/* With groups and without, of two sequences, and of packed ones. */
Test(decode, one_step_is_the_last_row_of_forward, .timeout = 60)
{
	enum { LAST = 97, HEADS = 4, WIDTH = 80 };
	static const char *const options[] = {
		"--window 20", "--softcap 5", "--alibi", "--sink", "--window 20 --softcap 5 --alibi --sink"};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		char *line =
			text("--batch 2 --heads 4 --kv-heads %d --seq 97 --dim 80 %s", i % 2 ? 2 : 4, options[i]);
		struct npy all = output_of("forward", text("--causal %s", line), NULL),
			   step = output_of("decode", text("--splits 7 %s", line), NULL);
		double worst = 0.0;
		for (size_t e = 0; e < 2 * HEADS * WIDTH; e++) {
			size_t row = e / WIDTH * LAST + LAST - 1;
			worst = worse_of(
				worst, fabs((double)step.values[e] - (double)all.values[row * WIDTH + e % WIDTH]));
		}
		cr_expect(worst < 1e-6, "%s: %g off", line, worst);
		free(step.values);
		free(all.values);
	}
}

/* ---- what is refused, and what is said ---- */

Test(decode, what_does_not_go_together_is_refused)
{
	expect_refusal(VARIANTS, "--heads 4 --kv-heads 3 --sink", 2, "--kv-heads: expected a divisor of the 4 heads");
	expect_refusal(VARIANTS, "--splits 0", 2, "--splits");
	expect_refusal(VARIANTS, "--splits 65536", 2, "--splits");
	expect_refusal(VARIANTS, "--page 4", 2, "--page: does not apply to this chapter");
	expect_refusal(VARIANTS, "--kernel decode --dropout 0.1", 3, "dropout is for training");
	expect_refusal(VARIANTS, "--kernel decode --heads 33 --kv-heads 1 --sink", 3, "33 heads share one of keys");
}

/* The floor counts the keys that are read, and one query. */
Test(decode, reports_tell_of_it)
{
	struct outcome o = run_line(
		VARIANTS, "--kernel decode --seq 100 --dim 8 --splits 12 --window 8 --alibi --sink", NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "scores: window 8, ALiBi, sink\n"), "%s", o.out);
	cr_expect(strstr(o.out, "In decode 12 splits cost"), "%s", o.out);
	cr_expect(strstr(o.out, "4 splits have no key."), "%s", o.out);
	expect_screen(o.out);
	free_outcome(&o);
	struct chapter_run plain = run_verified(VARIANTS, "--kernel decode --seq 64"),
			   window = run_verified(VARIANTS, "--kernel decode --seq 4000 --window 64");
	cr_expect_eq(number_at(window.json, "problem/window"), 64);
	cr_expect_eq(
		number_at(kernel_named(&plain, "decode"), "floor/memory_ms"),
		number_at(kernel_named(&window, "decode"), "floor/memory_ms"));
	free_chapter_run(&plain);
	free_chapter_run(&window);
}
