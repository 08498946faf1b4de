/*
 * fa2_modified: windows, caps, biases, sinks and shared heads. Each verified by the program against the double
 * reference (harness_variants compares that with a slow one), its counts against what is worked out here pair by pair,
 * and what does not go together refused.
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

static const char *const modifiers[] = {
	"--window 1",   "--window 7",   "--window 64",
	"--softcap 2",  "--alibi",      "--sink",
	"--kv-heads 1", "--kv-heads 2", "--window 20 --softcap 5 --alibi --sink --kv-heads 2",
};

enum { MODIFIERS = sizeof modifiers / sizeof modifiers[0] };

static void expect_right(const char *options)
{
	struct chapter_run run = run_one_of_many(FA2, options);
	cr_expect_eq(
		cJSON_GetArraySize(cJSON_GetObjectItem(run.json, "kernels")), 1, "%s: a kernel that is not asked for",
		options);
	kernel_named(&run, "fa2_modified");
	free_chapter_run(&run);
}

/* Each on lengths beside a tile's border and on every D; causal and not; two sequences. In make test each on two. */
Test(modified, every_modifier, .timeout = 120)
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

Test(modified, every_input, .timeout = 120)
{
	static const char *const kinds[] = {"large-logits", "very-negative", "constant", "one-hot", "ramp"};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (int m = thorough() ? 0 : MODIFIERS - 4; m < MODIFIERS; m++)
			expect_right(
				text("--seq 70 --dim 16 --heads 4 --input %s %s%s", kinds[k], modifiers[m],
			             (k + (size_t)m) % 2 ? " --causal" : ""));
}

/* A cap far below every score makes them equal, one far above changes none; a window that reaches everything hides nothing. */
Test(modified, extremes)
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
Test(modified, sinks_of_any_size)
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
};

static bool sees(const struct shape *s, int query, int key)
{
	return (!s->causal || key <= query) && (!s->W || abs(query - key) < s->W);
}

static bool any_sees(const struct shape *s, int row, int rows, int key, int keys)
{
	for (int i = row; i < row + rows && i < s->N; i++)
		for (int j = key; j < key + keys && j < s->N; j++)
			if (sees(s, i, j))
				return true;
	return false;
}

/* Keys that the tiles of queries load, pair by pair. */
static uint64_t keys_loaded(const struct shape *s, int Br, int Bc)
{
	uint64_t keys = 0;
	for (int row = 0; row < s->N; row += Br)
		for (int key = 0; key < s->N; key += Bc)
			if (any_sees(s, row, Br, key, Bc))
				keys += (uint64_t)(key + Bc < s->N ? Bc : s->N - key);
	return keys;
}

Test(modified, counts_to_the_element, .timeout = 120)
{
	static const struct shape shapes[] = {
		{1, 2, 2, 300, 64, 1, false, false},  {1, 2, 2, 300, 64, 40, true, false},
		{1, 2, 1, 257, 40, 65, false, false}, {2, 4, 2, 130, 111, 33, true, true},
		{1, 3, 1, 200, 128, 0, true, true},   {1, 1, 1, 1, 1, 1, true, true},
		{1, 2, 2, 513, 8, 64, false, false},  {1, 2, 2, 513, 8, 129, true, false}};
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		const struct shape *s = &shapes[i];
		char *options =
			text("--batch %d --heads %d --kv-heads %d --seq %d --dim %d%s%s%s", s->B, s->H, s->G, s->N,
		             s->d, s->W ? text(" --window %d", s->W) : "", s->causal ? " --causal" : "",
		             s->sink ? " --sink" : "");
		struct chapter_run run = run_one_of_many(FA2, options);
		const cJSON *kernel = kernel_named(&run, "fa2_modified");
		int Br = s->d <= 64 ? 128 : 64, Bc = s->d <= 96 ? 64 : 32;
		uint64_t heads = (uint64_t)(s->B * s->H), Nd = (uint64_t)(s->N * s->d),
			 tiles = (uint64_t)((s->N + Br - 1) / Br);
		uint64_t loaded = heads * keys_loaded(s, Br, Bc) * (uint64_t)s->d;
		cr_expect_eq(elements_of(kernel, "Q").read, heads * Nd, "%s: Q", options);
		cr_expect_eq(elements_of(kernel, "K").read, loaded, "%s: K", options);
		cr_expect_eq(elements_of(kernel, "V").read, loaded, "%s: V", options);
		cr_expect_eq(elements_of(kernel, "O").written, heads * Nd, "%s: O", options);
		cr_expect_eq(elements_of(kernel, "LSE").written, heads * (uint64_t)s->N, "%s: LSE", options);
		cr_expect_eq(
			elements_of(kernel, "sink").read, s->sink ? 128 * heads * tiles : 0, "%s: sink", options);
		cr_expect_eq(number_at(kernel, "model/elements"), 2 * heads * Nd + 2 * loaded, "%s", options);
		double shared = 4.0 * (double)(s->B * s->G) * (double)Nd; /* the heads that are there */
		for (const cJSON *t = json_get(json_get(kernel, "hbm"), "tensors")->child; t; t = t->next)
			if (strcmp(json_string_of(t, "name"), "K") == 0)
				cr_expect_eq(
					number_at(t, "footprint/read_bytes"), shared, "%s: footprint of K", options);
		free_chapter_run(&run);
	}
}

/* Without a modifier it does what fa2_split_q does: as many bytes, as many exponentials but one for each correction. */
Test(modified, without_a_modifier_it_moves_what_split_q_moves)
{
	const char *options = "--heads 2 --seq 200 --dim 64 --causal";
	struct chapter_run plain = run_verified(FA2, text("--kernel fa2_split_q %s", options)),
			   own = run_verified(FA2, text("--kernel fa2_modified %s", options));
	const cJSON *split = kernel_named(&plain, "fa2_split_q"), *modified = kernel_named(&own, "fa2_modified");
	for (const char *tensor = "Q\0K\0V\0"; *tensor; tensor += 2)
		cr_expect_eq(elements_of(split, tensor).read, elements_of(modified, tensor).read, "%s", tensor);
	cr_expect_eq(
		number_at(split, "launches/0/shared/load/bytes"),
		number_at(modified, "launches/0/shared/load/bytes"));
	free_chapter_run(&plain);
	free_chapter_run(&own);
}

/* ---- what is refused, and what is said ---- */

Test(modified, what_does_not_go_together_is_refused)
{
	expect_refusal(FA2, "--window 0", 2, "--window: expected a whole number from 1");
	expect_refusal(FA2, "--softcap 0", 2, "--softcap: expected a finite number above 0");
	expect_refusal(FA2, "--softcap -1", 2, "--softcap: expected a finite number above 0");
	expect_refusal(FA2, "--softcap nan", 2, "--softcap: expected a finite number above 0");
	expect_refusal(FA2, "--kv-heads 3 --heads 4", 2, "kv-heads");
	expect_refusal(FA2, "--kv-heads 4", 2, "kv-heads");
	expect_refusal(
		FA2, "--kernel fa2_row --window 3", 2, "fa2_row does not take it, expected --kernel fa2_modified");
	expect_refusal(FA2, text("--sink --explain %s/page", scratch_directory()), 2, "not with --explain");
	for (const char *option = "--window 3\0--softcap 3\0--alibi\0--sink\0--kv-heads 1\0"; *option;
	     option += strlen(option) + 1) {
		expect_refusal(FA1, option, 2, "does not apply to this chapter");
		expect_refusal(NAIVE, option, 2, "does not apply to this chapter");
	}
}

/* Reports name what was asked for, and no plain run has a word more than before. */
Test(modified, reports_tell_of_it)
{
	struct outcome o = run_line(FA2, "--seq 40 --window 8 --softcap 30 --alibi --sink --kv-heads 1", NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "B=1 H=2 G=1 N=40"), "%s", o.out);
	cr_expect(strstr(o.out, "scores: window 8, soft-cap 30, ALiBi, sink\n"), "%s", o.out);
	free_outcome(&o);
	o = run_line(FA2, "--seq 40 --window 8 --softcap 30 --sink --tsv - --quiet", NOTHING, 60);
	cr_expect(strstr(o.out, "window\t") && strstr(o.out, "\tsoftcap\tsink\t"), "%s", o.out);
	free_outcome(&o);
	struct chapter_run run = run_verified(FA2, "--seq 40");
	const cJSON *problem = json_get(run.json, "problem");
	cr_expect_null(cJSON_GetObjectItem(problem, "window"));
	cr_expect_null(cJSON_GetObjectItem(problem, "kv_heads"));
	cr_expect_null(cJSON_GetObjectItem(problem, "softcap"));
	free_chapter_run(&run);
}
