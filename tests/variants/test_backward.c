/*
 * The passes for dK and dV and for dQ: windows, caps, biases, sinks, dropout, shared heads and packed sequences. Each verified
 * by the program against the double reference, and against central finite differences of the forward; counts worked out here
 * pair by pair.
 */
#include "finite_differences.h"
#include "json.h"
#include "page.h"
#include "problem/load.h"
#include "program.h"
#include "variants.h"
#include "worse.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#define VARIANTS TEST_BUILD "/chapters/variants"

static const char *const passes[] = {"dkdv", "dq"};

static void expect_right(const char *options)
{
	for (int p = 0; p < 2; p++) {
		char *line = text("--kernel %s %s", passes[p], options);
		cJSON *json = run_json_with(VARIANTS, line, without_racecheck(), 0);
		const cJSON *kernel = json_named(json_get(json, "kernels"), passes[p]);
		cr_assert(kernel, "%s", line);
		cr_expect(cJSON_IsTrue(json_get(kernel, "verified")), "%s", line);
		cr_expect_null(cJSON_GetObjectItem(kernel, "skipped"), "%s", line);
		cJSON_Delete(json);
	}
}

static const char *const modifiers[] = {
	"--window 1",
	"--window 7",
	"--window 32",
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

/* Each on lengths beside a tile's border and on every D; causal and not; two sequences. In make test each on one or two. */
Test(backward, every_modifier, .timeout = 120)
{
	static const char *const shapes[] = {
		"--seq 2 --dim 8",
		"--seq 65 --dim 33 --tile-q 32 --causal",
		"--seq 97 --dim 64 --causal",
		"--seq 40 --dim 111",
		"--seq 30 --dim 80 --causal",
		"--seq 129 --dim 40",
		"--seq 70 --dim 128 --causal"};
	size_t count = sizeof shapes / sizeof shapes[0];
	for (int m = 0; m < MODIFIERS; m++)
		for (size_t s = thorough() ? 0 : (size_t)m % 6; s < count; s += thorough() ? 1 : 6)
			expect_right(text("%s %s --heads 4 --batch %d", shapes[s], modifiers[m], s % 2 ? 2 : 1));
}

Test(backward, every_input, .timeout = 120)
{
	static const char *const kinds[] = {"large-logits", "very-negative", "constant", "one-hot", "ramp"};
	for (size_t k = 0; k < sizeof kinds / sizeof kinds[0]; k++)
		for (int m = thorough() ? 0 : MODIFIERS - 2; m < MODIFIERS; m++)
			expect_right(
				text("--seq 70 --dim 16 --tile-k 32 --heads 4 --input %s %s%s", kinds[k],
			             modifiers[m], (k + (size_t)m) % 2 ? " --causal" : ""));
}

Test(backward, packed_sequences, .timeout = 120)
{
	static const char *const options[] = {
		"--lengths 3,17,200 --dim 16",
		"--lengths 1,1,1,1 --dim 8 --causal --sink",
		"--lengths 65 --dim 40 --causal",
		"--lengths 64,32,1 --dim 33 --window 9 --sink --tile-q 32",
		"--lengths 5,70,2 --dim 80 --heads 4 --kv-heads 2 --softcap 3 --alibi --sink --dropout 0.2 --causal",
		"--lengths 40,30 --dim 16 --input large-logits --dropout 0.5",
		"--lengths 40,30 --dim 16 --input one-hot --causal"};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		expect_right(options[i]);
}

Test(backward, extremes)
{
	static const char *const options[] = {
		"--softcap 1e-30",
		"--softcap 1e30",
		"--softcap 50 --input large-logits",
		"--softcap 1e-30 --input large-logits",
		"--window 50",
		"--window 1000000 --causal",
		"--alibi --scale -3",
		"--window 1 --sink --causal"};
	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		expect_right(text("--seq 50 --dim 16 --tile-k 32 %s", options[i]));
	expect_right("--seq 1 --dim 1 --sink --kv-heads 1 --heads 2");
}

/* ---- finite differences ---- */

/* K and V have heads of their own. */
static void save_inputs(const char *directory, const struct setting *s)
{
	struct error error;
	for (int t = 0; t < TENSORS; t++) {
		bool of_keys = t == 1 || t == 2;
		size_t heads =
			of_keys ? s->key_elements / s->inputs.batch / s->inputs.seq / s->inputs.dim : s->inputs.heads;
		const size_t shape[] = {s->inputs.batch, heads, s->inputs.seq, s->inputs.dim};
		cr_assert_eq(
			save_tensor(directory, tensor_names[t], s->tensors[t], shape, 4, &error), 0, "%s",
			error.message);
	}
	cr_assert_eq(save_tensor(directory, "sink", s->sink, &s->inputs.heads, 1, &error), 0, "%s", error.message);
}

static float *read_values(const char *directory, const char *name, size_t count)
{
	struct npy array;
	struct error error;
	cr_assert_eq(npy_read(text("%s/%s.npy", directory, name), true, &array, &error), 0, "%s", error.message);
	cr_assert_eq(shape_elements(array.shape, array.rank), count, "%s", name);
	return array.values;
}

/* The numbers of a saved gradient against differences by all numbers of x. */
static void compare(
	struct setting *s, const char *directory, const char *name, float *x, size_t count, const char *what)
{
	float *got = read_values(directory, name, count);
	double error = 0.0, size = 0.0;
	for (size_t i = 0; i < count; i++) {
		double difference = finite_difference_by(s, &x[i]);
		error = worse_of(error, fabs((double)got[i] - difference));
		size = fmax(size, fabs(difference));
	}
	cr_log_info("%s of %s: %g", name, what, error / size);
	cr_expect(error <= 5e-6 * size && size > 0.01, "%s of %s: off by %g of %g", name, what, error, size);
	free(got);
}

/* A problem of these options of the chapter's own. */
#define RULES(...)                                                                                                   \
	.problem = &(const struct problem)                                                                           \
	{                                                                                                            \
		.rules = &variants_rules, __VA_ARGS__                                                                \
	}

/* The fp32 gradients against finite differences of the double-precision forward, each modifier and all of them. */
Test(backward, finite_differences, .timeout = 60)
{
	static const float any_sink; /* which of them, set_up_with says */
	const struct {
		const char *options;
		struct modifiers modifiers;
		size_t heads;
	} cases[] = {
		{"--window 5", {.window = 5}, 1},
		{"--softcap 1.5", {.softcap = 1.5f}, 1},
		{"--alibi", {RULES(.heads = 3, .alibi = true)}, 3},
		{"--sink", {.sink = &any_sink}, 2},
		{"--kv-heads 1", {.kv_heads = 1}, 2},
		{"--dropout 0.3 --seed 4", {RULES(.dropout = 0.3f, .seed = 4)}, 2},
		{"--kv-heads 2 --window 4 --softcap 2 --alibi --sink",
	         {.kv_heads = 2, .window = 4, .softcap = 2, .sink = &any_sink, RULES(.heads = 4, .alibi = true)},
	         4},
		{"--lengths 3,8,11", {.packing = {"3,8,11", 3, {3, 11, 22}}}, 1},
		{"--lengths 9,1,12 --kv-heads 1 --softcap 2 --alibi --sink --dropout 0.2 --seed 4",
	         {.packing = {"9,1,12", 3, {9, 10, 22}},
	          .kv_heads = 1,
	          .softcap = 2,
	          .sink = &any_sink,
	          RULES(.heads = 2, .alibi = true, .dropout = 0.2f, .seed = 4)},
	         2},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int causal = 0; causal < 2; causal++) {
			bool packed = cases[i].modifiers.packing.count > 0;
			struct setting s = set_up_with(
				cases[i].modifiers, packed ? 1 : 2, cases[i].heads, packed ? 22 : 11, 4, causal);
			char *what = text("%s%s", cases[i].options, causal ? " --causal" : "");
			char *in = text("%s/in", scratch_directory()), *out = text("%s/out", scratch_directory());
			save_inputs(in, &s);
			expect_right(text("--load %s --save %s %s", in, out, what));
			compare(&s, out, "dq", s.tensors[0], s.elements, what);
			compare(&s, out, "dk", s.tensors[1], s.key_elements, what);
			compare(&s, out, "dv", s.tensors[2], s.key_elements, what);
			if (cases[i].modifiers.sink)
				compare(&s, out, "dsink", s.sink, s.inputs.heads, what);
			tear_down(&s);
		}
}

/* ---- counts ---- */

struct shape {
	int B, H, G, N, d, W, tile; /* W 0: no window */
	bool causal, sink;
	const char *lengths; /* then B is how many, and N the longest; NULL: B of N */
	int each[3];
};

static int length_of(const struct shape *s, int sequence)
{
	return s->lengths ? s->each[sequence] : s->N;
}

static bool sees(const struct shape *s, int query, int key)
{
	return (!s->causal || key <= query) && (!s->W || abs(query - key) < s->W);
}

static bool any_sees(const struct shape *s, int N, int own, int other, bool keys_own)
{
	for (int i = own; i < own + s->tile && i < N; i++)
		for (int j = other; j < other + s->tile && j < N; j++)
			if (keys_own ? sees(s, j, i) : sees(s, i, j))
				return true;
	return false;
}

/* Rows of the other kind that stream past the tiles, of whole tiles in which a pair is seen. Queries and keys are as many. */
static uint64_t streamed(const struct shape *s, bool keys_own)
{
	uint64_t sum = 0;
	for (int b = 0; b < s->B; b++) {
		int N = length_of(s, b);
		for (int own = 0; own < N; own += s->tile)
			for (int other = 0; other < N; other += s->tile)
				if (any_sees(s, N, own, other, keys_own))
					sum += (uint64_t)(other + s->tile < N ? s->tile : N - other);
	}
	return sum;
}

static void expect_moved(const char *what, const cJSON *kernel, const char *tensor, uint64_t read, uint64_t written)
{
	cr_expect_eq(
		json_read_of(kernel, tensor), 4.0 * (double)read, "%s: %s read, %g", what, tensor,
		json_read_of(kernel, tensor) / 4);
	cr_expect_eq(json_written_of(kernel, tensor), 4.0 * (double)written, "%s: %s written", what, tensor);
}

Test(backward, counts_to_the_element, .timeout = 120)
{
	static const struct shape shapes[] = {
		{1, 1, 1, 150, 16, 1, 32, false, false, NULL, {0}},
		{1, 2, 2, 150, 16, 40, 32, true, false, NULL, {0}},
		{1, 2, 1, 130, 40, 33, 64, false, false, NULL, {0}},
		{2, 4, 2, 70, 33, 32, 32, true, true, NULL, {0}},
		{2, 3, 1, 65, 96, 0, 32, true, true, NULL, {0}},
		{1, 2, 2, 1, 1, 1, 64, true, true, NULL, {0}},
		{1, 1, 1, 300, 8, 65, 64, false, false, NULL, {0}},
		{3, 2, 1, 100, 16, 0, 32, true, true, "3,17,100", {3, 17, 100}},
		{2, 4, 2, 65, 40, 20, 64, false, false, "65,64", {65, 64}}};
	for (size_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
		const struct shape *s = &shapes[i];
		char *what =
			text("%s --heads %d --kv-heads %d --dim %d --tile-q %d%s%s%s",
		             s->lengths ? text("--lengths %s", s->lengths) : text("--batch %d --seq %d", s->B, s->N),
		             s->H, s->G, s->d, s->tile, s->W ? text(" --window %d", s->W) : "",
		             s->causal ? " --causal" : "", s->sink ? " --sink" : "");
		uint64_t N = 0, d = (uint64_t)s->d, H = (uint64_t)s->H, G = (uint64_t)s->G, once = s->sink ? 1 : 0;
		for (int b = 0; b < s->B; b++)
			N += (uint64_t)length_of(s, b); /* of all sequences */
		uint64_t R = streamed(s, true), K = streamed(s, false), threads = 2 * (uint64_t)s->tile;
		uint64_t blocks = (uint64_t)(s->B * ((s->N + s->tile - 1) / s->tile)), packed = s->lengths ? 1 : 0;

		cJSON *json = run_json_with(VARIANTS, text("--kernel dkdv %s", what), without_racecheck(), 0);
		const cJSON *kernel = json_named(json_get(json, "kernels"), "dkdv");
		expect_moved(what, kernel, "Q", H * R * d, 0);
		expect_moved(what, kernel, "dO", H * R * d, 0);
		expect_moved(what, kernel, "K", G * N * d, 0);
		expect_moved(what, kernel, "V", G * N * d, 0);
		expect_moved(what, kernel, "LSE", H * R, 0);
		expect_moved(what, kernel, "D", H * R, 0);
		expect_moved(what, kernel, "dK", 0, G * N * d);
		expect_moved(what, kernel, "dV", 0, G * N * d);
		if (packed)
			expect_moved(what, kernel, "starts", G * blocks * 2 * threads, 0);
		double elements = json_number_of(json_get(kernel, "model"), "elements");
		cr_expect_eq(elements, (double)(2 * H * R * d + 4 * G * N * d), "%s: %g", what, elements);
		cJSON_Delete(json);

		json = run_json_with(VARIANTS, text("--kernel dq %s", what), without_racecheck(), 0);
		kernel = json_named(json_get(json, "kernels"), "dq");
		expect_moved(what, kernel, "Q", H * N * d, 0);
		expect_moved(what, kernel, "dO", H * N * d, 0);
		expect_moved(what, kernel, "K", H * K * d, 0);
		expect_moved(what, kernel, "V", H * K * d, 0);
		expect_moved(what, kernel, "LSE", H * (N + once * N), 0);
		expect_moved(what, kernel, "D", H * (N + once * N), 0);
		expect_moved(what, kernel, "dQ", 0, H * N * d);
		if (s->sink) {
			expect_moved(what, kernel, "sink", 32 * H, 0);
			expect_moved(what, kernel, "dsink", 0, H);
		}
		if (packed)
			expect_moved(what, kernel, "starts", H * blocks * 2 * threads, 0);
		elements = json_number_of(json_get(kernel, "model"), "elements");
		cr_expect_eq(elements, (double)(H * (2 * K + 3 * N) * d), "%s: %g", what, elements);
		cJSON_Delete(json);
	}
}

/* No atomics: the same to the bit in any order of blocks, dsink too. */
Test(backward, the_same_to_the_bit_in_any_order)
{
	static const char *const outputs[] = {"dq", "dk", "dv", "dsink", "o", "lse"};
	static const char *const orders[] = {"SIM_ORDER=forward", "SIM_ORDER=reverse", "SIM_ORDER=shuffle:3"};
	char *directories[3];
	for (int k = 0; k < 3; k++) {
		directories[k] = text("%s/%d", scratch_directory(), k);
		for (int p = 0; p < 2; p++) {
			char *line =
				text("--seq 97 --dim 40 --tile-k 32 --heads 4 %s --quiet --kernel %s --save %s",
			             modifiers[MODIFIERS - 1], passes[p], directories[k]);
			struct outcome o =
				run_line(VARIANTS, line, LIST(orders[k], "SIM_THREADS=1", without_racecheck()), 60);
			cr_assert_eq(o.status, 0, "%s%s", o.out, o.err);
			free_outcome(&o);
		}
	}
	for (int k = 1; k < 3; k++)
		for (size_t t = 0; t < sizeof outputs / sizeof outputs[0]; t++) {
			char *first = text("%s/%s.npy", directories[0], outputs[t]),
			     *other = text("%s/%s.npy", directories[k], outputs[t]);
			struct outcome o = run_program(LIST("cmp", first, other), NOTHING, 10);
			cr_expect_eq(o.status, 0, "%s", o.out);
			free_outcome(&o);
		}
}

Test(backward, what_does_not_go_together_is_refused)
{
	expect_refusal(VARIANTS, "--kernel dq --kv-heads 3 --heads 4", 2, "kv-heads");
	expect_refusal(VARIANTS, "--alibi --tile-q 48 --kernel dq", 3, "32 x 32 or 64 x 64");
	expect_refusal(
		VARIANTS, text("--kernel dkdv --alibi --explain %s/page", scratch_directory()), 2,
		"not with --explain");
}
