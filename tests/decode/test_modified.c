/*
 * decode_modified: windows, caps, biases and sinks of one decoded token. Each verified by the program against the double
 * reference, its counts against closed forms worked out here; a window is a shorter cache, and a sink far below every score
 * is none, to the bit; all of it is the last row of fa2_modified; and what does not go together is refused.
 */
#include "chapter_run.h"
#include "decode_run.h"
#include "json.h"
#include "page.h"
#include "program.h"

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
	char *options =
		text("--seq %d --heads %d --kv-heads %d --dim %d --splits %d%s%s %s %s", (int)s->n, (int)s->H,
	             (int)s->G, (int)s->d, (int)s->S, change->W ? text(" --window %d", (int)change->W) : "",
	             change->sink ? " --sink" : "", change->others, more);
	struct chapter_run run = run_one_of_many(DECODE, options);
	cr_expect_eq(cJSON_GetArraySize(json_get(run.json, "kernels")), 1, "%s: other kernels run", options);
	const cJSON *kernel = kernel_named(&run, "decode_modified");
	uint64_t Hd = s->H * s->d, cache = keys_seen(s, change) * s->G * s->d;
	expect_moved(options, kernel, "Q", s->S * Hd, 0);
	expect_moved(options, kernel, "K", cache, 0);
	expect_moved(options, kernel, "V", cache, 0);
	expect_moved(options, kernel, "O of splits", s->S * Hd, s->S * Hd);
	expect_moved(options, kernel, "m of splits", s->S * s->H, s->S * s->H);
	expect_moved(options, kernel, "l of splits", s->S * s->H, s->S * s->H);
	expect_moved(options, kernel, "O", 0, Hd);
	expect_moved(options, kernel, "sink", change->sink ? 32 * s->H : 0, 0);
	cr_expect_eq(
		number_at(kernel, "model/elements"), 2 * cache + (s->S + 1) * Hd + 2 * s->S * s->H * (s->d + 2), "%s",
		options);
	const cJSON *K = json_named(json_get(json_get(kernel, "hbm"), "tensors"), "K");
	cr_expect_eq(number_at(K, "footprint/read_bytes"), 4.0 * (double)cache, "%s: distinct keys", options);
	free_chapter_run(&run);
}

/* One token; more splits than keys that are seen; groups of 1, 3, 8 and 32; nothing divides anything. */
Test(modified, every_modifier, .timeout = 120)
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

Test(modified, every_input, .timeout = 120)
{
	static const char *const kinds[] = {"large-logits", "very-negative", "constant", "one-hot", "ramp"};
	static const struct shape shapes[] = {{70, 6, 2, 16, 5}, {3, 8, 1, 40, 5}};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (size_t c = thorough() ? 0 : 4; c < CHANGES; c++)
			expect_right(
				&shapes[(k + c) % 2], &changes[c], text("--input %s --seed %zu", kinds[k], 2 + k));
}

/* A cap far below every score makes them equal, one far above changes none. */
Test(modified, extremes)
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

Test(modified, clean_in_every_check_and_order, .timeout = 60)
{
	expect_any_order(
		DECODE, "--seq 97 --heads 6 --kv-heads 2 --dim 40 --splits 7 --window 50 --softcap 5 --alibi --sink");
	expect_any_order(DECODE, "--seq 3 --heads 8 --kv-heads 1 --dim 33 --splits 7 --window 2 --sink");
}

/* ---- the same numbers ---- */

/* The last `tokens` of 97, of two heads of keys and six of queries. */
static const char *save_cache(size_t tokens, const float sinks[6])
{
	enum { TOKENS = 97, WIDTH = 2 * 59, QUERY = 6 * 59 };
	static float q[QUERY], rows[TOKENS * WIDTH];
	char *directory = text("%s/of_%zu", scratch_directory(), tokens);
	const size_t of_q[] = {6, 59}, of_rows[] = {tokens, 2, 59}, of_sinks[] = {6};
	for (size_t e = 0; e < QUERY; e++)
		q[e] = (float)sin(0.3 * (double)e);
	save(directory, "Q", q, of_q, 2);
	save(directory, "sink", sinks, of_sinks, 1);
	for (const char *tensor = "K\0V\0"; *tensor; tensor += 2) {
		for (size_t e = 0; e < TOKENS * WIDTH; e++)
			rows[e] = (float)sin((*tensor == 'K' ? 0.7 : 1.3) * (double)e);
		save(directory, tensor, rows + (TOKENS - tokens) * WIDTH, of_rows, 3);
	}
	return directory;
}

static const float small_sinks[6] = {0.5f, -1.0f, 2.0f, 0.0f, -3.0f, 1.0f};

static void expect_same(const char *kernel, const char *options, const char *of_modified)
{
	struct npy O = output_of(kernel, options, NULL);
	expect_same_bits(O, output_of("decode_modified", of_modified, "SIM_ORDER=shuffle:1"), of_modified);
	free(O.values);
}

Test(modified, without_a_modifier_it_is_decode_split)
{
	const char *all = save_cache(97, small_sinks), *options = text("--splits 7 --load %s", all);
	expect_same("decode_split", options, options);
	expect_same("decode_split", options, text("--window 97 %s", options));
	struct chapter_run plain = run_verified(DECODE, text("--kernel decode_split %s", options)),
			   own = run_verified(DECODE, text("--kernel decode_modified %s", options));
	const cJSON *split = kernel_named(&plain, "decode_split"), *modified = kernel_named(&own, "decode_modified");
	static const char *const counts[] = {
		"hbm/requested/read_bytes",
		"hbm/requested/write_bytes",
		"hbm/sectors/read",
		"launches/0/shared/load/bytes",
		"launches/0/shared/load/requests",
		"launches/0/shared/store/bytes",
		"launches/0/barriers",
		"launches/0/exp",
		"model/elements"};
	for (size_t i = 0; i < sizeof counts / sizeof counts[0]; i++)
		cr_expect_eq(number_at(split, counts[i]), number_at(modified, counts[i]), "%s", counts[i]);
	free_chapter_run(&plain);
	free_chapter_run(&own);
}

/* The keys before the window might as well not be there; also when most splits have none. */
Test(modified, a_window_is_a_shorter_cache, .timeout = 60)
{
	const char *all = save_cache(97, small_sinks);
	static const size_t windows[] = {1, 20, 64};
	for (size_t w = 0; w < 3; w++)
		for (int S = 1; S <= 30; S += 29) {
			const char *own = save_cache(windows[w], small_sinks);
			expect_same(
				"decode_split", text("--splits %d --load %s", S, own),
				text("--splits %d --load %s --window %zu", S, all, windows[w]));
			expect_same(
				"decode_modified", text("--splits %d --alibi --sink --load %s", S, own),
				text("--splits %d --alibi --sink --load %s --window %zu", S, all, windows[w]));
		}
}

/* Far below every score they are none; far above they take all the weight. */
Test(modified, sinks_of_any_size, .timeout = 60)
{
	static const float sinks[][6] = {
		{-1e30f, 0.0f, 1e30f, -50.0f, 1e4f, 88.0f}, {-3e38f, -3e38f, 3e38f, 3e38f, -1e4f, -88.0f}};
	for (size_t i = 0; i < 2; i++) {
		const char *directory = save_cache(97, sinks[i]);
		for (const char *options = "--splits 7\0--splits 200\0--splits 9 --window 3\0"; *options;
		     options += strlen(options) + 1) {
			char *line = text("--load %s --sink %s", directory, options);
			struct chapter_run run = run_verified(DECODE, line);
			free_chapter_run(&run);
			struct npy O = output_of("decode_modified", line, NULL),
				   without = output_of("decode_split", text("--load %s --splits 7", directory), NULL);
			for (size_t e = 0; e < 59; e++)
				cr_expect_eq(O.values[(2 + i) * 59 + e], 0.0f, "%s", line);
			if (strcmp(options, "--splits 7") == 0)
				cr_expect_eq(memcmp(O.values, without.values, 59 * sizeof(float)), 0, "%s", line);
			free(O.values);
			free(without.values);
		}
	}
}

/* With groups and without. */
Test(modified, one_step_is_the_last_row_of_chapter_05, .timeout = 60)
{
	static const char *const options[] = {
		"--window 20", "--softcap 5", "--alibi", "--sink", "--window 20 --softcap 5 --alibi --sink"};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		expect_last_row("fa2_modified", "decode_modified", i % 2 ? 3 : 1, options[i]);
}

/* ---- what is refused, and what is said ---- */

Test(modified, what_does_not_go_together_is_refused)
{
	expect_refusal(DECODE, "--window 0", 2, "--window: expected a whole number from 1");
	expect_refusal(DECODE, "--softcap -1", 2, "--softcap: expected a finite number above 0");
	expect_refusal(DECODE, "--heads 4 --kv-heads 3 --sink", 2, "--kv-heads: expected a divisor of the 4 heads");
	expect_refusal(DECODE, "--lengths 3,4", 2, "--lengths: does not apply to this chapter");
	expect_refusal(DECODE, "--dropout 0.1", 2, "--dropout: does not apply to this chapter");
	static const char *const plain[] = {"decode_naive", "decode_grouped", "decode_split", "decode_paged"};
	for (const char *option = "--window 3\0--softcap 3\0--alibi\0--sink\0"; *option;
	     option += strlen(option) + 1) {
		for (size_t k = 0; k < 4; k++)
			expect_refusal(
				DECODE, text("--kernel %s %s", plain[k], option), 2,
				text("%s does not take it, expected --kernel decode_modified", plain[k]));
		expect_refusal(
			DECODE, text("--prompt Hi %s", option), 2, "not with --prompt, where the model decides");
		expect_refusal(
			DECODE, text("%s --explain %s/page", option, scratch_directory()), 2, "not with --explain");
	}
	expect_refusal(
		DECODE, "--prompt Hi --kernel decode_modified", 2, "--kernel: not decode_modified with --prompt");
	expect_refusal(DECODE, "--heads 33 --kv-heads 1 --sink", 3, "33 heads share one of keys");
}

/* Heads that share keys are every kernel's; the floor counts the keys that are read. */
Test(modified, reports_tell_of_it)
{
	struct outcome o =
		run_line(DECODE, "--seq 100 --dim 8 --splits 12 --window 8 --softcap 30 --alibi --sink", NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "scores: window 8, soft-cap 30, ALiBi, sink\n"), "%s", o.out);
	cr_expect(strstr(o.out, "Of 100 keys the query sees the last 8."), "%s", o.out);
	cr_expect(strstr(o.out, "24 of 132 SMs have work.\n4 splits have no key."), "%s", o.out);
	expect_screen(o.out);
	free_outcome(&o);
	struct chapter_run plain = run_verified(DECODE, "--kv-heads 1 --seq 64"),
			   window = run_verified(DECODE, "--kv-heads 1 --seq 4000 --window 64 --splits 44");
	cr_expect_eq(cJSON_GetArraySize(json_get(plain.json, "kernels")), 4);
	cr_expect_null(cJSON_GetObjectItem(json_get(plain.json, "problem"), "window"));
	cr_expect_eq(number_at(window.json, "problem/window"), 64);
	cr_expect_eq(
		number_at(kernel_named(&plain, "decode_split"), "floor/memory_ms"),
		number_at(kernel_named(&window, "decode_modified"), "floor/memory_ms"));
	free_chapter_run(&plain);
	free_chapter_run(&window);
}
