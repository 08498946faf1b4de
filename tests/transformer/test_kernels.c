/*
 * The six kernels of chapter 07 through its program: right on every shape and input, what they ask for equal to closed
 * forms worked out here, heads by strides and by copies the same to the bit, and unusable options refused in one line.
 */
#include "chapter_run.h"
#include "json.h"
#include "page.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TRANSFORMER TEST_BUILD "/chapters/transformer"

static const char *const kinds[] = {"random", "large-logits", "very-negative", "constant", "one-hot", "ramp"};
static const char *const kernels[] = {"rms_norm", "rope", "project", "swiglu", "permuted", "strided"};
enum { KERNELS = sizeof kernels / sizeof kernels[0] };

struct shape {
	uint64_t N, M, H, G, d, Br, Bc; /* Br, Bc 0: the default */
	bool causal;
};

static const struct shape shapes[] = {
	/* one token; a token added to others; more keys than queries; N = M */
	{1, 1, 1, 1, 1, 0, 0, false},
	{1, 113, 9, 3, 8, 0, 0, true},
	{1, 200, 2, 1, 59, 0, 0, false},
	{2, 2, 4, 1, 8, 0, 0, true},
	{2, 97, 1, 1, 80, 0, 0, true},
	{17, 17, 3, 3, 40, 0, 0, true},
	{31, 63, 4, 1, 20, 0, 0, false},
	{32, 33, 9, 3, 8, 0, 0, true},
	{33, 33, 1, 1, 111, 0, 0, true},
	{63, 65, 2, 2, 8, 0, 0, true},
	{64, 128, 1, 1, 32, 0, 0, true},
	{31, 33, 1, 1, 128, 0, 0, false},
	{65, 97, 2, 1, 8, 0, 0, false},
	{97, 200, 1, 1, 8, 0, 0, true},
	{113, 113, 1, 1, 40, 0, 0, true},
	{128, 128, 1, 1, 1, 0, 0, false},
	{200, 200, 1, 1, 8, 0, 0, true},
	{17, 128, 1, 1, 96, 0, 0, true},
	/* tiles that nothing divides */
	{50, 61, 3, 3, 37, 24, 20, false},
	{65, 90, 2, 1, 20, 16, 24, true},
	{29, 140, 2, 2, 16, 33, 16, true},
	{129, 129, 1, 1, 8, 31, 32, true},
	{17, 20, 2, 1, 33, 1, 1, true},
	{20, 140, 1, 1, 40, 256, 90, true},
};
enum { SHAPES = sizeof shapes / sizeof shapes[0] };

static char *options_of(const struct shape *s, const char *more)
{
	char *tiles = s->Br ? text(" --tile-q %d --tile-k %d", (int)s->Br, (int)s->Bc) : "";
	return text(
		"--seq %d --keys %d --heads %d --kv-heads %d --dim %d%s%s %s", (int)s->N, (int)s->M, (int)s->H,
		(int)s->G, (int)s->d, tiles, s->causal ? " --causal" : "", more);
}

/* ---- counts ---- */

/* Keys that the tiles of queries of a head load: whole tiles up to the last token that the tile's queries see. Counted by
 * walking; the default tiles are chapter 05's: 128 queries, and 64 keys up to 96 columns, else 32. */
static uint64_t keys_loaded(const struct shape *s, uint64_t Br, uint64_t Bc)
{
	uint64_t keys = 0;
	for (uint64_t row = 0; row < s->N; row += Br)
		for (uint64_t key = 0; key < s->M; key += Bc) {
			uint64_t last_row = row + Br < s->N ? row + Br - 1 : s->N - 1;
			if (!s->causal || key <= s->M - s->N + last_row)
				keys += key + Bc < s->M ? Bc : s->M - key;
		}
	return keys;
}

static void expect_moved(
	const char *options, const struct chapter_run *run, const char *name, const char *tensor, uint64_t read,
	uint64_t written)
{
	struct moved moved = elements_of(kernel_named(run, name), tensor);
	cr_expect(
		moved.read == read && moved.written == written,
		"%s: %s reads %d of %s and writes %d, expected %d and %d", options, name, (int)moved.read, tensor,
		(int)moved.written, (int)read, (int)written);
}

static void expect_counts(const char *options, const struct shape *s, const struct chapter_run *run)
{
	uint64_t N = s->N, C = s->H * s->d, NC = N * C, MGd = s->M * s->G * s->d;
	const cJSON *strided = kernel_named(run, "strided"), *permuted = kernel_named(run, "permuted");
	uint64_t Br = s->Br ? s->Br : 128, Bc = s->Bc ? s->Bc : s->d <= 96 ? 64 : 32;
	uint64_t loaded = s->H * s->d * keys_loaded(s, Br, Bc);
	expect_moved(options, run, "rms_norm", "x", 2 * NC, 0);
	expect_moved(options, run, "rms_norm", "weight", NC, 0);
	expect_moved(options, run, "rms_norm", "normed", 0, NC);
	expect_moved(options, run, "rope", "x", NC, 0);
	expect_moved(options, run, "rope", "angles", N * s->H * (s->d / 2 * 2), 0);
	expect_moved(options, run, "rope", "rotated", 0, NC);
	expect_moved(options, run, "project", "x", (C + 31) / 32 * NC, 0);
	expect_moved(options, run, "project", "W", NC * C, 0);
	expect_moved(options, run, "project", "residual", NC, 0);
	expect_moved(options, run, "project", "projected", 0, NC);
	expect_moved(options, run, "swiglu", "gate", NC, 0);
	expect_moved(options, run, "swiglu", "up", NC, 0);
	expect_moved(options, run, "swiglu", "gated", 0, NC);
	expect_moved(options, run, "strided", "Q", NC, 0);
	expect_moved(options, run, "strided", "K", loaded, 0);
	expect_moved(options, run, "strided", "V", loaded, 0);
	expect_moved(options, run, "strided", "O", 0, NC);
	expect_moved(options, run, "permuted", "Q", NC, 0);
	expect_moved(options, run, "permuted", "K", MGd, 0);
	expect_moved(options, run, "permuted", "V", MGd, 0);
	expect_moved(options, run, "permuted", "Q of heads", NC, NC);
	expect_moved(options, run, "permuted", "K of heads", loaded, MGd);
	expect_moved(options, run, "permuted", "V of heads", loaded, MGd);
	expect_moved(options, run, "permuted", "O of heads", NC, NC);
	expect_moved(options, run, "permuted", "O", 0, NC);
	/* What the copies cost: traffic, memory, launches. */
	double more =
		number_at(permuted, "hbm/requested/read_bytes") + number_at(permuted, "hbm/requested/write_bytes") -
		number_at(strided, "hbm/requested/read_bytes") - number_at(strided, "hbm/requested/write_bytes");
	cr_expect_eq(more, 4.0 * 4.0 * (double)(NC + MGd), "%s: the copies move %g bytes", options, more);
	cr_expect_eq(
		number_at(permuted, "peak_bytes") - number_at(strided, "peak_bytes"), 4.0 * 2.0 * (double)(NC + MGd),
		"%s", options);
	cr_expect_eq(cJSON_GetArraySize(json_get(permuted, "launches")), 5, "%s", options);
	cr_expect_eq(cJSON_GetArraySize(json_get(strided, "launches")), 1, "%s", options);
}

/* One run of all kernels for each shape; inputs go round. */
Test(kernels, every_shape, .timeout = 200)
{
	for (size_t i = 0; i < SHAPES; i++) {
		char *options = options_of(&shapes[i], text("--input %s", kinds[i % 6]));
		struct chapter_run run = run_verified(TRANSFORMER, options);
		for (size_t k = 0; k < KERNELS; k++)
			kernel_named(&run, kernels[k]);
		expect_counts(options, &shapes[i], &run);
		free_chapter_run(&run);
	}
}

/* The other way round: each kind of input meets small shapes of all sorts. */
Test(kernels, every_input, .timeout = 200)
{
	static const struct shape few[] = {
		{17, 33, 6, 2, 8, 0, 0, true}, {3, 3, 3, 1, 40, 0, 0, false}, {1, 31, 2, 1, 64, 0, 0, true}};
	for (size_t k = 0; k < 6; k++)
		for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
			char *options = options_of(&few[i], text("--input %s --seed %zu", kinds[k], 2 + k));
			struct chapter_run run = run_verified(TRANSFORMER, options);
			expect_counts(options, &few[i], &run);
			free_chapter_run(&run);
		}
}

/* Thorough: every N with every d, as in the other chapters. */
Test(kernels, every_length_with_every_width, .timeout = 900)
{
	static const uint64_t lengths[] = {1, 2, 17, 29, 31, 32, 33, 63, 64, 65, 97, 113, 128, 200};
	static const uint64_t dims[] = {1, 8, 32, 40, 59, 64, 80, 96, 111, 128},
			      groups[][2] = {{1, 1}, {2, 1}, {3, 3}};
	only_when_thorough();
	for (size_t n = 0; n < sizeof lengths / sizeof lengths[0]; n++)
		for (size_t d = 0; d < sizeof dims / sizeof dims[0]; d++) {
			const uint64_t *heads = groups[lengths[n] > 65 ? 0 : (n + d) % 3];
			struct shape s = {
				lengths[n],      lengths[n] + (n + d) % 4 * 11, heads[0], heads[1], dims[d], 0, 0,
				(n + d) % 2 == 0};
			char *options = options_of(&s, text("--input %s", kinds[(n + 2 * d) % 6]));
			struct chapter_run run = run_verified(TRANSFORMER, options);
			expect_counts(options, &s, &run);
			free_chapter_run(&run);
		}
}

/* ---- the device's checks ---- */

Test(kernels, clean_in_every_check_and_order, .timeout = 200)
{
	static const char *const orders[] = {"forward", "reverse", "shuffle:1", "shuffle:2"};
	static const struct shape few[] = {
		{5, 70, 6, 2, 8, 0, 0, true}, {70, 70, 1, 1, 33, 64, 16, true}, {33, 40, 4, 1, 20, 0, 0, false}};
	for (size_t i = 0; i < sizeof few / sizeof few[0]; i++)
		for (size_t order = i ? 1 : 0; order < (thorough() ? 4 : 2); order++) {
			char *line = options_of(&few[i], "--quiet");
			struct outcome o = run_line(
				TRANSFORMER, line, LIST("SIM_CHECK=all", text("SIM_ORDER=%s", orders[order])), 120);
			cr_expect_eq(o.status, 0, "%s, %s: exit %d\n%s", line, orders[order], o.status, o.err);
			cr_expect_str_empty(o.err, "%s, %s: %s", line, orders[order], o.err);
			free_outcome(&o);
		}
}

/* ---- heads two ways ---- */

static char *saved_o(const struct shape *s, const char *kernel, const char *environment, size_t *size)
{
	const char *directory = text("%s/%s", scratch_directory(), kernel);
	char *line = options_of(s, text("--kernel %s --quiet --save %s", kernel, directory));
	struct outcome o = run_line(TRANSFORMER, line, LIST(environment), 60);
	cr_assert_eq(o.status, 0, "%s: exit %d, %s", line, o.status, o.err);
	free_outcome(&o);
	FILE *file = fopen(text("%s/o.npy", directory), "rb");
	cr_assert_not_null(file, "%s saved no o.npy", line);
	char *bytes = calloc(1, 1 << 20);
	*size = fread(bytes, 1, 1 << 20, file);
	fclose(file);
	return bytes;
}

/* The same kernel on the same numbers: no bit may differ. Nor may one with the order of threads. */
Test(kernels, copies_and_strides_agree_to_the_bit, .timeout = 120)
{
	static const struct shape few[] = {
		{33, 33, 9, 3, 8, 0, 0, true},
		{17, 80, 4, 1, 59, 16, 24, true},
		{65, 65, 2, 2, 32, 0, 0, false},
		{1, 113, 6, 2, 8, 0, 0, true}};
	for (size_t i = 0; i < sizeof few / sizeof few[0]; i++) {
		size_t sizes[3], expected = 4 * few[i].N * few[i].H * few[i].d;
		char *strided = saved_o(&few[i], "strided", NULL, &sizes[0]);
		char *permuted = saved_o(&few[i], "permuted", NULL, &sizes[1]);
		char *reverse = saved_o(&few[i], "strided", "SIM_ORDER=reverse", &sizes[2]);
		cr_expect_eq(sizes[0], 128 + expected, "%zu: %zu bytes", i, sizes[0]);
		cr_expect(sizes[1] == sizes[0] && memcmp(strided, permuted, sizes[0]) == 0, "%zu: copies", i);
		cr_expect(sizes[2] == sizes[0] && memcmp(strided, reverse, sizes[0]) == 0, "%zu: order", i);
		free(strided);
		free(permuted);
		free(reverse);
	}
}

Test(kernels, a_screen)
{
	struct outcome o = run_line(TRANSFORMER, "--seq 9 --heads 2 --kv-heads 1 --dim 8 --causal", NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "4(NC + MGd)"), "%s", o.out);
	expect_screen(o.out);
	free_outcome(&o);
}

/* The sweep: a token after more and more others. Only what attention asks for grows: 2C for each key. */
Test(kernels, the_sweep_decodes, .timeout = 120)
{
	struct outcome o = run_line(TRANSFORMER, "--sweep --kernel strided", NOTHING, 100);
	cr_assert_eq(o.status, 0, "%s", o.err);
	char *columns = strstr(o.out, "# seq\tkeys\tdim\theads\tkv_heads\t");
	cr_assert_not_null(columns, "%s", o.out);
	char *rows = strchr(columns, '\n') + 1, *row;
	uint64_t keys = 64;
	for (; (row = strsep(&rows, "\n")) && *row; keys *= 2) {
		char *begins = text("1\t%d\t64\t9\t3\t", (int)keys),
		     *reads = text("\t%d\t2304\t", (int)(4 * 576 * (1 + 2 * keys)));
		cr_expect(strncmp(row, begins, strlen(begins)) == 0, "%s", row);
		cr_expect(strstr(row, "\tstrided\tyes\t") && strstr(row, reads), "%s: no %s", row, reads);
	}
	cr_expect_eq(keys, 4096, "the last row before %d", (int)keys);
	free_outcome(&o);
}

/* ---- refused ---- */

#define USAGE(says, ...) expect_refusal_of(LIST(TRANSFORMER, __VA_ARGS__), 2, says)
#define LIMIT(says, ...) expect_refusal_of(LIST(TRANSFORMER, __VA_ARGS__), 3, says)

Test(kernels, unusable_shapes)
{
	USAGE("--kv-heads: expected a divisor of the 9 heads, got 2", "--heads", "9", "--kv-heads", "2");
	USAGE("--kv-heads: expected a divisor of the 2 heads, got 4", "--heads", "2", "--kv-heads", "4");
	USAGE("--kv-heads", "--kv-heads", "0");
	USAGE("--keys: expected at least as many as queries (17), got 16", "--seq", "17", "--keys", "16");
	USAGE("--keys", "--keys", "0", "--seq", "1");
	USAGE("--keys", "--keys", "-3", "--seq", "1");
	USAGE("--keys: not with --sweep", "--sweep", "--keys", "5");
	USAGE("--dim", "--dim", "129", "--seq", "1");
	USAGE("--kernel: expected one of rms_norm, rope", "--kernel", "attention");
	LIMIT("--tile-q 257", "--kernel", "strided", "--tile-q", "257");
	LIMIT("bytes", "--kernel", "permuted", "--tile-k", "4096", "--seq", "4096");
}

Test(kernels, unusable_options_of_speech)
{
	USAGE("--tokens: needs --prompt", "--tokens", "5");
	USAGE("--temperature: needs --prompt", "--temperature", "0.5");
	USAGE("--top-p: needs --prompt", "--top-p", "0.5");
	USAGE("--model: needs --prompt", "--model", TEST_ROOT "/tests/data/tiny_model/tiny.bin");
	USAGE("--count-all: needs --prompt", "--count-all", "--quiet");
	USAGE("--seq: not with --prompt", "--prompt", "Hi", "--seq", "5");
	USAGE("--keys: not with --prompt", "--prompt", "Hi", "--keys", "5");
	USAGE("--causal: not with --prompt", "--prompt", "Hi", "--causal");
	USAGE("--save: not with --prompt", "--prompt", "Hi", "--save", "/tmp");
	USAGE("--sweep: not with --prompt", "--prompt", "Hi", "--sweep");
	USAGE("--kernel: expected strided or permuted with --prompt, got 'rope'", "--prompt", "Hi", "--kernel",
	      "rope");
	USAGE("--prompt: expected TEXT, got nothing", "--prompt", "");
	USAGE("byte 0xff at offset 1 is not valid UTF-8", "--prompt", "a\xff");
	USAGE("byte 0xc3 at offset 0 is not valid UTF-8", "--prompt", "\xc3");
	USAGE("0x04", "--prompt", "\x04"); /* no token stands for it */
	USAGE("--temperature", "--prompt", "Hi", "--temperature", "-1");
	USAGE("--temperature", "--prompt", "Hi", "--temperature", "nan");
	USAGE("--top-p", "--prompt", "Hi", "--top-p", "0");
	USAGE("--top-p", "--prompt", "Hi", "--top-p", "1.5");
	USAGE("--tokens", "--prompt", "Hi", "--tokens", "0");
}

Test(kernels, unusable_models)
{
	const char *directory = scratch_directory(), *cut = text("%s/cut.bin", directory);
	char bytes[100000];
	FILE *whole = fopen(TEST_ROOT "/tests/data/tiny_model/tiny.bin", "rb"), *part = fopen(cut, "wb");
	cr_assert(whole && part);
	cr_assert_eq(fread(bytes, 1, sizeof bytes, whole), sizeof bytes);
	cr_assert_eq(fwrite(bytes, 1, sizeof bytes, part), sizeof bytes);
	fclose(whole);
	fclose(part);
	USAGE("none.bin: No such file", "--prompt", "Hi", "--model", text("%s/none.bin", directory));
	USAGE(text("%s: is a directory", directory), "--prompt", "Hi", "--model", directory);
	USAGE("cut.bin: has 100000 bytes, expected 161792: it was cut", "--prompt", "Hi", "--model", cut);
	USAGE("cut.bin is the model, expected another file", "--prompt", "Hi", "--model", cut, "--json", cut);
	USAGE("/dev/null: is no regular file", "--prompt", "Hi", "--model", "/dev/null");
	USAGE("README.md: is no model, expected a file that tools/model wrote", "--prompt", "Hi", "--model",
	      TEST_ROOT "/README.md");
	part = fopen(cut, "wb");
	cr_assert(part && fputs("GGUF\3", part) >= 0);
	fclose(part);
	USAGE(text("is a GGUF file, which has to be converted: tools/model --convert %s", cut), "--prompt", "Hi",
	      "--model", cut);
	/* As often as a file may be cut: within the header, within the tensors. */
	static const size_t lengths[] = {1, 4, 23, 24, 191, 192, 5000, 20000};
	for (size_t i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
		char *shorter = text("%s/%zu.bin", directory, lengths[i]);
		part = fopen(shorter, "wb");
		cr_assert(part);
		cr_assert_eq(fwrite(bytes, 1, lengths[i], part), lengths[i]);
		fclose(part);
		USAGE("", "--prompt", "Hi", "--model", shorter);
	}
}
