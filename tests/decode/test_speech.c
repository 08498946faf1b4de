/*
 * Chapter 08 with --prompt: every kernel and cache gives the tokens that a pass without a cache gives, on the tiny model; what
 * attention asks for is equal to closed forms worked out here from the model's shape. The last test wants the real model:
 * DECODE_MODEL names its file, or `make model` brought it; without it that is skipped, and says so.
 */
#include "json.h"
#include "page.h"
#include "program.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define DECODE    TEST_BUILD "/chapters/decode"
#define TINY_FILE TEST_ROOT "/tests/data/tiny_model/tiny.gguf"
#define REAL_FILE TEST_ROOT "/models/SmolLM2-135M-Instruct.Q4_1.gguf"

/* tests/data/tiny_model/make.py's. */
enum { LAYERS = 2, HEADS = 3, KV_HEADS = 1, DIM = 32 };

/* Runs it on a model with `prompt` as one argument and the options in `line`; the JSON object. */
static cJSON *say(const char *model, const char *prompt, const char *line, double timeout)
{
	const char *argv[32] = {DECODE, "--model", model, "--prompt", prompt, "--json", "-"};
	char *rest = text("%s", line);
	for (size_t count = 7; count < 31 && (argv[count] = strtok_r(rest, " ", &rest)); count++)
		continue;
	struct outcome o = run_program(argv, NOTHING, timeout);
	cr_assert_eq(o.status, 0, "'%s' %s: exit %d, %s", prompt, line, o.status, o.err);
	cJSON *json = cJSON_ParseWithOpts(o.out, NULL, true);
	cr_assert_not_null(json, "'%s' %s: no JSON object alone on standard output: %.300s", prompt, line, o.out);
	cr_expect(cJSON_IsTrue(json_get(json, "verified")), "'%s' %s", prompt, line);
	cr_expect_leq(json_number_of(json, "logits_error"), 1e-3);
	cr_expect_eq(
		json_number_of(json, "same_ids"), json_number_of(json, "logit_rows"),
		"'%s' %s: a pass without a cache says something else", prompt, line);
	free_outcome(&o);
	return json;
}

/* The ids of an answer with a blank between. */
static char *ids_of(const cJSON *json)
{
	char *ids = text("%s", "");
	const cJSON *id;
	cJSON_ArrayForEach(id, json_get(json, "tokens")) ids = text("%s%s%d", ids, ids[0] ? " " : "", id->valueint);
	return ids;
}

/* Golden ids of tests/data/tiny_model, which chapter 07 has to give, too. */
Test(speech, every_kernel_says_the_same, .timeout = 120)
{
	static const char *const ways[] = {
		"--kernel decode_naive",
		"--kernel decode_grouped",
		"--kernel decode_split --splits 1",
		"--kernel decode_split --splits 100",
		"--kernel decode_paged --page 1",
		"--kernel decode_paged --page 7 --splits 3 --seed 5",
		"--page 4096",
	};
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		cJSON *json = say(TINY_FILE, "How do plants make food?", text("--tokens 3 %s", ways[i]), 60);
		cr_expect_str_eq(ids_of(json), "304 303 221", "%s", ways[i]);
		cJSON_Delete(json);
	}
}

/* Of a token that sees n: keys and values, Q for each split, partials twice, O; words of the table. */
static double bytes_of(double n, double splits)
{
	return 4.0 * LAYERS *
	       (2 * n * KV_HEADS * DIM + splits * HEADS * DIM + 2 * splits * HEADS * (DIM + 2) + HEADS * DIM);
}

static double words_of(int n, int splits, int page)
{
	int words = 0;
	for (int split = 0; split < splits; split++)
		for (int key = split * n / splits; key < (split + 1) * n / splits; key++)
			words += key == split * n / splits || key % page == 0;
	return LAYERS * KV_HEADS * words;
}

Test(speech, what_attention_asks_for, .timeout = 60)
{
	enum { SPLITS = 5, PAGE = 3, TOKENS = 4 };
	cJSON *json = say(TINY_FILE, "Hi", text("--tokens %d --splits %d --page %d", TOKENS, SPLITS, PAGE), 60);
	int prompt = (int)json_number_of(json, "prompt_tokens");
	double words[2] = {0.0, 0.0}, bytes[2] = {0.0, 0.0};
	for (int n = 1; n < prompt + TOKENS; n++) {
		words[n > prompt] += words_of(n, SPLITS, PAGE);
		bytes[n > prompt] += bytes_of(n, SPLITS);
	}
	static const char *const phases[] = {"prompt", "answer"};
	for (size_t i = 0; i < 2; i++) {
		const cJSON *asked = json_get(json_get(json, "asked"), phases[i]);
		cr_expect_eq(json_number_of(asked, "table_bytes"), 4.0 * words[i], "%s", phases[i]);
		cr_expect_eq(json_number_of(asked, "counted_bytes"), bytes[i] + 4.0 * words[i], "%s", phases[i]);
		cr_expect_eq(json_number_of(asked, "model_bytes"), bytes[i] + 4.0 * words[i], "%s", phases[i]);
	}
	cJSON_Delete(json);
}

Test(speech, a_screen)
{
	struct outcome o =
		run_program(LIST(DECODE, "--model", TINY_FILE, "--prompt", "Hi", "--tokens", "3"), NOTHING, 60);
	cr_expect_eq(o.status, 0, "%s", o.err);
	cr_expect(strstr(o.out, "\n> Hi\n") && strstr(o.out, "3 of 3 tokens"), "%s", o.out);
	cr_expect_str_empty(o.err, "%s", o.err);
	expect_screen(o.out);
	free_outcome(&o);
}

static void expect_refused(const char *const arguments[], const char *says)
{
	struct outcome o = run_program(arguments, NOTHING, 60);
	const char *newline = strchr(o.err, '\n');
	cr_expect_eq(o.status, 2, "'%s': exit %d, %s", says, o.status, o.err);
	cr_expect(strstr(o.err, says), "'%s' is not in: %s", says, o.err);
	cr_expect(newline && newline[1] == '\0', "not one line: %s", o.err);
	free_outcome(&o);
}

Test(speech, unusable_options)
{
	expect_refused(LIST(DECODE, "--tokens", "5"), "--tokens: needs --prompt");
	expect_refused(LIST(DECODE, "--prompt", "Hi", "--seq", "5"), "--seq: not with --prompt");
	expect_refused(LIST(DECODE, "--prompt", "Hi", "--heads", "3"), "--heads: not with --prompt");
	expect_refused(LIST(DECODE, "--prompt", "Hi", "--count-all"), "--count-all: does not apply");
	expect_refused(LIST(DECODE, "--prompt", "Hi", "--model", TEST_ROOT "/README.md"), "is no GGUF file");
	expect_refused(LIST(DECODE, "--prompt", "a\xff"), "no valid UTF-8");
}

/* Greedy; the answer ends by itself. */
Test(speech, the_real_model, .timeout = 300)
{
	const char *model = getenv("DECODE_MODEL");
	if (!model && access(REAL_FILE, F_OK) != 0)
		skip_test("the real model is not there (make model)");
	cJSON *json = say(model ? model : REAL_FILE, "What is the capital of France?", "--tokens 10", 250);
	cr_expect_str_eq(json_string_of(json, "text"), "The capital of France is Paris.");
	cr_expect(cJSON_IsTrue(json_get(json, "ended")));
	cJSON_Delete(json);
}
