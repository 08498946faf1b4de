/*
 * Chapter 07 with --prompt: what it says and how it tells it, on the tiny model; its logits beside golden ones; what moved
 * beside closed forms worked out here from the model's shape. The last tests want the real model: TRANSFORMER_MODEL names
 * its file, or `make model` brought it; without it they are skipped, and say so.
 */
#include "json.h"
#include "program.h"
#include "speech.h"

#include <criterion/criterion.h>
#include <ctype.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define TRANSFORMER TEST_BUILD "/chapters/transformer"
#define FILLINGS    TEST_BUILD "/transformer/fillings"
#define TINY        TEST_ROOT "/tests/data/tiny_model"

/* tests/data/tiny_model/make.py's: layers, C, C_kv, d, F, vocabulary; Q4_1 and Q8_0 bytes of a weight. */
enum { L = 2, C = 96, C_KV = 32, H = 3, G = 1, D = 32, F = 256, VOCABULARY = 320, CONTEXT = 256 };
static const double q4_1 = 20.0 / 32.0, q8_0 = 34.0 / 32.0;

/* On the tiny model. */
static char *answer_of(const char *prompt, const char *line)
{
	cJSON *json = speech_of(TRANSFORMER, TINY_FILE, prompt, line, 60);
	char *ids = ids_of(json);
	cJSON_Delete(json);
	return ids;
}

/* What the pass in double precision answers. */
static char *double_answer(const char *model, const char *prompt, int count)
{
	struct outcome o = run_program(LIST(FILLINGS, "greedy", model, prompt, text("%d", count)), NOTHING, 300);
	cr_assert_eq(o.status, 0, "%s", o.err);
	char *ids = text("%.*s", (int)strcspn(o.out, "\n"), o.out);
	free_outcome(&o);
	return ids;
}

/* ---- what it prints ---- */

Test(speech, json)
{
	cJSON *json = speech_of(TRANSFORMER, TINY_FILE, "How do plants make food?", "--tokens 3", 60);
	cr_expect_str_eq(json_string_of(json, "heads"), "strided");
	cr_expect_str_eq(json_string_of(json, "prompt"), "How do plants make food?");
	cr_expect_eq(json_number_of(json, "prompt_tokens"), 86);
	cr_expect_str_eq(ids_of(json), "304 303 221", "golden.tsv's last line");
	cr_expect_str_eq(json_string_of(json, "text"), "onnning\xef\xbf\xbd", "%s", json_string_of(json, "text"));
	cr_expect(cJSON_IsFalse(json_get(json, "ended")));
	cr_expect(cJSON_IsFalse(json_get(json, "all_kernels")));
	cr_expect_eq(json_number_of(json, "logits_tolerance"), 1e-3);
	cr_expect_eq(json_number_of(json, "logit_rows"), 3);
	cr_expect_gt(json_number_of(json, "logits_error"), 0.0, "fp32 is not exact");
	cr_expect_lt(json_number_of(json, "logits_error"), 1e-4);
	/* Plain C stands in for the kernels around attention: these run the first tokens, and are compared, too. */
	cr_expect_str_eq(json_string_of(json, "replaced_kernels"), "rms_norm, project, rope, swiglu");
	cr_expect_eq(json_number_of(json, "replaced_kernels_tokens"), 4);
	cr_expect_gt(json_number_of(json, "replaced_kernels_error"), 0.0, "fp32 is not exact");
	cr_expect_lt(json_number_of(json, "replaced_kernels_error"), 1e-4);
	cr_expect(cJSON_IsTrue(json_get(json, "replaced_kernels_verified")));
	cJSON_Delete(json);
}

/* Without --model, where there is no real one, it takes the committed one, and says so. */
Test(speech, the_committed_model_stands_in)
{
	if (access(REAL_FILE, F_OK) == 0)
		skip_test("the tiny model in the place of the real one: that is there");
	struct outcome o = run_program(LIST(TRANSFORMER, "--prompt", "Hi", "--tokens", "1"), NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "make model") && strstr(o.out, "means nothing"), "%s", o.out);
	free_outcome(&o);
}

Test(speech, quiet_is_the_answer_and_a_line)
{
	struct outcome o = run_program(
		LIST(TRANSFORMER, "--model", TINY_FILE, "--prompt", "Hi", "--tokens", "2", "--quiet"), NOTHING, 60);
	const char *line = strchr(o.out, '\n');
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(line && strstr(line, "\nstrided  verified  logits: error "), "%s", o.out);
	free_outcome(&o);
}

/* ---- logits ---- */

/* Every filling of the pass, fed in three ways (with a cache, in short calls, all at once), beside golden logits. */
Test(speech, golden_logits, .timeout = 120)
{
	static const char *const fillings[] = {"reference",          "plain",   "attention",
	                                       "attention-permuted", "kernels", "kernels-permuted"};
	struct outcome o = run_program(LIST(FILLINGS, "golden", TINY), LIST("SIM_CHECK=none"), 120);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	for (size_t i = 0; i < sizeof fillings / sizeof fillings[0]; i++)
		cr_expect(strstr(o.out, text("%s five-rows-at-once ", fillings[i])), "no %s: %s", fillings[i], o.out);
	cr_expect_null(strstr(o.out, "wrong"), "%s", o.out);
	cr_log_info("%s", o.out);
	free_outcome(&o);
}

static size_t count_of(const char *word, const char *all)
{
	size_t count = 0;
	for (; (all = strstr(all, word)); all += strlen(word))
		count++;
	return count;
}

/* Each finds one golden logit that is off, or no number: of the last row of a prompt that all of them run. */
Test(speech, a_wrong_golden_logit_is_found, .timeout = 120)
{
	const char *directory = scratch_directory(), *path = text("%s/golden.f32", directory);
	const float off[] = {2e-4f, NAN};
	for (int i = 0; i < 2; i++) {
		struct outcome o = run_program(
			LIST("cp", TINY "/tiny.bin", TINY "/golden.tsv", TINY "/golden.f32", directory), NOTHING, 10);
		cr_assert_eq(o.status, 0, "%s", o.err);
		free_outcome(&o);
		FILE *golden = fopen(path, "r+b");
		long at = (2 * 4 * VOCABULARY - 1 - i) * (long)sizeof(float); /* two prompts of four rows */
		float logit;
		cr_assert(golden && fseek(golden, at, SEEK_SET) == 0 && fread(&logit, sizeof logit, 1, golden) == 1);
		logit += off[i];
		cr_assert(fseek(golden, at, SEEK_SET) == 0 && fwrite(&logit, sizeof logit, 1, golden) == 1);
		cr_assert_eq(fclose(golden), 0);
		o = run_program(LIST(FILLINGS, "golden", directory), LIST("SIM_CHECK=none"), 120);
		cr_expect_eq(o.status, 1, "exit %d, %s", o.status, o.err);
		cr_expect(count_of("\n", o.out) == 12 && count_of(" wrong\n", o.out) == 12, "%s", o.out);
		free_outcome(&o);
	}
}

Test(speech, several_heads_on_each_of_several)
{
	struct outcome o = run_program(LIST(FILLINGS, "grouped"), NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s%s", o.out, o.err);
	cr_expect(strstr(o.out, "attention-permuted one-pass "), "%s", o.out);
	free_outcome(&o);
	o = run_program(LIST(TEST_BUILD "/transformer/wrong_fillings", "grouped"), NOTHING, 60);
	cr_expect_eq(o.status, 1, "exit %d, %s", o.status, o.err);
	cr_expect(strstr(o.out, "plain one-pass ") && count_of(" wrong\n", o.out) == 3, "%s", o.out);
	free_outcome(&o);
}

/* The same numbers in the same order: not only close. */
Test(speech, copies_and_strides_say_the_same, .timeout = 60)
{
	cJSON *strided = speech_of(TRANSFORMER, TINY_FILE, "The kernel", "--tokens 12 --kernel strided", 60);
	cJSON *permuted = speech_of(TRANSFORMER, TINY_FILE, "The kernel", "--tokens 12 --kernel permuted", 60);
	cr_expect_str_eq(json_string_of(permuted, "heads"), "permuted");
	cr_expect_str_eq(ids_of(strided), ids_of(permuted));
	cr_expect_eq(json_number_of(strided, "logits_error"), json_number_of(permuted, "logits_error"));
	cr_expect_str_eq(ids_of(strided), double_answer(TINY_FILE, "The kernel", 12));
	cJSON_Delete(strided);
	cJSON_Delete(permuted);
}

/* A prompt of more than 128 tokens is read in two calls. */
Test(speech, a_long_prompt_is_read_in_parts, .timeout = 60)
{
	const char *prompt = "Attention compares one query with every key, and takes the mean of the values: "
			     "0123456789 0123456789 0123456789 0123456789 0123456789";
	cJSON *json = speech_of(TRANSFORMER, TINY_FILE, prompt, "--tokens 6", 60);
	cr_expect_gt(json_number_of(json, "prompt_tokens"), 129);
	cr_expect_str_eq(ids_of(json), double_answer(TINY_FILE, prompt, 6));
	cJSON_Delete(json);
}

/* ---- what moved ---- */

struct moved {
	double weights, kv, activations;
};

static struct moved moved_by(const cJSON *json, const char *phase, const char *kernel, const char *which)
{
	const cJSON *entry;
	cJSON_ArrayForEach(
		entry,
		json_get(json_get(json, "moved"), phase)) if (strcmp(json_string_of(entry, "kernel"), kernel) == 0)
	{
		const cJSON *bytes = json_get(entry, which);
		struct moved moved = {
			json_number_of(bytes, "weights_bytes"), json_number_of(bytes, "kv_bytes"),
			json_number_of(bytes, "activations_bytes")};
		cr_expect_eq(json_number_of(bytes, "bytes"), moved.weights + moved.kv + moved.activations);
		return moved;
	}
	return (struct moved){-1.0, -1.0, -1.0};
}

/* Of a matrix, for one of N tokens: with 32 rows each, or 4 where all tokens would have fewer than 132. */
static double blocks(double N, double rows)
{
	return ceil(N * ceil(rows / 32) < 132 ? rows / 4 : rows / 32);
}

/* Closed forms, for N tokens at once after `first`, of which one gets logits. Keys are loaded in tiles of 64 by tiles of
 * as many queries as there are, in whole warps: all of them here, N <= 128 being one tile. */
static struct moved expected(const char *kernel, double N, double first, bool permuted)
{
	double norms = 2 * L * N + 1,
	       x = (2 * blocks(N, C) + 2 * blocks(N, C_KV) + 2 * blocks(N, F)) * C + blocks(N, C) * F;
	if (strcmp(kernel, "rms_norm") == 0)
		return (struct moved){4 * norms * C, 0, 4 * 3 * norms * C};
	if (strcmp(kernel, "project") == 0)
		return (struct moved){
			N * L * q4_1 * (2 * C * C + 2 * C_KV * C + 3 * F * C) + q8_0 * VOCABULARY * C,
			4 * L * N * 2 * C_KV,
			/* x for each block of rows; y of q, o, gate, up, down; two residuals; the logits */
			4 * (L * N * (x + 3 * C + 2 * F + 2 * C) + blocks(1, VOCABULARY) * C + VOCABULARY)};
	if (strcmp(kernel, "rope") == 0)
		return (struct moved){0, 4 * L * N * 2 * C_KV, 4 * L * N * (3 * C + C_KV)};
	if (strcmp(kernel, "swiglu") == 0)
		return (struct moved){0, 0, 4 * L * N * 3 * F};
	if (strcmp(kernel, "permute") == 0)
		return permuted ? (struct moved){0, 4 * L * N * 4 * C_KV, 4 * L * N * 4 * C}
		                : (struct moved){-1, -1, -1};
	return (struct moved){0, 4 * L * 2 * C * (first + N), 4 * L * N * 2 * C};
}

static void add(struct moved *sum, struct moved more)
{
	sum->weights += more.weights;
	sum->kv += more.kv;
	sum->activations += more.activations;
}

static void expect_moved(const cJSON *json, const char *phase, const char *kernel, struct moved right, bool counted)
{
	static const char *const sides[] = {"model", "counted"};
	for (int i = 0; i < (counted ? 2 : 1); i++) {
		struct moved got = moved_by(json, phase, kernel, sides[i]);
		cr_expect(
			got.weights == right.weights && got.kv == right.kv && got.activations == right.activations,
			"%s, %s, %s: %.0f %.0f %.0f bytes, expected %.0f %.0f %.0f", phase, kernel, sides[i],
			got.weights, got.kv, got.activations, right.weights, right.kv, right.activations);
	}
}

static void expect_all_moved(bool permuted)
{
	static const char *const kernels[] = {"rms_norm", "project", "rope", "swiglu", "permute", "attention"};
	enum { TOKENS = 4 };
	cJSON *json = speech_of(
		TRANSFORMER, TINY_FILE, "Hi",
		text("--count-all --kernel %s --tokens %d", permuted ? "permuted" : "strided", TOKENS), 60);
	double prompt = json_number_of(json, "prompt_tokens");
	cr_expect(cJSON_IsTrue(json_get(json, "all_kernels")));
	cr_expect(!cJSON_HasObjectItem(json, "replaced_kernels"), "all kernels ran");
	cr_assert(prompt > 32 && prompt <= 128);
	for (size_t k = 0; k < sizeof kernels / sizeof kernels[0]; k++) {
		bool there = permuted || strcmp(kernels[k], "permute") != 0;
		struct moved answer = {0};
		for (int t = 0; t < TOKENS - 1; t++) /* the last one is chosen and not run */
			add(&answer, expected(kernels[k], 1, prompt + t, permuted));
		expect_moved(json, "prompt", kernels[k], expected(kernels[k], prompt, 0, permuted), there);
		if (there)
			expect_moved(json, "answer", kernels[k], answer, true);
	}
	cJSON_Delete(json);
}

Test(speech, every_kernel_is_its_closed_form, .timeout = 60)
{
	expect_all_moved(false);
}

/* 4 (C + C_kv) numbers a token and layer more than `strided`, and nothing else. */
Test(speech, copies_cost_what_they_copy, .timeout = 60)
{
	expect_all_moved(true);
}

/* Without --count-all only attention is counted, the closed forms are the same. */
Test(speech, attention_alone_is_counted)
{
	cJSON *json = speech_of(TRANSFORMER, TINY_FILE, "Hi", "--tokens 1", 60);
	double prompt = json_number_of(json, "prompt_tokens");
	expect_moved(json, "prompt", "attention", expected("attention", prompt, 0, false), true);
	expect_moved(json, "prompt", "project", expected("project", prompt, 0, false), false);
	const cJSON *entry;
	cJSON_ArrayForEach(entry, json_get(json_get(json, "moved"), "prompt")) cr_expect_eq(
		cJSON_HasObjectItem(entry, "counted"), strcmp(json_string_of(entry, "kernel"), "attention") == 0,
		"%s", json_string_of(entry, "kernel"));
	cr_expect_eq(cJSON_GetArraySize(json_get(json_get(json, "moved"), "answer")), 0, "one token is not run");
	cr_expect_eq(json_number_of(json, "logit_rows"), 1);
	cr_expect_eq(
		json_number_of(json, "weights_bytes"),
		L * q4_1 * (2 * C * C + 2 * C_KV * C + 3 * F * C) + L * 2 * 4 * C + 4 * C + q8_0 * VOCABULARY * C);
	cJSON_Delete(json);
}

/* Counting every kernel takes long: before anything else, and not in the data, it says what there is to count. 4 tokens. */
Test(speech, count_all_says_first_what_it_takes, .timeout = 60)
{
	char *line = text("%s --model %s --prompt Hi --count-all", TRANSFORMER, TINY_FILE);
	struct outcome o = run_program(LIST("sh", "-c", text("exec %s --json -", line)), NOTHING, 60);
	cJSON *json = cJSON_ParseWithOpts(o.out, NULL, true);
	cr_assert_not_null(json, "exit %d, %s: %s", o.status, o.err, o.out);
	double bytes = 0.0, requested = 0.0;
	int prompt = 0, answer = 0;
	static const char *const phases[] = {"prompt", "answer"};
	for (int i = 0; i < 2; i++) {
		const cJSON *entry;
		cJSON_ArrayForEach(entry, json_get(json_get(json, "moved"), phases[i])) bytes +=
			json_number_of(json_get(entry, "counted"), "bytes");
	}
	int read = sscanf(
		o.err, "Counting every kernel: %d + %d tokens, %lf MB requested, ", &prompt, &answer, &requested);
	cr_assert_eq(read, 3, "%s", o.err);
	cr_expect_eq(prompt, json_number_of(json, "prompt_tokens"));
	cr_expect_eq(answer, 3, "4 tokens, of which the last one is not run");
	cr_expect_eq(cJSON_GetArraySize(json_get(json, "tokens")), 4);
	cr_expect_lt(fabs(1e6 * requested - bytes), 0.051e6, "%g MB of %g bytes", requested, bytes);
	cr_expect(strstr(o.err, " s\n") || strstr(o.err, " min\n") || strstr(o.err, " second\n"), "%s", o.err);
	cr_expect_eq(strchr(o.err, '\n')[1], '\0', "%s", o.err);
	cJSON_Delete(json);
	free_outcome(&o);
	o = run_program(LIST("sh", "-c", text("exec %s --tokens 1 2>&1", line)), NOTHING, 60);
	cr_expect(strncmp(o.out, "Counting every kernel: ", 23) == 0, "not first: %s", o.out);
	free_outcome(&o);
}

/* Days on any machine: it is said within seconds, and nothing is run. The same model answers with fewer tokens. */
Test(speech, hours_are_refused_without_yes, .timeout = 60)
{
	const char *model = tiny_model_with_context(1000000);
	static const char *const more[] = {"", " --count-all --quiet"};
	for (int i = 0; i < 2; i++) {
		struct outcome o = run_line(
			TRANSFORMER, text("--model %s --prompt Hi --tokens 400000%s", model, more[i]), NOTHING, 30);
		cr_expect_eq(o.status, 2, "exit %d", o.status);
		cr_expect(
			strncmp(o.err, "transformer: --prompt, 70 + 399999 tokens: would take about ", 60) == 0, "%s",
			o.err);
		cr_expect(strstr(o.err, ", expected --yes ") && strchr(o.err, '\n')[1] == '\0', "%s", o.err);
		cr_expect_str_empty(o.out, "%s", o.out);
		free_outcome(&o);
	}
	cJSON_Delete(speech_of(TRANSFORMER, model, "Hi", "--tokens 2", 30));
}

/* ---- sampling, and ends ---- */

Test(speech, sampling_is_the_seed_s, .timeout = 60)
{
	const char *hot = "--tokens 5 --temperature 1.5 --seed";
	char *first = answer_of("Hi", text("%s 7", hot)), *again = answer_of("Hi", text("%s 7", hot));
	cr_expect_str_eq(first, again);
	cr_expect_str_neq(first, answer_of("Hi", text("%s 8", hot)));
	cr_expect_str_neq(first, answer_of("Hi", "--tokens 5"));
	cr_expect_str_eq(answer_of("Hi", "--tokens 5 --temperature 0 --seed 9"), answer_of("Hi", "--tokens 5"));
	cr_expect_str_eq(
		answer_of("Hi", "--tokens 5 --temperature 1 --top-p 0.000001"), answer_of("Hi", "--tokens 5"),
		"the likeliest token alone");
}

/* The context is full: the answer ends there, cleanly, with a token that no longer has a place in it. */
Test(speech, a_full_context_ends_the_answer, .timeout = 60)
{
	char prompt[179];
	memset(prompt, '7', sizeof prompt - 1); /* digits are tokens of their own */
	prompt[sizeof prompt - 1] = '\0';
	cJSON *json = speech_of(TRANSFORMER, TINY_FILE, prompt, "--tokens 1000", 60);
	double read = json_number_of(json, "prompt_tokens"), answered = cJSON_GetArraySize(json_get(json, "tokens"));
	cr_expect(read > 240 && read < 256, "a prompt of %g", read);
	cr_expect_eq(answered, CONTEXT - read + 1, "%g tokens after %g", answered, read);
	cr_expect(cJSON_IsFalse(json_get(json, "ended")));
	cr_expect_eq(json_number_of(json, "logit_rows"), answered);
	cJSON_Delete(json);
}

Test(speech, a_prompt_that_fills_the_context_is_refused)
{
	char prompt[CONTEXT + 1];
	memset(prompt, '7', CONTEXT); /* digits are tokens of their own */
	prompt[CONTEXT] = '\0';
	struct outcome o =
		run_program(LIST(TRANSFORMER, "--model", TINY_FILE, "--prompt", prompt, "--json", "-"), NOTHING, 60);
	const char *newline = strchr(o.err, '\n');
	cr_expect_eq(o.status, 2, "exit %d", o.status);
	cr_expect(newline && newline[1] == '\0' && strstr(o.err, "context of 256"), "%s", o.err);
	cr_expect_str_empty(o.out);
	free_outcome(&o);
}

/* Letters, ends of lines and tabulators, which a terminal shows as they are; to be freed. */
static char *shown_as_it_is(const char *all)
{
	char *kept = calloc(strlen(all) + 1, 1), *to = kept;
	for (; *all; all++)
		if (isalpha((unsigned char)*all) || *all == '\n' || *all == '\t')
			*to++ = *all;
	return kept;
}

/* What a model says may be any byte: JSON has it, a terminal is spared what would move its cursor, and only that. */
Test(speech, no_control_character_reaches_the_terminal)
{
	static const char hot[] = "--tokens 40 --temperature 30 --seed 1";
	cJSON *json = speech_of(TRANSFORMER, TINY_FILE, "Hi", hot, 60);
	const char *said = json_string_of(json, "text");
	size_t controls = 0;
	for (const char *c = said; *c; c++)
		controls += (unsigned char)*c < 0x20 && *c != '\n' && *c != '\t';
	cr_expect_gt(controls, 0, "a draw among all bytes");
	struct outcome o =
		run_line(TRANSFORMER, text("--model %s --prompt Hi --quiet %s", TINY_FILE, hot), NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	for (const char *c = o.out; *c; c++)
		cr_expect((unsigned char)*c >= 0x20 || *c == '\n' || *c == '\t', "byte 0x%02x", (unsigned)*c);
	char *of_model = shown_as_it_is(said), *of_terminal = shown_as_it_is(o.out);
	cr_expect(
		strlen(of_model) > 20 && strstr(of_terminal, of_model), "%s\ndoes not hold\n%s", of_terminal,
		of_model);
	free(of_model);
	free(of_terminal);
	cJSON_Delete(json);
	free_outcome(&o);
}

/* A full disk ends it, with the first token. */
Test(speech, a_full_disk_is_one_line)
{
	struct outcome o = run_program(
		LIST("sh", "-c", text("exec %s --model %s --prompt Hi > /dev/full", TRANSFORMER, TINY_FILE)), NOTHING,
		60);
	cr_expect_eq(o.status, 3, "exit %d", o.status);
	cr_expect_str_eq(
		o.err, "transformer: standard output: cannot be written: No space left on device\n", "%s", o.err);
	free_outcome(&o);
}

/* An answer may be nothing: the token that ends it comes first, with the first seed that draws it. */
Test(speech, an_answer_may_be_empty)
{
	cJSON *json = speech_of(TRANSFORMER, TINY_FILE, "Hi", "--tokens 5 --temperature 30 --seed 97", 60);
	cr_expect(cJSON_IsTrue(json_get(json, "ended")));
	cr_expect_str_empty(json_string_of(json, "text"));
	cr_expect_eq(cJSON_GetArraySize(json_get(json, "tokens")), 0);
	cr_expect_eq(json_number_of(json, "logit_rows"), 1);
	cJSON_Delete(json);
	static const char *const forms[] = {"--quiet", "--verbose"};
	for (int i = 0; i < 2; i++) {
		struct outcome o = run_program(
			LIST(TRANSFORMER, "--model", TINY_FILE, "--prompt", "Hi", "--temperature", "30", "--seed",
		             "97", forms[i]),
			NOTHING, 60);
		cr_expect_eq(o.status, 0, "%s: exit %d, %s", forms[i], o.status, o.err);
		cr_expect(strstr(o.out, "verified"), "%s: %s", forms[i], o.out);
		free_outcome(&o);
	}
}

/* ---- the real model ---- */

/* Prompts whose two likeliest tokens are never closer than the tolerance, so that greedy answers have to be equal. */
static const struct {
	const char *prompt, *begins;
} asked[] = {
	{"How do plants make food?", "Plants make food through a process called photosynthesis, which involves"},
	{"What is the capital of France?", "The capital of France is Paris."},
	{"Why is the sky blue?",
         "The answer to this question lies in the intricate dance of light and color. The sky "
         "appears blue because of a phenomenon known as Rayleigh scattering."},
};

Test(speech, the_real_model_answers, .timeout = 600)
{
	const char *model = real_model("TRANSFORMER_MODEL");
	int tokens = thorough() ? 80 : 14;
	for (size_t i = 0; i < sizeof asked / sizeof asked[0]; i++) {
		cJSON *json = speech_of(TRANSFORMER, model, asked[i].prompt, text("--tokens %d", tokens), 300);
		const char *said = json_string_of(json, "text");
		size_t length = strlen(said) < strlen(asked[i].begins) ? strlen(said) : strlen(asked[i].begins);
		cr_expect_gt(length, 20);
		cr_expect(strncmp(said, asked[i].begins, length) == 0, "%s: %s", asked[i].prompt, said);
		cr_expect_str_eq(ids_of(json), double_answer(model, asked[i].prompt, tokens));
		cr_expect(cJSON_IsFalse(json_get(json, "tiny")));
		cr_expect_eq(json_number_of(json, "replaced_kernels_tokens"), 0, "that takes a while");
		cr_expect(!cJSON_HasObjectItem(json, "replaced_kernels_verified"), "it was not run");
		cr_expect_eq(json_number_of(json, "weights_bytes"), 96576768.0);
		if (i == 2)
			cr_expect_eq(json_number_of(json, "prompt_tokens"), 36);
		cJSON_Delete(json);
	}
}

/* What the facts of the model say of copies: 3,072 numbers a token and layer. */
Test(speech, the_real_model_s_copies, .timeout = 600)
{
	const char *model = real_model("TRANSFORMER_MODEL");
	cJSON *json =
		speech_of(TRANSFORMER, model, "What is the capital of France?", "--tokens 3 --kernel permuted", 300);
	struct moved copies = moved_by(json, "answer", "permute", "counted");
	cr_expect_eq(copies.kv + copies.activations, 2 * 30 * 3072.0 * 4);
	cr_expect_str_eq(ids_of(json), double_answer(model, "What is the capital of France?", 3));
	cJSON_Delete(json);
}
