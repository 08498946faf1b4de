/*
 * Values, tolerances and bounds of rows, all of them, in a sum each, of small problems and of two whose rows are
 * sampled: those of the heads of queries, of the keys of the one head that the seed says, with the gradient of the sink
 * of its first head of queries; of packed sequences the first and the last of each. Kills: a tolerance that is too wide
 * or narrow for what verify/tolerance.h derives, which no run of a right kernel shows; a reference that leaves memory
 * behind. Where a sum has changed on purpose, what it is now stands in the message; say why.
 */
#include "in_use.h"
#include "problem/modifiers.h"
#include "verify/attention.h"
#include "verify/grouped_attention.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { MOST = 64 * 600 * 128 };

static float values[5][MOST]; /* Q K V dO sink */
static const struct named_values inputs[] = {{"Q", values[0]},  {"K", values[1]},    {"V", values[2]},
                                             {"dO", values[3]}, {"sink", values[4]}, {NULL, NULL}};

/* Eighths from -11/8 to 11/8, no two rows alike; times `scale`. */
static void fill(size_t elements, float scale)
{
	for (size_t t = 0; t < 5; t++)
		for (size_t i = 0; i < elements; i++)
			values[t][i] = scale * (float)((int)((37 * i + 5 * t + i * i / 3) % 23) - 11) / 8.0f;
}

/* 1 x the first + 2 x the second + ... + 11 x the eleventh + 1 x the twelfth + ...; 0 of nothing. */
static double sum(const double *of, size_t count, double (*function)(double))
{
	double total = 0.0;
	for (size_t i = 0; of && i < count; i++)
		total += (double)(i % 11 + 1) * function(of[i]);
	return total;
}

/* 0 of 0: one key with a value of 0 leaves nothing to round. */
static double logarithm(double x)
{
	return x > 0.0 ? log(x) : 0.0;
}

static double itself(double x)
{
	return x;
}

static double bias(const struct problem *problem, size_t head, size_t i, size_t j)
{
	(void)problem;
	return 0.01 * (double)(head + 1) * fabs((double)i - (double)j);
}

static double factor(const struct problem *problem, size_t head, size_t i, size_t j)
{
	(void)problem;
	return (head + 2 * i + j) % 3 ? 1.5 : 0.0;
}

static const struct score_rules rules = {.bias = bias, .factor = factor};

static const struct {
	const char *name;
	struct problem problem;
	float scale;
	bool grouped; /* else with gradients, and the last rows alone */
} problems[] = {
	{"plain", {.batch = 1, .heads = 2, .seq = 3, .dim = 3}, 1, false},
	{"causal, one column", {.batch = 2, .heads = 1, .seq = 3, .dim = 1, .causal = true}, 1, false},
	{"weights that vanish", {.batch = 1, .heads = 1, .seq = 3, .dim = 2}, 24, false},
	{"every modifier",
         {.batch = 1,
          .heads = 4,
          .kv_heads = 2,
          .seq = 4,
          .dim = 2,
          .window = 2,
          .softcap = 1.5f,
          .sink = true,
          .packing = {"1,3", 2, {1, 4}}},
         1,
         false},
	{"a bias, dropout, and sinks that outweigh the scores",
         {.batch = 1,
          .heads = 4,
          .seq = 12,
          .dim = 2,
          .scale = 0.01f,
          .scale_given = true,
          .sink = true,
          .rules = &rules},
         2,
         false},
	{"groups, sampled",
         {.batch = 2, .heads = 32, .kv_heads = 16, .seq = 370, .dim = 128, .window = 2, .sink = true, .seed = 21},
         1,
         false},
	{"packed sequences, sampled",
         {.batch = 1,
          .heads = 64,
          .kv_heads = 32,
          .seq = 600,
          .dim = 128,
          .window = 2,
          .sink = true,
          .seed = 32,
          .packing = {"300,1,299", 3, {300, 301, 600}}},
         1,
         false},
	{"grouped, two queries of five tokens",
         {.batch = 1, .heads = 4, .kv_heads = 2, .seq = 2, .keys = 5, .dim = 2, .causal = true},
         1,
         true},
};

enum { PROBLEMS = sizeof problems / sizeof problems[0] };

/* Of their outputs, in order: sums of the values, and of the logarithms of tolerances and of bounds. */
static const struct {
	const char *tensor;
	size_t rows, places; /* how many; the sum of which, where not all are */
	double values, tolerances, bounds;
} sums[] = {
	/* plain */
	{"O", 6, 0, 33.5378983, -1253.327197, -275.3188643},
	{"LSE", 6, 0, 24.83641378, -278.3342351, 0},
	{"dQ", 6, 0, 0.2295300392, -1210.213659, -274.1074447},
	{"dK", 6, 0, 2.455576178, -1239.936191, -293.992988},
	{"dV", 6, 0, -50.86405321, -1260.45899, -275.6078799},
	{"O", 2, 0, 13.65113171, -279.2916715, -39.04734239},
	/* causal, one column */
	{"O", 6, 0, -8.053380848, -291.4009466, -300.1693498},
	{"LSE", 6, 0, 12.01826012, -278.6403152, 0},
	{"dQ", 6, 0, 1.588521208, -287.0171446, -301.1204054},
	{"dK", 6, 0, 0.03638511767, -301.6960985, -318.5576331},
	{"dV", 6, 0, -5.24712668, -290.8913024, -296.3301579},
	{"O", 2, 0, -0.2495200633, -41.60122884, -43.98295325},
	/* weights that vanish */
	{"O", 3, 0, -183, -101.2275635, -25.68177004},
	{"LSE", 3, 0, 2647.407743, -46.02875952, 0},
	{"dQ", 3, 0, 0, 31.1565009, 10.53474584},
	{"dK", 3, 0, 0, -526.6827967, -148.0693087},
	{"dV", 3, 0, -210, -651.9960136, -179.9746825},
	{"O", 1, 0, 21, -14.87875614, -4.695627144},
	/* every modifier */
	{"O", 16, 0, 42.62204516, -2572.571911, -1105.574039},
	{"LSE", 16, 0, 100.2046652, -1048.380999, 0},
	{"dQ", 16, 0, -1.765541602, -2524.916849, -1102.417881},
	{"dK", 8, 0, 0.4068220183, -1051.15205, -492.7618364},
	{"dV", 8, 0, -51.04334724, -1059.189502, -457.0462984},
	{"dsink", 4, 0, 0.3870126594, -126.7415365, 0},
	{"O", 8, 0, -6.367131821, -1145.532693, -499.6190495},
	/* a bias, dropout, and sinks that outweigh the scores */
	{"O", 48, 0, -0.001666153088, -7168.741241, -3723.224817},
	{"LSE", 48, 0, 740.1964639, -3517.99068, 0},
	{"dQ", 48, 0, 0.05094358174, -8692.47258, -4487.120777},
	{"dK", 48, 0, -0.07494215808, -8793.258122, -4657.801467},
	{"dV", 48, 0, -102.1050358, -7195.475515, -3673.641358},
	{"dsink", 4, 0, 3.178362775, -112.5718128, 0},
	{"O", 4, 0, 4.782533494, -456.358746, -135.982372},
	/* groups, sampled */
	{"O", 4096, 290860356, -294.0605881, -34298187.28, -242242.0999},
	{"LSE", 4096, 290860356, 39524.17642, -252447.5275, 0},
	{"dQ", 4096, 290860356, 1097.667657, -27181557.07, -239774.8985},
	{"dK", 64, 2984818, 86.68577245, -380392.8741, -3371.623611},
	{"dV", 64, 2984818, -11051.33703, -498902.7106, -3499.649344},
	{"dsink", 1, 10, 643.7074045, -1.642980099, 0},
	{"O", 64, 0, 111.9976545, -544832.9807, -3701.014269},
	/* packed sequences, sampled */
	{"O", 4264, 491577663, 723.8474295, -36284286.78, -253754.3959},
	{"LSE", 4264, 491577663, 42252.82622, -266411.4686, 0},
	{"dQ", 4264, 491577663, 2344.913393, -28976863.91, -250195.5225},
	{"dK", 66, 124846, 739.9621268, -426231.2709, -3769.560853},
	{"dV", 66, 124846, -6831.063148, -538684.325, -3620.819342},
	{"dsink", 1, 0, -1125.863632, -1.445639862, 0},
	{"O", 192, 0, -39.87872492, -1692999.504, -11526.29388},
	/* grouped, two queries of five tokens */
	{"O", 8, 0, 21.38118092, -1072.898968, -499.0070351},
};

/* With its inputs. */
static struct problem prepare(size_t index)
{
	struct problem problem = problems[index].problem;
	problem_fill_defaults(&problem);
	fill(problem.batch * problem.heads * problem.keys * problem.dim, problems[index].scale);
	return problem;
}

static struct expectations expect(const struct problem *problem, bool grouped)
{
	struct error error = {0};
	struct expectations expectations = {0};
	if (grouped)
		cr_assert(grouped_attention_expect(
			problem, inputs, NULL, problem->seq * problem->heads, &expectations));
	else
		cr_assert(
			attention_gradients_expect(problem, inputs, &expectations, &error) == 0 &&
			attention_last_expect(problem, inputs, &expectations, &error) == 0);
	return expectations;
}

#define EXPECT_SUM(of, count, function, expected)                                                                    \
	cr_expect_float_eq(                                                                                          \
		sum(of, count, function), expected, 1e-8 * fabs(expected) + 1e-9, "%s, %s: " #of " are %.10g",       \
		problems[p].name, e->tensor, sum(of, count, function))

Test(expectations, every_number_of_small_problems)
{
	size_t at = 0;
	for (size_t p = 0; p < PROBLEMS; p++) {
		struct problem problem = prepare(p);
		struct expectations expectations = expect(&problem, problems[p].grouped);
		for (size_t i = 0; i < expectations.count; i++, at++) {
			const struct expectation *e = &expectations.items[i];
			size_t count = e->row_count * e->row_length, places = 0;
			cr_assert(at < sizeof sums / sizeof sums[0] && strcmp(e->tensor, sums[at].tensor) == 0);
			cr_expect_eq(
				e->row_count, sums[at].rows, "%s, %s: %zu rows", problems[p].name, e->tensor,
				e->row_count);
			for (size_t r = 0; e->rows && r < e->row_count; r++)
				places += (r % 11 + 1) * e->rows[r];
			cr_expect_eq(places, sums[at].places, "%s, %s: %zu", problems[p].name, e->tensor, places);
			EXPECT_SUM(e->values, count, itself, sums[at].values);
			EXPECT_SUM(e->tolerances, count, logarithm, sums[at].tolerances);
			EXPECT_SUM(e->row_bounds, e->row_count, logarithm, sums[at].bounds);
		}
		expectations_free(&expectations);
	}
	cr_expect_eq(at, sizeof sums / sizeof sums[0]);
}

Test(expectations, leave_no_memory_behind)
{
	for (size_t p = 0; p < PROBLEMS; p++) {
		struct problem problem = prepare(p);
		size_t in_use[IN_USE_TIMES];
		for (int i = 0; i < IN_USE_TIMES; i++) {
			struct expectations expectations = expect(&problem, problems[p].grouped);
			expectations_free(&expectations);
			in_use[i] = bytes_in_use();
		}
		cr_expect_not(grows(in_use), "%s", problems[p].name);
	}
}

/* Of two groups of 200. Kills: another stream, or a row that is drawn from beside its part of the group. */
Test(expectations, rows_are_drawn)
{
	size_t count, *rows = sample_rows(5, 2, 200, &count), total = 0;
	cr_assert(rows && count == 128);
	for (size_t i = 0; i < count; i++)
		total += (i % 11 + 1) * rows[i];
	cr_expect_eq(total, 151364, "%zu", total);
	free(rows);
}
