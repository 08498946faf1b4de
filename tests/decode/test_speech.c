/*
 * Chapter 08 with --prompt: every kernel and cache gives the tokens that a pass without a cache gives, on the tiny model; what
 * attention asks for is equal to closed forms worked out here from the model's shape. The last test wants the real model:
 * DECODE_MODEL names its file, or `make model` brought it; without it that is skipped, and says so.
 */
#include "json.h"
#include "program.h"
#include "speech.h"

#include <criterion/criterion.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define DECODE TEST_BUILD "/chapters/decode"

/* tests/data/tiny_model/make.py's. */
enum { LAYERS = 2, HEADS = 3, KV_HEADS = 1, DIM = 32 };

/* As speech_of; a pass without a cache says the same. */
static cJSON *say(const char *prompt, const char *line)
{
	cJSON *json = speech_of(DECODE, TINY_FILE, prompt, line, 60);
	cr_expect_eq(
		json_number_of(json, "same_ids"), json_number_of(json, "logit_rows"),
		"'%s' %s: a pass without a cache says something else", prompt, line);
	return json;
}

/* Golden ids of tests/data/tiny_model, which chapter 07 has to give, too. */
Test(speech, every_kernel_says_the_same, .timeout = 120)
{
	static const char *const ways[] = {
		"--kernel decode_naive",
		"--kernel decode_grouped",
		"--kernel decode_split --splits 1",
		"--kernel decode_split --splits 88",
		"--kernel decode_paged --page 1",
		"--kernel decode_paged --page 7 --splits 3 --seed 5",
		"--page 4096",
	};
	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++) {
		cJSON *json = say("How do plants make food?", text("--tokens 3 %s", ways[i]));
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
	cJSON *json = say("Hi", text("--tokens %d --splits %d --page %d", TOKENS, SPLITS, PAGE));
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

/* It ends with 2, nothing on standard output and one line that has `says` in it. */
static void expect_refused(const char *says, const char *model, const char *line)
{
	struct outcome o = run_line(DECODE, text("--model %s --prompt Hi %s", model, line), NOTHING, 60);
	const char *newline = strchr(o.err, '\n');
	cr_expect_eq(o.status, 2, "%s: exit %d: %s", line, o.status, o.err);
	cr_expect(strncmp(o.err, "decode: ", 8) == 0 && strstr(o.err, says), "%s: %s", line, o.err);
	cr_expect(newline && newline[1] == '\0', "%s: %s", line, o.err);
	cr_expect_str_empty(o.out, "%s: %s", line, o.out);
	free_outcome(&o);
}

/* More splits than tokens would have nothing to read. */
Test(speech, splits_of_a_conversation)
{
	cJSON *json =
		say("Hi", "--tokens 2 --splits 71"); /* 70 tokens in the prompt, and one of the answer that is run */
	cr_expect_eq(json_number_of(json, "splits"), 71);
	cJSON_Delete(json);
	expect_refused("--splits: expected at most 71 with this --prompt", TINY_FILE, "--tokens 2 --splits 72");
}

/* Days on any machine: it is said within seconds, and nothing is run. */
Test(speech, hours_are_refused_without_yes, .timeout = 60)
{
	const char *model = tiny_model_with_context(1000000);
	expect_refused("--prompt, 70 + 399999 tokens: would take about ", model, "--tokens 400000");
	cJSON_Delete(speech_of(DECODE, model, "Hi", "--tokens 2", 30));
}

/* Greedy; the answer ends by itself. */
Test(speech, the_real_model, .timeout = 300)
{
	cJSON *json =
		speech_of(DECODE, real_model("DECODE_MODEL"), "What is the capital of France?", "--tokens 10", 250);
	cr_expect_eq(json_number_of(json, "same_ids"), json_number_of(json, "logit_rows"));
	cr_expect_str_eq(json_string_of(json, "text"), "The capital of France is Paris.");
	cr_expect(cJSON_IsTrue(json_get(json, "ended")));
	cJSON_Delete(json);
}
