/* common/model/sampler.h: what is picked, how often, and what is never picked. */
#include "model/forward.h"
#include "model/sampler.h"

#include <criterion/criterion.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { DRAWS = 20000 };

static struct sampler *sampler_of(double temperature, double top_p, uint64_t seed, size_t vocabulary)
{
	struct sampler *sampler;
	struct error error;
	cr_assert_eq(sampler_make(temperature, top_p, seed, vocabulary, &sampler, &error), 0, "%s", error.message);
	return sampler;
}

static int pick(struct sampler *sampler, const float *logits)
{
	struct error error;
	int id = -1;
	cr_assert_eq(sampler_pick(sampler, logits, &id, &error), 0, "%s", error.message);
	return id;
}

/* How often each of `count` tokens is picked in DRAWS picks. */
static void count_picks(
	double temperature, double top_p, uint64_t seed, const float *logits, size_t count, size_t *picked)
{
	struct sampler *sampler = sampler_of(temperature, top_p, seed, count);
	memset(picked, 0, count * sizeof *picked);
	for (int i = 0; i < DRAWS; i++)
		picked[pick(sampler, logits)]++;
	sampler_free(sampler);
}

/* Pearson's statistic against the probabilities [count]; of one that is 0 none may be picked. */
static double chi_square(const size_t *picked, const double *probability, size_t count)
{
	double sum = 0;
	for (size_t i = 0; i < count; i++) {
		double expected = probability[i] * DRAWS, off = (double)picked[i] - expected;
		if (probability[i] == 0)
			cr_expect_eq(picked[i], 0, "token %zu has no probability and was picked", i);
		else
			sum += off * off / expected;
	}
	return sum;
}

/* softmax(z / t) cut to the `kept` tokens, by the definition. */
static void probabilities(
	const float *logits, double temperature, const int *kept, size_t kept_count, double *p, size_t n)
{
	double sum = 0;
	for (size_t i = 0; i < n; i++)
		p[i] = 0;
	for (size_t i = 0; i < kept_count; i++)
		sum += p[kept[i]] = exp((double)logits[kept[i]] / temperature);
	for (size_t i = 0; i < n; i++)
		p[i] /= sum;
}

static const float seven[7] = {0.5f, 2.0f, -1.0f, 1.0f, 2.5f, -INFINITY, 0.0f};
static const int six[6] = {0, 1, 2, 3, 4, 6};

Test(sampler, greedy_takes_the_largest_and_the_first_of_equals)
{
	static const struct {
		float logits[5];
		size_t count;
		int id;
	} cases[] = {{{-3.0f, 7.0f, 7.0f, 6.9999f, 7.0f}, 5, 1}, {{1, 1, 1}, 3, 0}, {{-INFINITY, -1e38f}, 2, 1}};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct sampler *sampler = sampler_of(0, i == 1 ? 0.1 : 1, 1, cases[i].count);
		for (int again = 0; again < 3; again++)
			cr_expect_eq(pick(sampler, cases[i].logits), cases[i].id, "%zu", i);
		sampler_free(sampler);
	}
}

/* 99.9 % of a chi-square distribution with 5 degrees of freedom lie below 20.52. */
Test(sampler, picks_are_distributed_as_softmax)
{
	static const double temperatures[] = {0.5, 1, 2};
	for (size_t i = 0; i < 3; i++) {
		size_t picked[7];
		double p[7];
		probabilities(seven, temperatures[i], six, 6, p, 7);
		count_picks(temperatures[i], 1, 11 + i, seven, 7, picked);
		double found = chi_square(picked, p, 7);
		cr_expect_lt(found, 20.52, "temperature %g: %g", temperatures[i], found);
		/* The test can fail: at another temperature the same counts are far off. */
		probabilities(seven, temperatures[i] * 1.25, six, 6, p, 7);
		cr_expect_gt(chi_square(picked, p, 7), 20.52, "temperature %g", temperatures[i]);
	}
}

Test(sampler, top_p_keeps_the_fewest_that_reach_it)
{
	/* Probabilities 1/2, 1/4, 1/8, 1/8, exactly in double: ln 2 apart, then equal. */
	float logits[4] = {0, 0, 0, 0};
	static const int order[4] = {2, 0, 1, 3};
	static const struct {
		double top_p;
		size_t kept;
	} cases[] = {{1e-9, 1}, {0.49, 1}, {0.51, 2}, {0.74, 2}, {0.76, 3}, {0.874, 3}, {0.876, 4}, {1, 4}};
	logits[2] = (float)log(4);
	logits[0] = (float)log(2);
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		size_t picked[4];
		double p[4];
		probabilities(logits, 1, order, cases[i].kept, p, 4);
		count_picks(1, cases[i].top_p, 5, logits, 4, picked);
		double found = chi_square(picked, p, 4);
		cr_expect_lt(found, 16.27, "top_p %g: %g", cases[i].top_p, found);
		for (size_t j = 0; j < cases[i].kept; j++)
			cr_expect_gt(picked[order[j]], 0, "top_p %g never picks %d", cases[i].top_p, order[j]);
	}
}

/* Four equal tokens of 1/4: the sum of two is 1/2 without rounding, so 1/2 keeps two, and these are the lower ids. */
Test(sampler, top_p_cut_is_exact_and_ties_go_to_the_lower_id)
{
	static const float logits[4] = {3, 3, 3, 3};
	size_t picked[4];
	count_picks(1, 0.5, 3, logits, 4, picked);
	cr_expect(picked[0] > 9000 && picked[1] > 9000 && picked[2] == 0 && picked[3] == 0);
	count_picks(1, nextafter(0.5, 1), 3, logits, 4, picked);
	cr_expect(picked[0] > 6000 && picked[1] > 6000 && picked[2] > 6000 && picked[3] == 0);
	count_picks(1, nextafter(0.25, 0), 3, logits, 4, picked);
	cr_expect_eq(picked[0], DRAWS);
}

Test(sampler, extremes)
{
	static const float far[3] = {3e38f, -3e38f, 0}, subnormal[2] = {1e-40f, -1e-40f};
	size_t picked[3];
	count_picks(1e-300, 1, 1, far, 3, picked);
	cr_expect_eq(picked[0], DRAWS);
	count_picks(1e300, 1, 1, far, 3, picked);
	cr_expect(picked[0] > 6000 && picked[1] > 6000 && picked[2] > 6000);
	count_picks(1, 1, 1, subnormal, 2, picked);
	cr_expect(picked[0] > 9000 && picked[1] > 9000);
	count_picks(0.7, 0.9, 1, (const float[]){-5}, 1, picked);
	cr_expect_eq(picked[0], DRAWS);
}

Test(sampler, what_is_no_logit_is_an_error)
{
	static const struct {
		float logits[3];
		const char *said;
	} cases[] = {
		{{1, NAN, 2}, "logit 1 is NaN, expected a number"},
		{{NAN, NAN, NAN}, "logit 0 is NaN, expected a number"},
		{{1, 2, -NAN}, "logit 2 is NaN, expected a number"},
		{{INFINITY, 0, 0}, "logit 0 is inf, expected a number"},
		{{-INFINITY, -INFINITY, -INFINITY}, "all 3 logits are -inf, expected a number"},
	};
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (int temperature = 0; temperature < 2; temperature++) {
			struct sampler *sampler = sampler_of(temperature, 0.9, 1, 3);
			struct error error;
			int id;
			cr_expect_eq(sampler_pick(sampler, cases[i].logits, &id, &error), EXIT_VERIFICATION);
			cr_expect_str_eq(error.message, cases[i].said);
			sampler_free(sampler);
		}
}

Test(sampler, wrong_settings)
{
	static const double wrong[][2] = {{-1, 1}, {NAN, 1}, {INFINITY, 1}, {1, 0}, {1, -0.5}, {1, 1.01}, {1, NAN}};
	for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
		struct sampler *sampler;
		struct error error;
		cr_expect_eq(sampler_make(wrong[i][0], wrong[i][1], 1, 3, &sampler, &error), EXIT_USAGE, "%zu", i);
		cr_expect_null(sampler);
		cr_expect(strstr(error.message, i < 3 ? "--temperature" : "--top-p"), "%s", error.message);
	}
}

/* A number that is none is the worst error, wherever it stands. */
Test(sampler, an_error_of_logits_that_is_no_number_stays)
{
	float logits[3] = {1.0f, 2.0f, 3.0f};
	for (size_t i = 0; i < 3; i++) {
		double expected[3] = {1.0, 2.5, 3.0};
		cr_expect_eq(logits_error(logits, expected, 3, 0.0), 0.5);
		expected[i] = NAN;
		cr_expect(isnan(logits_error(logits, expected, 3, 0.0)), "element %zu", i);
	}
}
