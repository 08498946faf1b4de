/*
 * The forward kernel: windows, caps, biases, sinks, dropout, shared heads and packed sequences. Each verified by the program
 * against the double reference (harness_variants compares that with a slow one), its counts against what is worked out here
 * pair by pair, and what does not go together refused.
 */
#include "chapter_run.h"
#include "json.h"
#include "page.h"
#include "problem/load.h"
#include "program.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VARIANTS TEST_BUILD "/chapters/variants"

static const char *const modifiers[] = {
	"--window 1",
	"--window 7",
	"--window 64",
	"--softcap 2",
	"--alibi",
	"--sink",
	"--kv-heads 1",
	"--kv-heads 2",
	"--window 20 --softcap 5 --alibi --sink --kv-heads 2",
	"--dropout 0.3",
	"--dropout 0.1 --window 20 --softcap 5 --alibi --sink --kv-heads 2",
};

enum { MODIFIERS = sizeof modifiers / sizeof modifiers[0] };

static void expect_right(const char *options)
{
	struct chapter_run run = run_one_of_many(VARIANTS, text("--kernel forward %s", options));
	free_chapter_run(&run);
}

/* Each on lengths beside a tile's border and on every D; causal and not; two sequences. In make test each on two. */
Test(forward, every_modifier, .timeout = 120)
{
	static const char *const shapes[] = {"--seq 1 --dim 1",
	                                     "--seq 65 --dim 33",
	                                     "--seq 129 --dim 64 --causal",
	                                     "--seq 40 --dim 111 --causal",
	                                     "--seq 2 --dim 8 --causal",
	                                     "--seq 97 --dim 80",
	                                     "--seq 257 --dim 40 --causal",
	                                     "--seq 200 --dim 128"};
	size_t count = sizeof shapes / sizeof shapes[0];
	for (int m = 0; m < MODIFIERS; m++)
		for (size_t s = thorough() ? 0 : (size_t)m % 4; s < count; s += thorough() ? 1 : 4)
			expect_right(text("%s %s --heads 4 --batch %d", shapes[s], modifiers[m], s % 2 ? 2 : 1));
}

Test(forward, every_input, .timeout = 120)
{
	static const char *const kinds[] = {"large-logits", "very-negative", "constant", "one-hot", "ramp"};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (int m = thorough() ? 0 : MODIFIERS - 4; m < MODIFIERS; m++)
			expect_right(
				text("--seq 70 --dim 16 --heads 4 --input %s %s%s", kinds[k], modifiers[m],
			             (k + (size_t)m) % 2 ? " --causal" : ""));
}

/* Shorter than a tile, a tile, longer than one; alone, many of one token, with every modifier. */
Test(forward, packed_sequences, .timeout = 120)
{
	static const char *const options[] = {
		"--lengths 3,17,200",
		"--lengths 1,1,1,1,1 --dim 8 --causal",
		"--lengths 129 --dim 40 --causal",
		"--lengths 128,64,1 --dim 128 --window 9 --sink",
		"--lengths 5,130,2,65 --dim 80 --heads 4 --kv-heads 2 --softcap 3 --alibi --sink --dropout 0.2 "
		"--causal",
		"--lengths 70,30 --input large-logits --dropout 0.5",
		"--lengths 70,30 --input one-hot --causal",
		"--lengths 2,2 --dim 1 --scale 0"};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		expect_right(options[i]);
}

enum { PACKED_HEADS = 2, PACKED_DIM = 12, PACKED = 3, PACKED_TOKENS = 150 };
static const size_t packed_lengths[PACKED] = {5, 130, 15};

/* Q, K and V of some tokens of all of them, and the output that the kernel saves. */
static float *output_of(const char *options, size_t first, size_t tokens, uint64_t *keys_read)
{
	enum { MOST = PACKED_HEADS * PACKED_TOKENS * PACKED_DIM };
	static float values[MOST];
	const size_t shape[] = {1, PACKED_HEADS, tokens, PACKED_DIM};
	char *in = text("%s/in", scratch_directory()), *out = text("%s/out", scratch_directory());
	struct error error;
	for (int t = 0; t < 3; t++) {
		for (size_t e = 0; e < PACKED_HEADS * tokens * PACKED_DIM; e++) {
			size_t head = e / PACKED_DIM / tokens, token = first + e / PACKED_DIM % tokens;
			values[e] = (float)sin(
				0.7 * (double)((head * PACKED_TOKENS + token) * PACKED_DIM + e % PACKED_DIM) + t);
		}
		char name[] = {"QKV"[t], '\0'};
		cr_assert_eq(save_tensor(in, name, values, shape, 4, &error), 0, "%s", error.message);
	}
	struct chapter_run run = run_one_of_many(VARIANTS, text("%s --load %s --save %s", options, in, out));
	*keys_read += elements_of(kernel_named(&run, "forward"), "K").read;
	free_chapter_run(&run);
	struct npy array;
	cr_assert_eq(npy_read(text("%s/o.npy", out), true, &array, &error), 0, "%s", error.message);
	return array.values;
}

/* To the bit what each of them gives alone, for as many bytes of K: no padding is read, and no other sequence's keys. */
Test(forward, packed_sequences_are_each_as_alone)
{
	static const char *const options[] = {"--kernel forward", "--causal --window 20 --alibi --kernel forward"};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++) {
		uint64_t packed_keys = 0, alone_keys = 0;
		float *packed = output_of(text("%s --lengths 5,130,15", options[i]), 0, PACKED_TOKENS, &packed_keys);
		size_t first = 0;
		for (int s = 0; s < PACKED; s++) {
			size_t tokens = packed_lengths[s];
			float *alone = output_of(options[i], first, tokens, &alone_keys);
			for (size_t h = 0; h < PACKED_HEADS; h++)
				cr_expect_arr_eq(
					alone + h * tokens * PACKED_DIM,
					packed + (h * PACKED_TOKENS + first) * PACKED_DIM,
					tokens * PACKED_DIM * sizeof *alone, "%s: sequence %d", options[i], s);
			first += tokens;
			free(alone);
		}
		cr_expect_eq(packed_keys, alone_keys, "%s", options[i]);
		free(packed);
	}
}

/* The mask is computed: not one request more than without it. */
Test(forward, dropout_costs_no_byte)
{
	const char *shape = "--kernel forward --heads 2 --seq 140 --dim 40 --causal";
	struct chapter_run plain = run_one_of_many(VARIANTS, shape),
			   dropped = run_one_of_many(VARIANTS, text("%s --dropout 0.4", shape));
	static const char *const paths[] = {
		"hbm/requested/read_bytes", "hbm/requested/write_bytes", "launches/0/shared/load/bytes",
		"launches/0/shared/store/bytes"};
	for (size_t p = 0; p < sizeof paths / sizeof paths[0]; p++)
		cr_expect_eq(
			number_at(kernel_named(&plain, "forward"), paths[p]),
			number_at(kernel_named(&dropped, "forward"), paths[p]), "%s", paths[p]);
	free_chapter_run(&plain);
	free_chapter_run(&dropped);
}

/* Of the same inputs: O depends on the seed, LSE does not. A first packed sequence has the mask that it has alone. */
Test(forward, dropout_depends_on_the_seed)
{
	uint64_t keys = 0;
	const char *options = "--dropout 0.4 --kernel forward --seed";
	float *one = output_of(text("%s 1", options), 0, packed_lengths[0], &keys),
	      *same = output_of(text("%s 1", options), 0, packed_lengths[0], &keys),
	      *other = output_of(text("%s 2", options), 0, packed_lengths[0], &keys),
	      *packed = output_of(text("--lengths 5,130,15 %s 1", options), 0, PACKED_TOKENS, &keys);
	size_t row = packed_lengths[0] * PACKED_DIM * sizeof *one;
	cr_expect_arr_eq(one, same, PACKED_HEADS * row);
	cr_expect_arr_neq(one, other, PACKED_HEADS * row);
	cr_expect_arr_eq(one, packed, row);
	free(one);
	free(same);
	free(other);
	free(packed);
}

/* A cap far below every score makes them equal, one far above changes none; a window that reaches everything hides nothing. */
Test(forward, extremes)
{
	static const char *const options[] = {
		"--softcap 1e-30",
		"--softcap 1e30",
		"--softcap 1e-30 --input large-logits",
		"--softcap 50 --input large-logits",
		"--softcap 1e-45 --causal",
		"--window 70",
		"--window 1000000 --causal",
		"--alibi --scale 0",
		"--alibi --scale -3",
		"--window 1 --sink --causal",
		"--heads 1 --alibi",
		"--heads 7 --kv-heads 7 --alibi --input very-negative"};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		expect_right(text("--seq 70 --dim 16 %s", options[i]));
}

/* Sinks of a model's files, far below and far above every score. */
Test(forward, sinks_of_any_size)
{
	const float sinks[][2] = {{-1e30f, 0.0f}, {-50.0f, 1e4f}, {-3e38f, -3e38f}};
	const size_t shape[] = {1, 2, 33, 8}, sink_shape[] = {2};
	float values[2 * 33 * 8];
	char *directory = text("%s/in", scratch_directory());
	struct error error;
	for (size_t e = 0; e < sizeof values / sizeof values[0]; e++)
		values[e] = (float)sin(0.7 * (double)e);
	for (size_t i = 0; i < sizeof sinks / sizeof sinks[0]; i++) {
		for (const char *tensor = "Q\0K\0V\0"; *tensor; tensor += 2)
			cr_assert_eq(
				save_tensor(directory, tensor, values, shape, 4, &error), 0, "%s", error.message);
		cr_assert_eq(save_tensor(directory, "sink", sinks[i], sink_shape, 1, &error), 0, "%s", error.message);
		expect_right(text("--sink --load %s", directory));
	}
}

/* ---- counts ---- */

struct shape {
	int B, H, G, N, d, W; /* W 0: no window */
	bool causal, sink;
	const char *lengths; /* then B is how many, and N the longest; NULL: B of N */
	int each[4];
};

static int length_of(const struct shape *s, int sequence)
{
	return s->lengths ? s->each[sequence] : s->N;
}

static uint64_t tokens_of(const struct shape *s)
{
	uint64_t tokens = 0;
	for (int b = 0; b < s->B; b++)
		tokens += (uint64_t)length_of(s, b);
	return tokens;
}

static bool sees(const struct shape *s, int query, int key)
{
	return (!s->causal || key <= query) && (!s->W || abs(query - key) < s->W);
}

static bool any_sees(const struct shape *s, int N, int row, int rows, int key, int keys)
{
	for (int i = row; i < row + rows && i < N; i++)
		for (int j = key; j < key + keys && j < N; j++)
			if (sees(s, i, j))
				return true;
	return false;
}

/* Keys that the tiles of queries load, pair by pair, of all sequences; and how many tiles of queries there are. */
static uint64_t keys_loaded(const struct shape *s, int tile, uint64_t *tiles)
{
	uint64_t keys = 0;
	*tiles = 0;
	for (int b = 0; b < s->B; b++) {
		int N = length_of(s, b);
		for (int row = 0; row < N; row += tile, ++*tiles)
			for (int key = 0; key < N; key += tile)
				if (any_sees(s, N, row, tile, key, tile))
					keys += (uint64_t)(key + tile < N ? tile : N - key);
	}
	return keys;
}

Test(forward, counts_to_the_element, .timeout = 120)
{
	static const struct shape shapes[] = {
		{1, 2, 2, 300, 64, 1, false, false, NULL, {0}},
		{1, 2, 2, 300, 64, 40, true, false, NULL, {0}},
		{1, 2, 1, 257, 40, 65, false, false, NULL, {0}},
		{2, 4, 2, 130, 111, 33, true, true, NULL, {0}},
		{1, 3, 1, 200, 128, 0, true, true, NULL, {0}},
		{1, 1, 1, 1, 1, 1, true, true, NULL, {0}},
		{1, 2, 2, 513, 8, 64, false, false, NULL, {0}},
		{1, 2, 2, 513, 8, 129, true, false, NULL, {0}},
		{3, 2, 1, 200, 40, 0, false, true, "3,17,200", {3, 17, 200}},
		{4, 2, 2, 129, 80, 20, true, false, "64,129,1,65", {64, 129, 1, 65}},
		{1, 1, 1, 70, 16, 0, true, true, "70", {70}}};
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		const struct shape *s = &shapes[i];
		char *options =
			text("%s --heads %d --kv-heads %d --dim %d%s%s%s",
		             s->lengths ? text("--lengths %s", s->lengths) : text("--batch %d --seq %d", s->B, s->N),
		             s->H, s->G, s->d, s->W ? text(" --window %d", s->W) : "", s->causal ? " --causal" : "",
		             s->sink ? " --sink" : "");
		struct chapter_run run = run_one_of_many(VARIANTS, text("--kernel forward %s", options));
		const cJSON *kernel = kernel_named(&run, "forward");
		int tile = s->d <= 64 ? 64 : 32;
		uint64_t H = (uint64_t)s->H, d = (uint64_t)s->d, rows = H * tokens_of(s), tiles,
			 launched = H * (uint64_t)(s->B * ((s->N + tile - 1) / tile));
		uint64_t loaded = H * keys_loaded(s, tile, &tiles) * d;
		cr_expect_eq(elements_of(kernel, "Q").read, rows * d, "%s: Q", options);
		cr_expect_eq(elements_of(kernel, "K").read, loaded, "%s: K", options);
		cr_expect_eq(elements_of(kernel, "V").read, loaded, "%s: V", options);
		cr_expect_eq(elements_of(kernel, "O").written, rows * d, "%s: O", options);
		cr_expect_eq(elements_of(kernel, "LSE").written, rows, "%s: LSE", options);
		cr_expect_eq(
			elements_of(kernel, "sink").read, s->sink ? 2 * (uint64_t)tile * H * tiles : 0, "%s: sink",
			options);
		cr_expect_eq(
			elements_of(kernel, "starts").read, s->lengths ? 2 * 2 * (uint64_t)tile * launched : 0,
			"%s: starts", options);
		cr_expect_eq(number_at(kernel, "blocks"), launched, "%s: blocks", options);
		cr_expect_eq(number_at(kernel, "model/elements"), 2 * rows * d + 2 * loaded, "%s", options);
		double shared = 4.0 * (double)s->G * (double)(tokens_of(s) * d); /* the heads that are there */
		for (const cJSON *t = json_get(json_get(kernel, "hbm"), "tensors")->child; t; t = t->next)
			if (strcmp(json_string_of(t, "name"), "K") == 0)
				cr_expect_eq(
					number_at(t, "footprint/read_bytes"), shared, "%s: footprint of K", options);
		free_chapter_run(&run);
	}
}

/* ---- what is refused, and what is said ---- */

Test(forward, what_does_not_go_together_is_refused)
{
	expect_refusal(VARIANTS, "--window 0", 2, "--window: expected a whole number from 1");
	expect_refusal(VARIANTS, "--softcap 0", 2, "--softcap: expected a finite number above 0");
	expect_refusal(VARIANTS, "--softcap -1", 2, "--softcap: expected a finite number above 0");
	for (const char *value = "1\0-0.1\0nan\0"
	                         "2\0x\0";
	     *value; value += strlen(value) + 1)
		expect_refusal(
			VARIANTS, text("--dropout %s", value), 2,
			"--dropout: expected a number from 0 to below 1, got");
	expect_refusal(
		VARIANTS, "--lengths 3,,4", 2, "--lengths: expected 1 to 64 whole numbers above 0, as 3,17,200");
	expect_refusal(VARIANTS, "--lengths 3,4 --seq 8", 2, "--seq: expected 7, the sum of --lengths, got 8");
	expect_refusal(VARIANTS, "--batch 2 --lengths 3,4", 2, "--batch: not with --lengths");
	expect_refusal(VARIANTS, "--lengths 3,4 --sweep", 2, "--lengths: not with --sweep");
	expect_refusal(VARIANTS, "--lengths 30000,30000 --heads 64 --dim 16", 2, "--lengths 30000,30000: is about");
	expect_refusal(VARIANTS, "--softcap nan", 2, "--softcap: expected a finite number above 0");
	expect_refusal(VARIANTS, "--kv-heads 3 --heads 4", 2, "kv-heads");
	expect_refusal(VARIANTS, "--kv-heads 4", 2, "kv-heads");
	expect_refusal(VARIANTS, "--kernel forward --tile-q 48", 3, "32 x 32 or 64 x 64");
	expect_refusal(VARIANTS, text("--sink --explain %s/page", scratch_directory()), 2, "not with --explain");
	static const char *const others[] = {
		FA1, FA2, TEST_BUILD "/chapters/backward", TEST_BUILD "/chapters/decode"};
	for (const char *option = "--window 3\0--softcap 3\0--alibi\0--sink\0--dropout 0.5\0--lengths 3\0"; *option;
	     option += strlen(option) + 1)
		for (size_t p = 0; p < sizeof others / sizeof others[0]; p++)
			expect_refusal(others[p], option, 2, "does not apply to this chapter");
}

/* Reports name what was asked for, and no plain run has a word of it. */
Test(forward, reports_tell_of_it)
{
	struct outcome o =
		run_line(VARIANTS, "--seq 40 --window 8 --softcap 30 --alibi --sink --kv-heads 1", NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "B=1 H=2 G=1 N=40"), "%s", o.out);
	cr_expect(strstr(o.out, "scores: window 8, soft-cap 30, ALiBi, sink\n"), "%s", o.out);
	cr_expect(strstr(o.out, "Of 1,600 pairs of a query and a key per head, 544 are seen;"), "%s", o.out);
	expect_screen(o.out);
	free_outcome(&o);
	o = run_line(VARIANTS, "--seq 40 --window 8 --softcap 30 --sink --tsv - --quiet", NOTHING, 60);
	cr_expect(strstr(o.out, "window\t") && strstr(o.out, "\tsoftcap\tsink\t"), "%s", o.out);
	free_outcome(&o);
	o = run_line(VARIANTS, "--lengths 3,17 --dropout 0.25 --seed 9", NOTHING, 60);
	cr_expect(strstr(o.out, "scores: dropout 0.25\npacked: 2 sequences of 3,17 tokens\n"), "%s", o.out);
	cr_expect(strstr(o.out, "dropout is for training"), "%s", o.out);
	free_outcome(&o);
	o = run_line(VARIANTS, "--lengths 3,17 --dropout 0.25 --tsv -", NOTHING, 60);
	cr_expect(strstr(o.out, "\tdropout\tlengths\t") && strstr(o.out, "\t0.25\t3,17\t"), "%s", o.out);
	free_outcome(&o);
	struct chapter_run packed = run_verified(VARIANTS, "--kernel forward --lengths 3,17 --dropout 0.25 --seed 9");
	cr_expect_eq(number_at(packed.json, "problem/lengths/0"), 3);
	cr_expect_eq(number_at(packed.json, "problem/lengths/1"), 17);
	cr_expect_eq(number_at(packed.json, "problem/dropout"), 0.25);
	cr_expect_eq(number_at(packed.json, "problem/seed"), 9);
	free_chapter_run(&packed);
	struct chapter_run run = run_verified(VARIANTS, "--seq 40");
	const cJSON *problem = json_get(run.json, "problem");
	for (const char *key = "window\0softcap\0alibi\0sink\0dropout\0lengths\0"; *key; key += strlen(key) + 1)
		cr_expect_null(cJSON_GetObjectItem(problem, key), "%s", key);
	free_chapter_run(&run);
}
