/*
 * The forward pass of a model with each of its fillings, without the chapter's command line.
 *
 *   fillings golden DIR                 the model and golden logits of DIR (tests/data/tiny_model/make.py): a line
 *                                       "FILLING WAY ERROR" for each filling and way to feed it, with the largest
 *                                       difference of a logit, and "wrong" behind it and exit 1 if that is too much
 *   fillings grouped                    a model that the tiny one is not: several heads on each of several heads of K;
 *                                       the fillings beside that in double
 *   fillings greedy MODEL PROMPT COUNT  the ids that the double pass answers, on one line
 */
#include "transformer.h"

#include "model/forward.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* fp32 is off by 2e-5 at most; golden logits are rounded to fp32, and are below 16. */
#define TOLERANCE        1e-4
#define TOLERANCE_DOUBLE 1e-6
enum { STEPS = 4, MOST_PROMPTS = 8, MOST_TOKENS = 256, LONG_PROMPT = 32 };

struct golden {
	int ids[MOST_TOKENS];
	size_t prompt; /* of the ids; those after it follow greedily */
	float *logits; /* [STEPS, vocabulary] */
};

/* How tokens are fed: the prompt at once and then one by one, in calls of a few rows, or all in one call. */
enum way { STEP_BY_STEP, FEW_ROWS, AT_ONCE, WAYS };
static const char *const way_names[WAYS] = {"step-by-step", "five-rows-at-once", "one-pass"};

static void stop(const char *what)
{
	fprintf(stderr, "fillings: %s\n", what);
	exit(2);
}

/* The larger of two errors, where NaN is the worst: fmax would drop it. */
static double worse_of(double a, double b)
{
	return isnan(a) || b <= a ? a : b;
}

static void must(int status, const struct error *error)
{
	if (status)
		stop(error->message);
}

/* ---- fillings ---- */

struct filling {
	const char *name;
	bool all_kernels, attention; /* the kernels' part; all_kernels: no long prompts, which take long */
	enum heads heads;
};
static const struct filling fillings[] = {
	{"reference", false, false, HEADS_STRIDED}, {"plain", false, false, HEADS_STRIDED},
	{"attention", false, true, HEADS_STRIDED},  {"attention-permuted", false, true, HEADS_PERMUTED},
	{"kernels", true, false, HEADS_STRIDED},    {"kernels-permuted", true, false, HEADS_PERMUTED},
};
enum { FILLINGS = sizeof fillings / sizeof fillings[0] };

static void begin(
	const struct filling *filling, const struct language_model *model, size_t capacity, size_t most_rows,
	struct operations *operations)
{
	struct error error;
	if (filling->all_kernels || filling->attention)
		must(device_operations(
			     model, filling->heads, filling->all_kernels, capacity, most_rows, operations, &error),
		     &error);
	else if (strcmp(filling->name, "plain") == 0)
		must(plain_operations(model, operations, &error), &error);
	else
		must(reference_operations(model, operations, &error), &error);
}

/* ---- golden logits ---- */

static size_t read_golden(const char *directory, size_t vocabulary, struct golden golden[MOST_PROMPTS])
{
	char path[4096], line[4096];
	snprintf(path, sizeof path, "%s/golden.tsv", directory);
	FILE *ids = fopen(path, "r");
	snprintf(path, sizeof path, "%s/golden.f32", directory);
	FILE *logits = fopen(path, "rb");
	size_t prompts = 0;
	if (!ids || !logits)
		stop("no golden.tsv, or no golden.f32");
	for (; prompts < MOST_PROMPTS && fgets(line, sizeof line, ids); prompts++) {
		struct golden *g = &golden[prompts];
		size_t count = 0;
		for (char *rest = line, *end; *rest && *rest != '\n'; rest = end) {
			if (*rest == '\t')
				g->prompt = count;
			if (count == MOST_TOKENS)
				stop("a prompt is too long");
			g->ids[count++] = (int)strtol(rest, &end, 10);
		}
		g->logits = malloc(STEPS * vocabulary * sizeof(float));
		if (count != g->prompt + STEPS - 1 || !g->logits ||
		    fread(g->logits, sizeof(float), STEPS * vocabulary, logits) != STEPS * vocabulary)
			stop("golden.tsv and golden.f32 do not belong together");
	}
	if (prompts < 2 || fgetc(logits) != EOF)
		stop("golden.f32 holds something else");
	fclose(ids);
	fclose(logits);
	return prompts;
}

static double compare(const double *got, const float *expected, size_t vocabulary)
{
	double worst = 0.0;
	for (size_t i = 0; i < vocabulary; i++)
		worst = worse_of(worst, fabs(got[i] - (double)expected[i]));
	return worst;
}

static double error_of(
	const struct filling *filling, const struct language_model *model, const struct golden *golden, enum way way)
{
	size_t vocabulary = (size_t)model->vocabulary, tokens = golden->prompt + STEPS - 1;
	size_t most_rows = way == FEW_ROWS ? 5 : tokens;
	struct operations operations;
	struct pass pass;
	struct error error;
	double *logits = malloc(vocabulary * sizeof *logits), worst = 0.0;
	begin(filling, model, tokens, most_rows, &operations);
	if (!logits)
		stop("out of memory");
	must(pass_begin(model, &operations, tokens, most_rows, &pass, &error), &error);
	size_t first = way == AT_ONCE ? STEPS - 1 : 0;
	for (size_t step = first; step < STEPS; step++) {
		size_t done = step == first ? 0 : golden->prompt + step - 1;
		must(pass_run(&pass, golden->ids + done, golden->prompt + step - done, logits, &error), &error);
		double difference = compare(logits, golden->logits + step * vocabulary, vocabulary);
		worst = worse_of(worst, difference);
	}
	operations_end(&operations);
	free(logits);
	return worst;
}

static bool judge(const struct filling *filling, enum way way, double worst)
{
	bool right = worst <= (filling == &fillings[0] ? TOLERANCE_DOUBLE : TOLERANCE);
	printf("%s %s %.3g%s\n", filling->name, way_names[way], worst, right ? "" : " wrong");
	return right;
}

static int check_golden(const struct language_model *model, const char *directory)
{
	struct golden golden[MOST_PROMPTS] = {0};
	size_t prompts = read_golden(directory, (size_t)model->vocabulary, golden);
	bool good = true;
	for (size_t f = 0; f < FILLINGS; f++)
		for (int way = 0; way < WAYS; way++) {
			double worst = 0.0;
			if (way != FEW_ROWS && (fillings[f].all_kernels || fillings[f].heads == HEADS_PERMUTED))
				continue; /* that way has the others in it: calls of several rows, and of one */
			for (size_t p = 0; p < prompts; p++) {
				if (fillings[f].all_kernels && golden[p].prompt > LONG_PROMPT)
					continue;
				double difference = error_of(&fillings[f], model, &golden[p], (enum way)way);
				worst = worse_of(worst, difference);
			}
			good = judge(&fillings[f], (enum way)way, worst) && good;
		}
	for (size_t p = 0; p < prompts; p++)
		free(golden[p].logits);
	return good ? 0 : 1;
}

/* ---- groups ---- */

enum { G_HEADS = 6, G_KV = 2, G_DIM = 8, G_WIDTH = G_HEADS * G_DIM, G_HIDDEN = 40, G_VOCABULARY = 30, G_TOKENS = 12 };

static const float *draw(size_t count, float mean, float deviation)
{
	static unsigned long long state = 1;
	float *values = malloc(count * sizeof *values);
	if (!values)
		stop("out of memory");
	for (size_t i = 0; i < count; i++) {
		state = state * 6364136223846793005u + 1442695040888963407u;
		values[i] = mean + deviation * ((float)(state >> 40) / 0x1p23f - 1.0f);
	}
	return values;
}

static struct matrix draw_matrix(size_t rows, size_t columns)
{
	return (struct matrix){ENCODING_F32, rows, columns, draw(rows * columns, 0.0f, 0.4f)};
}

/* fp32 weights in memory, which nobody frees: enough for the fillings that do not want the file. */
static int check_groups(void)
{
	static struct layer_weights layers[2];
	for (int l = 0; l < 2; l++)
		layers[l] = (struct layer_weights){
			.attention_norm = draw(G_WIDTH, 1.0f, 0.3f),
			.feed_forward_norm = draw(G_WIDTH, 1.0f, 0.3f),
			.q = draw_matrix(G_WIDTH, G_WIDTH),
			.k = draw_matrix(G_KV * G_DIM, G_WIDTH),
			.v = draw_matrix(G_KV * G_DIM, G_WIDTH),
			.o = draw_matrix(G_WIDTH, G_WIDTH),
			.gate = draw_matrix(G_HIDDEN, G_WIDTH),
			.up = draw_matrix(G_HIDDEN, G_WIDTH),
			.down = draw_matrix(G_WIDTH, G_HIDDEN),
		};
	struct matrix embedding = draw_matrix(G_VOCABULARY, G_WIDTH);
	const struct language_model model = {
		.layers = 2,
		.width = G_WIDTH,
		.heads = G_HEADS,
		.kv_heads = G_KV,
		.head_dim = G_DIM,
		.hidden = G_HIDDEN,
		.context = 64,
		.vocabulary = G_VOCABULARY,
		.epsilon = 1e-5f,
		.rope_base = 10000.0f,
		.embedding = embedding,
		.output = embedding,
		.output_norm = draw(G_WIDTH, 1.0f, 0.3f),
		.layer = layers,
	};
	struct golden golden = {.prompt = G_TOKENS, .logits = NULL};
	struct operations operations;
	struct pass pass;
	struct error error;
	double logits[G_VOCABULARY];
	float rounded[STEPS * G_VOCABULARY];
	bool good = true;
	for (int i = 0; i < G_TOKENS + STEPS - 1; i++)
		golden.ids[i] = (7 * i + i / 3) % G_VOCABULARY;
	must(reference_operations(&model, &operations, &error), &error);
	must(pass_begin(&model, &operations, G_TOKENS + STEPS, 4, &pass, &error), &error);
	for (size_t step = 0; step < STEPS; step++) {
		size_t done = pass.tokens;
		must(pass_run(&pass, golden.ids + done, step ? 1 : G_TOKENS, logits, &error), &error);
		for (size_t i = 0; i < G_VOCABULARY; i++)
			rounded[step * G_VOCABULARY + i] = (float)logits[i];
	}
	operations_end(&operations);
	golden.logits = rounded;
	for (size_t f = 0; f < FILLINGS; f++)
		for (int way = 0; way < WAYS && !fillings[f].all_kernels; way++)
			good = judge(&fillings[f], (enum way)way,
			             error_of(&fillings[f], &model, &golden, (enum way)way)) &&
			       good;
	return good ? 0 : 1;
}

/* ---- the double pass's answer ---- */

static int answer(const struct language_model *model, const char *prompt, size_t most)
{
	struct tokens tokens = {0};
	struct operations operations;
	struct pass pass;
	struct error error;
	must(chat_prompt(&model->tokenizer, NULL, prompt, &tokens, &error), &error);
	must(reference_operations(model, &operations, &error), &error);
	must(pass_begin(model, &operations, tokens.count + most, tokens.count, &pass, &error), &error);
	double *logits = malloc((size_t)model->vocabulary * sizeof *logits);
	if (!logits)
		stop("out of memory");
	must(pass_run(&pass, tokens.ids, tokens.count, logits, &error), &error);
	for (size_t i = 0; i < most; i++) {
		int best = 0;
		for (int id = 1; id < model->vocabulary; id++)
			best = logits[id] > logits[best] ? id : best;
		if (language_model_ends(model, best))
			break;
		printf("%s%d", i ? " " : "", best);
		if (i + 1 < most)
			must(pass_run(&pass, &best, 1, logits, &error), &error);
	}
	printf("\n");
	free(logits);
	operations_end(&operations);
	tokens_free(&tokens);
	return 0;
}

int main(int argc, char **argv)
{
	const char *what = argc > 1 ? argv[1] : "";
	bool golden = argc == 3 && strcmp(what, "golden") == 0;
	if (argc == 2 && strcmp(what, "grouped") == 0)
		return check_groups();
	if (!golden && (argc != 5 || strcmp(what, "greedy") != 0))
		stop("expected golden DIR, grouped, or greedy MODEL PROMPT COUNT");
	char path[4096];
	struct language_model model;
	struct error error;
	snprintf(path, sizeof path, golden ? "%s/tiny.bin" : "%s", argv[2]);
	must(language_model_open(path, &model, &error), &error);
	int status = golden ? check_golden(&model, argv[2]) : answer(&model, argv[3], strtoul(argv[4], NULL, 10));
	language_model_close(&model);
	return status;
}
