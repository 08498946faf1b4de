/*
 * Prints what small problems of attention expect: each output's values, tolerances and bounds of rows, six digits of
 * each. test_expectations.py compares them with expectations.txt. Ends with status 1 where a reference leaves memory
 * behind.
 */
#include "in_use.h"
#include "verify/attention.h"
#include "verify/grouped_attention.h"

#include <stdio.h>
#include <stdlib.h>

enum { MOST = 512 };

static float values[5][MOST]; /* Q K V dO sink */
static const struct named_values inputs[] = {{"Q", values[0]},  {"K", values[1]},    {"V", values[2]},
                                             {"dO", values[3]}, {"sink", values[4]}, {NULL, NULL}};

/* Eighths from -11/8 to 11/8, no two rows alike; times `scale`. */
static void fill(float scale)
{
	for (size_t t = 0; t < 5; t++)
		for (size_t i = 0; i < MOST; i++)
			values[t][i] = scale * (float)((int)((37 * i + 5 * t + i * i / 3) % 23) - 11) / 8.0f;
}

/* A line for each row: its values, each with its tolerance, and the bound of the row as a whole. */
static void print_expectations(struct expectations *expectations)
{
	for (size_t i = 0; i < expectations->count; i++) {
		const struct expectation *e = &expectations->items[i];
		printf("%s %s: %zu rows of %zu\n", e->tensor, e->shape ? e->shape : "", e->row_count, e->row_length);
		for (size_t t = 0; t < e->row_count * e->row_length; t++) {
			printf("  %.6g", e->values[t]);
			if (e->tolerances)
				printf(" +- %.6g", e->tolerances[t]);
			if ((t + 1) % e->row_length)
				continue;
			if (e->row_bounds)
				printf("  row %.6g", e->row_bounds[t / e->row_length]);
			printf("\n");
		}
	}
}

static void show(const char *name, struct problem problem, float scale)
{
	struct error error = {0};
	size_t in_use[IN_USE_TIMES];
	fill(scale);
	problem_fill_defaults(&problem);
	printf("# %s\n", name);
	for (int i = 0; i < IN_USE_TIMES; i++) {
		struct expectations expectations;
		if (attention_gradients_expect(&problem, inputs, &expectations, &error) != 0 ||
		    attention_last_expect(&problem, inputs, &expectations, &error) != 0)
			exit(1);
		if (i == 0)
			print_expectations(&expectations);
		expectations_free(&expectations);
		in_use[i] = bytes_in_use();
	}
	if (grows(in_use))
		exit(1);
}

static void show_grouped(const char *name, struct problem problem)
{
	struct expectations expectations = {0};
	fill(1);
	problem_fill_defaults(&problem);
	printf("# %s\n", name);
	if (!grouped_attention_expect(&problem, inputs, NULL, problem.seq * problem.heads, &expectations))
		exit(1);
	print_expectations(&expectations);
	expectations_free(&expectations);
}

int main(void)
{
	show("plain", (struct problem){.batch = 1, .heads = 2, .seq = 3, .dim = 3}, 1);
	show("causal, one column", (struct problem){.batch = 2, .heads = 1, .seq = 3, .dim = 1, .causal = true}, 1);
	show("weights that vanish", (struct problem){.batch = 1, .heads = 1, .seq = 3, .dim = 2}, 24);
	show("every modifier",
	     (struct problem){
		     .batch = 1,
		     .heads = 4,
		     .kv_heads = 2,
		     .seq = 4,
		     .dim = 2,
		     .window = 2,
		     .softcap = 1.5f,
		     .sink = true,
		     .packing = {"1,3", 2, {1, 4}}},
	     1);
	show_grouped(
		"grouped, two queries of five tokens",
		(struct problem){
			.batch = 1, .heads = 4, .kv_heads = 2, .seq = 2, .keys = 5, .dim = 2, .causal = true});
	size_t count, *rows = sample_rows(5, 2, 200, &count);
	printf("# rows drawn from two groups of 200\n  ");
	for (size_t i = 0; rows && i < count; i++)
		printf("%zu%c", rows[i], i + 1 < count ? ' ' : '\n');
	free(rows);
}
